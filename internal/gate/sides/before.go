package sides

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// Before are new files of the change that tests may get in place of a file which they ask for by
// a name alone, each with that one: modules, headers, scripts and data
// are searched for in folders, one after the other. Which comes first is not known here.
func (r *Reader) Before() []string {
	var out []string
	for _, f := range r.Change.Files {
		if f.Status != change.Added && f.Status != change.Renamed && f.Status != change.Copied || languages.IsTestFile(f.Path) {
			continue
		}
		for _, other := range r.Plans[results.Base].Files {
			if other != f.Path && r.onHead(other) && r.standsBefore(f.Path, other) {
				out = append(out, f.Path+" or "+other)
				break
			}
		}
	}
	return out
}

// standsBefore says whether a new file has the name by which tests of the base ask for another
// one, in a folder that they may look into first.
func (r *Reader) standsBefore(name, other string) bool {
	kind, stem, parent := soughtAs(name)
	otherKind, otherStem, otherParent := soughtAs(other)
	if kind == "" || kind != otherKind || stem != otherStem || stem == "" {
		return false
	}
	switch together := parent == otherParent; {
	case kind == "node" && !together, kind != "node" && !together && (!classes.InTestFolder(other) || classes.InTestFolder(name)):
		return false // they are asked for by paths, or neither is of the tests
	case kind == "python" && !together && r.onHead(path.Join(parent, "__init__.py")):
		return false // it is asked for by the name of its package
	case together && path.Ext(name) == path.Ext(other) && path.Dir(name) == path.Dir(other):
		return false // one file
	}
	asks := regexp.MustCompile(strings.ReplaceAll(askedFor[kind], "NAME", regexp.QuoteMeta(stem)))
	if kind == "program" {
		return slices.ContainsFunc(r.Plans[results.Base].Files, func(f string) bool {
			return f != other && classes.InTestFolder(f) && soughtKind(f) == "program" && asks.Match(r.readBase(f))
		})
	}
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		return f.test && f.name != other && asks.MatchString(r.textOf(f))
	})
}

// askedFor are how files of each kind are asked for by NAME.
var askedFor = map[string]string{
	"python":  `(?m)^\s*(?:from|import)\s+(?:[\w.]+\.)?NAME\b`,
	"ruby":    `\brequire\s*\(?\s*["']NAME["']`,
	"node":    "[\"'`][^\"'`\\n]*\\bNAME[\"'`]",
	"header":  `#\s*include\s*["<](?:[^">]*/)?NAME[">]`,
	"php":     `\bNAME\b`,
	"program": `\bNAME\b`,
}

// soughtAs is the kind of a file by how it is searched for, the name by which it is, and the
// folder in which that is looked up; empty: it is asked for by its path.
func soughtAs(name string) (kind, stem, parent string) {
	kind, parent = soughtKind(name), path.Dir(name)
	stem = strings.TrimSuffix(path.Base(name), path.Ext(name))
	switch {
	case kind == "header" || kind == "program":
		stem = path.Base(name)
	case kind == "python" && stem == "__init__", kind == "node" && stem == "index":
		stem, parent = path.Base(parent), path.Dir(parent)
	}
	if ecosystem.IgnoredDir(path.Dir(name)) || stem == "." {
		return "", "", ""
	}
	return kind, stem, parent
}

func soughtKind(name string) string {
	switch ext := path.Ext(name); {
	case ext == ".py":
		return "python"
	case ext == ".rb":
		return "ruby"
	case ext == ".php":
		return "php"
	case slices.Contains([]string{".js", ".cjs", ".mjs", ".json", ".ts", ".cts", ".mts", ".jsx", ".tsx", ".node"}, ext):
		return "node"
	case slices.Contains([]string{".h", ".hh", ".hpp", ".hxx", ".inc"}, ext):
		return "header"
	case ext == "" && !strings.HasPrefix(path.Base(name), ".") || classes.IsScript(name):
		return "program"
	}
	return ""
}
