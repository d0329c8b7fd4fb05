package ecosystem

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Bounds for planted tests: packages or files with changed lines, and others.
const (
	MaxPlanted      = 20
	MaxPlantedOther = 5
)

// A Planting is what is known when a test that must fail is laid beside those of a
// command.
type Planting struct {
	Tree    string                 // folder of the head
	Passing []string               // all of their tests pass there: as in [results.ID].Package
	IsTest  func(file string) bool // whether a file has tests, by its name
	Near    func(file string) bool // whether the change touches a file or one beside it
	Name    string                 // what the test is called: lower-case letters that no one can foresee
}

// A Planted is a file to write into the head, with a test that must fail.
type Planted struct {
	Path    string // in the repository
	Package string // of its results, as in [results.ID].Package
	Text    string // the whole file
	Types   string // the file it was made from, where its tests are compiled and never run
	Ends    bool   // it is a program of tests that ends as a failure, and has no test of the name
}

// A Planter makes tests that must fail from test files of one style.
type Planter struct {
	// File finds the file with the tests that results name as pkg; nil: they name files.
	File func(p Planting, unit, pkg string) string
	// Plant has the file in which the test is; no text where the style is not known.
	Plant func(c Command, file, src, name string) Planted
	// Most is how many the command can run at once; 0: MaxPlanted and MaxPlantedOther.
	Most int
	// Run returns c for what was planted; nil: [Results].Narrow does.
	Run func(c Command, pkgs []string) Command
}

// PlantedBy lets a command have tests planted among its own.
func (r *Results) PlantedBy(l Planter) *Results {
	r.Plant = func(c Command, p Planting) (Command, []Planted) {
		out := l.files(c, p)
		if len(out) == 0 {
			return c, nil
		}
		var pkgs []string
		for _, f := range out {
			pkgs = append(pkgs, f.Package)
		}
		if l.Run != nil {
			return l.Run(c, pkgs), out
		}
		narrow, ok := c.Results.Narrow(c, Part{Packages: pkgs})
		if !ok {
			return c, nil
		}
		return narrow, out
	}
	return r
}

func (l Planter) files(c Command, p Planting) []Planted {
	var near, others []Planted
	for _, pkg := range p.Passing {
		file := pkg
		if l.File != nil {
			file = l.File(p, c.Unit, pkg)
		}
		if file == "" || path.IsAbs(file) || path.Ext(file) == "" {
			continue
		}
		touched := p.Near(file)
		if touched && len(near) == MaxPlanted || !touched && len(others) == MaxPlantedOther {
			continue
		}
		src, err := ReadInTree(p.Tree, file)
		if err != nil {
			continue
		}
		name := p.Name
		if n := len(near) + len(others); n > 0 { // what has the same name in one process would stand for it
			name += string(rune('a' + n))
		}
		f := l.Plant(c, file, string(src), name)
		switch {
		case f.Text == "":
		case touched:
			near = append(near, f)
		default:
			others = append(others, f)
		}
	}
	all := append(near, others...)
	return all[:min(len(all), cmp.Or(l.Most, len(all)))]
}

// Copied plants in a copy of a test file, behind what it has.
func Copied(test func(file, src, name string) string) Planter {
	return Planter{Plant: func(_ Command, file, src, name string) Planted {
		text := test(file, src, name)
		if text == "" {
			return Planted{}
		}
		at := CopyPath(file, name)
		return Planted{Path: at, Package: at, Text: src + text}
	}}
}

// CopyPath is where a copy of a test file is found by the same runner.
func CopyPath(file, name string) string {
	dir, base := path.Split(file)
	stem, ext, _ := strings.Cut(base, ".")
	words := slices.Contains([]string{".py", ".rb", ".exs"}, path.Ext(file))
	switch {
	case strings.HasPrefix(base, "test"):
		sep := "-"
		if words {
			sep = "_"
		}
		return dir + stem + sep + name + "." + ext
	case words:
		return dir + name + "_" + base
	}
	return dir + name + base
}

// Capital is a name as classes have it.
func Capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// ClassCopy plants in a copy of a file with one class of the name of the file: a method
// at its end, and the class called after both. It is no copy where there is no such class.
func ClassCopy(file, src, name, method string) (at, class, text string) {
	dir, base := path.Split(file)
	stem, ext, _ := strings.Cut(base, ".")
	end := strings.LastIndexByte(src, '}')
	if end < 0 || !strings.Contains(src, "class "+stem) || method == "" {
		return "", "", ""
	}
	class = Capital(name) + stem
	if rest, ok := strings.CutPrefix(stem, "Test"); ok {
		class = "Test" + Capital(name) + rest
	}
	return dir + class + "." + ext, class, regexp.MustCompile(`\b`+regexp.QuoteMeta(stem)+`\b`).ReplaceAllLiteralString(src[:end], class) + method + src[end:]
}

// Sources are the files below a folder of the planting's tree that are wanted, those that
// the change touches first. Hidden folders and those of packages and build output are left
// out.
func (p Planting) Sources(unit string, want func(file string) bool) []string {
	var near, others []string
	_ = fs.WalkDir(os.DirFS(p.Tree), unit, func(name string, d fs.DirEntry, err error) error { // what cannot be read is not found
		switch {
		case err != nil, d.IsDir() && name != unit && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"target", "build", "node_modules", "vendor"}, d.Name())):
			return fs.SkipDir
		case !d.Type().IsRegular() || !want(name):
		case p.Near(name):
			near = append(near, name)
		default:
			others = append(others, name)
		}
		return nil
	})
	return append(near, others...)
}

// SourceEnding finds the file below a folder whose path ends so; empty for none.
func (p Planting) SourceEnding(unit, end string) string {
	all := p.Sources(unit, func(file string) bool { return file == end || strings.HasSuffix(file, "/"+end) })
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
