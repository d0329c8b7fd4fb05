package ecosystem

import "strings"

// Origins is what a file says of where packages come from, by their names.
type Origins struct {
	Own string // the package that the file is of; empty: of none
	// Of has the packages that are needed: empty for one that a registry has by that name,
	// else a place in the tree, an address, or another package.
	Of map[string]string
	// Replaced is the same for what others ask for.
	Replaced map[string]string
}

// OriginsIn is what reads the origins of packages, by the base names of files.
func OriginsIn(files map[string]func([]byte) Origins) func(name string) func([]byte) Origins {
	return func(name string) func([]byte) Origins { return files[name] }
}

// Add notes where a package comes from. One of which a tree has several versions comes from
// elsewhere where one of them does.
func (o Origins) Add(pkg, from string) {
	if o.Of[pkg] == "" {
		o.Of[pkg] = from
	}
}

// TOMLLockOrigins reads a lockfile that is a list of packages with their sources: Cargo.lock,
// poetry.lock, uv.lock.
func TOMLLockOrigins(src []byte) Origins {
	doc, _ := ParseTOML(src)
	out := Origins{Of: map[string]string{}}
	for _, p := range doc.Tables("package") {
		from := p.Text("source")
		if from == "" && p["checksum"] == nil && p["files"] == nil && p.Table("source") == nil && p["version"] != nil && p["sdist"] == nil && p["wheels"] == nil {
			from = "the tree"
		}
		if strings.HasPrefix(from, "registry+") || strings.HasPrefix(from, "sparse+") {
			from = ""
		}
		switch s := p.Table("source"); {
		case s.Text("type") != "": // of poetry
			from = s.Text("url")
		case s != nil && s["registry"] == nil:
			from = strings.Join(s.Keys(), " ")
		}
		out.Add(p.Text("name"), from)
	}
	return out
}

// TOMLLockVersions reads the versions in such a lockfile.
func TOMLLockVersions(src []byte) map[string][]string {
	doc, _ := ParseTOML(src)
	out := map[string][]string{}
	for _, p := range doc.Tables("package") {
		out[p.Text("name")] = append(out[p.Text("name")], p.Text("version"))
	}
	return out
}
