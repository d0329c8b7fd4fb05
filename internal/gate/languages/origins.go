package languages

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// originsOf returns what reads the origins of packages from a file of this name; nil: none.
func originsOf(name string) func(src []byte) ecosystem.Origins {
	for _, e := range All() {
		if e.Classes.Origins == nil {
			continue
		}
		if read := e.Classes.Origins(path.Base(name)); read != nil {
			return read
		}
	}
	return nil
}

// SaysOrigins says whether a file says where packages come from.
func SaysOrigins(name string) bool { return originsOf(name) != nil }

// MovedIn are the packages that the base's version of a file takes from a registry, and the
// head's from the tree, from an address or from another package, and those that only the head
// has so in place of what others ask for.
func MovedIn(name string, base, head []byte) []string {
	read := originsOf(name)
	if read == nil {
		return nil
	}
	was, is := read(base), read(head)
	var out []string
	for pkg, from := range is.Of {
		if old, there := was.Of[pkg]; there && old == "" && from != "" {
			out = append(out, pkg)
		}
	}
	for pkg, from := range is.Replaced {
		if from != "" && was.Replaced[pkg] != from {
			out = append(out, pkg)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Own is the package that a file is of; empty: it is of none.
func Own(name string, src []byte) string {
	if read := originsOf(name); read != nil {
		return read(src).Own
	}
	return ""
}

// FromRegistry says whether a file has a package by this name come from a registry.
func FromRegistry(pkg, name string, src []byte) bool {
	read := originsOf(name)
	if read == nil || pkg == "" {
		return false
	}
	from, there := read(src).Of[pkg]
	return there && from == ""
}

// LinesNaming are the lines of a manifest or lockfile that have the name of a package.
func LinesNaming(src []byte, pkg string) []string {
	name := regexp.MustCompile(`(?i)(?:^|[^\w.-])` + regexp.QuoteMeta(pkg) + `(?:$|\W)`)
	var out []string
	for line := range strings.Lines(string(src)) {
		if name.MatchString(line) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}
