package sides

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/sorted"
)

// compiled finds by what the change has tests of C and C++ that it does not touch compiled otherwise:
// flags that alter what their lines mean, macros that they ask for, an older standard.
func (r *Reader) compiled(ctx context.Context) ([]classes.Mark, error) {
	var out []classes.Mark
	var standard classes.Mark // the first line that names one
	var was, is []byte        // what files say of how C is compiled, but for what binds the product alone
	defined := map[string]*definition{}
	for _, f := range r.Change.Files {
		says := native.SaysFlags(f.Path)
		if f.Binary || !says && (!native.IsProductSource(f.Path) || f.Added == 0) && !native.IsProductHeader(f.Path) {
			continue
		}
		v, added, err := r.bothOf(ctx, f)
		if err != nil {
			return nil, err
		}
		if !says {
			out = append(out, altering(f.Path, added, native.AltersInSource)...)
			if native.IsProductHeader(f.Path) {
				note(defined, f.Path, native.MacrosIn(v.Base), native.MacrosIn(v.Head), added, true)
			}
			continue
		}
		alone := !r.testsBelow(path.Dir(f.Path))
		own := native.OfTargets(f.Path, v.Head, v.Base, alone)
		for n := range own {
			delete(added, n)
		}
		out = append(out, altering(f.Path, added, native.Alters)...)
		base, head := withoutLines(v.Base, native.OfTargets(f.Path, v.Base, v.Base, alone)), withoutLines(v.Head, own)
		note(defined, f.Path, native.Definitions(f.Path, base), native.Definitions(f.Path, head), added, false)
		was, is = append(append(was, base...), '\n'), append(append(is, head...), '\n')
		if standard.Text == "" {
			n, text := firstWith(added, func(line string) bool { return len(native.Standards(line)) > 0 })
			standard = mark(f.Path, n, "has tests compiled by an older standard", text)
		}
	}
	if before, now := native.Standards(string(was)), native.Standards(string(is)); native.Lowered(before, now, false) ||
		native.Lowered(before, now, true) && r.testsOfC(native.AsksStandard.MatchString) {
		out = append(out, standard)
	}
	return append(out, r.askedFor(defined)...), nil
}

// altering are the marks of lines that alter what tests mean.
func altering(file string, lines map[int]string, alters func(name, line string) string) []classes.Mark {
	var out []classes.Mark
	for _, n := range sorted.Keys(lines, func(a, b int) int { return a - b }) {
		if what := alters(file, lines[n]); what != "" {
			out = append(out, mark(file, n, what, lines[n]))
		}
	}
	return out
}

// bothOf are the versions of a file of the change, and the lines that the head adds to it.
func (r *Reader) bothOf(ctx context.Context, f change.File) (classes.Versions, map[int]string, error) {
	v := classes.Versions{Base: r.readBase(cmp.Or(f.OldPath, f.Path))}
	if f.Status == change.Deleted {
		return v, nil, nil
	}
	head, err := r.Mirror.ReadFile(ctx, r.Head.Commit, f.Path)
	if err != nil {
		if ctx.Err() != nil {
			return v, nil, err
		}
		return v, nil, nil // a submodule, or a link
	}
	v.Head = head
	added, err := r.addedText(ctx, f)
	return v, added, err
}

// A definition is a macro, or an option of a build, with its values in the files of the change.
type definition struct {
	was, is string
	file    string         // in which they differ; empty: in none
	added   map[int]string // of it
	source  bool           // none but sources define it
}

// note adds what one file defines, or defined.
func note(all map[string]*definition, file string, was, is map[string]string, added map[int]string, source bool) {
	for _, names := range []map[string]string{was, is} {
		for name := range names {
			d := all[name]
			if d == nil {
				d = &definition{source: true}
				all[name] = d
			}
			d.source = d.source && source
			if was[name] != is[name] && d.file == "" {
				d.file, d.added = file, added
			}
		}
	}
	for name, value := range was {
		all[name].was += value
	}
	for name, value := range is {
		all[name].is += value
	}
}

// askedFor are the definitions that are not what they are on the base, and by which a test of it
// decides what it compiles. One of a source is that where the test has another one by default.
func (r *Reader) askedFor(defined map[string]*definition) []classes.Mark {
	differ := func(name string) bool {
		return defined[name].was != defined[name].is && !native.OfTheSystem.MatchString(name)
	}
	names := slices.DeleteFunc(sorted.Keys(defined, strings.Compare), func(name string) bool { return !differ(name) })
	if len(names) == 0 {
		return nil
	}
	asked, byDefault := map[string]bool{}, map[string]bool{}
	r.testsOfC(func(text string) bool {
		maps.Copy(asked, native.AskedFor(text))
		maps.Copy(byDefault, native.Defaults(text))
		return false
	})
	var out []classes.Mark
	for _, name := range names {
		d := defined[name]
		if !byDefault[name] && (d.source || !asked[name]) {
			continue
		}
		n, text := firstWith(d.added, func(line string) bool { return native.NamesWord([]byte(line), name) })
		out = append(out, mark(d.file, n, "defines otherwise what tests ask for", cmp.Or(text, name)))
	}
	return out
}

// testsOfC says whether a test of the base in C or C++, or what these share, is like that.
func (r *Reader) testsOfC(is func(text string) bool) bool {
	for _, f := range r.sourcesOfBase() {
		if native.IsSource(f.name) && (f.test || classes.InTestFolder(f.name) || languages.IsTestFile(f.name)) && is(r.textOf(f)) {
			return true
		}
	}
	return false
}

// testsBelow says whether the base has tests in C or C++ below a folder.
func (r *Reader) testsBelow(dir string) bool {
	return slices.ContainsFunc(r.sourcesOfBase(), func(f *baseSource) bool {
		return native.IsSource(f.name) && ecosystem.Inside(dir, f.name) && (f.test || classes.InTestFolder(f.name) || languages.IsTestFile(f.name))
	})
}

func mark(file string, line int, what, text string) classes.Mark {
	text = strings.TrimSpace(text)
	return classes.Mark{Path: path.Clean(file), Line: line, What: what, Text: text[:min(len(text), 200)]}
}

// firstWith is the first of some lines that is like that; the first of the file where none is.
func firstWith(lines map[int]string, is func(string) bool) (n int, text string) {
	for _, n := range sorted.Keys(lines, func(a, b int) int { return a - b }) {
		if is(lines[n]) {
			return n, lines[n]
		}
	}
	return 1, ""
}

// withoutLines is a text with nothing in some of its lines, which count from 1.
func withoutLines(src []byte, lines map[int]bool) []byte {
	all := strings.Split(string(src), "\n")
	for n := range lines {
		if n <= len(all) {
			all[n-1] = ""
		}
	}
	return []byte(strings.Join(all, "\n"))
}

// CompiledByRule says whether a rule of a Makefile around a source makes a program of it without an
// object on the way, which a command that tests may run.
func (r *Reader) CompiledByRule(name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		for _, file := range []string{"GNUmakefile", "makefile", "Makefile"} {
			if src, err := ecosystem.ReadInTree(r.Head.Dir, path.Join(dir, file)); err == nil && native.CompilesWhole(string(src), path.Base(name)) {
				return true
			}
		}
		if dir == "." {
			return false
		}
	}
}
