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
	"github.com/ycbot/ycbot/internal/pattern"
)

// Before are new files of the change that tests may get in place of a file which they ask for by
// a name alone, each with that one: modules, headers, scripts and data are searched for in
// folders, one after the other. Which comes first is not known here.
func (r *Reader) Before() []string {
	var out []string
	var named map[sought][]string // the files of both sides, once a new file asks for them
	for _, f := range r.Change.Files {
		if f.Status != change.Added && f.Status != change.Renamed && f.Status != change.Copied || languages.IsTestFile(f.Path) {
			continue
		}
		is, ok := soughtAs(f.Path)
		if !ok {
			continue
		}
		if named == nil {
			named = map[sought][]string{}
			for _, other := range r.Plans[results.Base].Files {
				if as, ok := soughtAs(other); ok && r.onHead(other) {
					named[as.anywhere()] = append(named[as.anywhere()], other)
				}
			}
		}
		others := named[is.anywhere()]
		if i := slices.IndexFunc(others, func(other string) bool { return r.standsBefore(f.Path, other) }); i >= 0 {
			out = append(out, f.Path+" or "+others[i])
		}
	}
	return out
}

// standsBefore says whether a new file is in a folder that tests of the base may look into first
// where they ask for another one, of the same name.
func (r *Reader) standsBefore(name, other string) bool {
	is, _ := soughtAs(name)
	was, _ := soughtAs(other)
	together := is.parent == was.parent
	switch {
	case name == other, together && path.Ext(name) == path.Ext(other) && path.Dir(name) == path.Dir(other):
		return false // one file
	case !together && (is.kind == "node" || !classes.InTestFolder(other) || classes.InTestFolder(name)):
		return false // they are asked for by paths, or neither is of the tests
	case !together && is.kind == "python" && !r.onPythonPath(is.parent):
		return false
	}
	way := is.kind
	if is.kind == "python" && together {
		way = "python module"
	}
	asks := regexp.MustCompile(strings.ReplaceAll(askedFor[way], "NAME", regexp.QuoteMeta(is.name)))
	if is.kind == "program" {
		return slices.ContainsFunc(r.Plans[results.Base].Files, func(f string) bool {
			return f != other && classes.InTestFolder(f) && soughtKind(f) == "program" && asks.Match(r.readBase(f))
		})
	}
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		return f.test && f.name != other && asks.MatchString(r.textOf(f))
	})
}

// onPythonPath says whether modules of a folder can be asked for by their names alone: it is no
// package, and the top, a usual folder of sources, or one that settings or commands of tests name.
func (r *Reader) onPythonPath(dir string) bool {
	if r.onHead(path.Join(dir, "__init__.py")) {
		return false
	}
	if slices.Contains([]string{".", "src", "lib"}, dir) {
		return true
	}
	word := regexp.MustCompile(`(^|[^\w/])` + regexp.QuoteMeta(dir) + `($|[^\w/])`)
	in := r.said()
	return slices.ContainsFunc(in.settings, word.MatchString) || slices.ContainsFunc(in.steering, func(s steeringText) bool { return word.MatchString(s.text) })
}

// askedFor are how files of each kind are asked for by NAME.
var askedFor = map[string]string{
	"python":        `(?m)^\s*(?:from|import)\s+NAME\b`,
	"python module": `(?m)^\s*(?:from|import)\s+(?:[\w.]+\.)?NAME\b`,
	"ruby":          `\brequire\s*\(?\s*["']NAME["']`,
	"node":          "[\"'`][^\"'`\\n]*\\bNAME[\"'`]",
	"header":        `#\s*include\s*["<](?:[^">]*/)?NAME[">]`,
	"php":           `\bNAME\b`,
	"program":       `\bNAME\b`,
}

// sought is how a file is searched for: what kind it is, by which name, and in which folder.
type sought struct{ kind, name, parent string }

// anywhere is the same in no folder.
func (s sought) anywhere() sought { return sought{kind: s.kind, name: s.name} }

// soughtAs is how a file is searched for; false: it is asked for by its path.
func soughtAs(name string) (sought, bool) {
	s := sought{soughtKind(name), strings.TrimSuffix(path.Base(name), path.Ext(name)), path.Dir(name)}
	switch {
	case s.kind == "header" || s.kind == "program":
		s.name = path.Base(name)
	case s.kind == "python" && s.name == "__init__", s.kind == "node" && s.name == "index":
		s.name, s.parent = path.Base(s.parent), path.Dir(s.parent)
	}
	return s, s.kind != "" && s.name != "." && s.name != "" && !ecosystem.IgnoredDir(path.Dir(name))
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
	case ext == "" && program.MatchString(path.Base(name)) || classes.IsScript(name):
		return "program"
	}
	return ""
}

// program is the name of a program: a Makefile, a Dockerfile and a LICENSE are none.
var program = pattern.New(`^[a-z0-9][a-z0-9_-]*$`)
