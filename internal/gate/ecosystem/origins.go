package ecosystem

import (
	"strings"
)

// origins is what a file says of where packages come from, by their names.
type origins struct {
	own string // the package that the file is of; empty: of none
	// of has the packages that are needed: empty for one that a registry has by that name,
	// else a place in the tree, an address, or another package.
	of map[string]string
	// replaced is the same for what others ask for.
	replaced map[string]string
}

// originsIn is what reads the origins of packages, by the base names of files.
func originsIn(files map[string]func([]byte) origins) func(name string) func([]byte) origins {
	return func(name string) func([]byte) origins { return files[name] }
}

// add notes where a package comes from. One of which a tree has several versions comes from
// elsewhere where one of them does.
func (o origins) add(pkg, from string) {
	if o.of[pkg] == "" {
		o.of[pkg] = from
	}
}

// tomlLockOrigins reads a lockfile that is a list of packages with their sources: Cargo.lock,
// poetry.lock, uv.lock.
func tomlLockOrigins(src []byte) origins {
	doc, _ := parseTOML(src)
	out := origins{of: map[string]string{}}
	for _, p := range doc.tables("package") {
		from := p.text("source")
		if from == "" && p["checksum"] == nil && p["files"] == nil && p.table("source") == nil && p["version"] != nil && p["sdist"] == nil && p["wheels"] == nil {
			from = "the tree"
		}
		if strings.HasPrefix(from, "registry+") || strings.HasPrefix(from, "sparse+") {
			from = ""
		}
		switch s := p.table("source"); {
		case s.text("type") != "": // of poetry
			from = s.text("url")
		case s != nil && s["registry"] == nil:
			from = strings.Join(s.keys(), " ")
		}
		out.add(p.text("name"), from)
	}
	return out
}
