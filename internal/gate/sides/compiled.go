package sides

import (
	"cmp"
	"context"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/sorted"
)

// compiled finds by what the change has tests of C and C++ that it does not touch compiled otherwise:
// flags that alter what their lines mean, macros that they ask for, an older standard.
func (r *Reader) compiled(ctx context.Context) ([]classes.Mark, error) {
	var out []classes.Mark
	defined := map[string]*definition{}
	for _, f := range r.Change.Files {
		if f.Status == change.Deleted || f.Binary || !native.SaysFlags(f.Path) && !native.IsProductSource(f.Path) {
			continue
		}
		head, err := r.Mirror.ReadFile(ctx, r.Head.Commit, f.Path)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // a submodule, or a link
		}
		v := classes.Versions{Base: r.readBase(cmp.Or(f.OldPath, f.Path)), Head: head}
		added, err := r.addedText(ctx, f)
		if err != nil {
			return nil, err
		}
		if !native.SaysFlags(f.Path) {
			note(defined, f.Path, native.MacrosIn(v.Base), native.MacrosIn(v.Head), added, true)
			continue
		}
		own := native.OfTargets(f.Path, v.Head, v.Base)
		for n := range own {
			delete(added, n)
		}
		for _, n := range sorted.Keys(added, func(a, b int) int { return a - b }) {
			if what := native.Alters(f.Path, added[n]); what != "" {
				out = append(out, mark(f.Path, n, what, added[n]))
			}
		}
		base := withoutLines(v.Base, native.OfTargets(f.Path, v.Base, v.Base))
		head = withoutLines(v.Head, own)
		note(defined, f.Path, native.Definitions(f.Path, base), native.Definitions(f.Path, head), added, false)
		if native.Lowered(native.Standards(string(base)), native.Standards(string(head)), r.testsOfC(native.AsksStandard.MatchString)) {
			n, text := firstWith(added, func(line string) bool { return len(native.Standards(line)) > 0 })
			out = append(out, mark(f.Path, n, "has tests compiled by an older standard", text))
		}
	}
	return append(out, r.askedFor(defined)...), nil
}

// A definition is a macro, or an option of a build, with its values in the files of the change.
type definition struct {
	was, is string
	at      classes.Mark
	source  bool // a source defines it
}

func note(all map[string]*definition, file string, was, is map[string]string, added map[int]string, source bool) {
	for name := range was {
		if all[name] == nil {
			all[name] = &definition{source: true}
		}
		all[name].was += was[name]
		all[name].source = all[name].source && source
	}
	for name := range is {
		if all[name] == nil {
			all[name] = &definition{source: true}
		}
		all[name].is += is[name]
		all[name].source = all[name].source && source
	}
	for name, d := range all {
		if was[name] == is[name] || d.at.Path != "" {
			continue
		}
		n, text := firstWith(added, func(line string) bool { return native.NamesWord([]byte(line), name) })
		if text == "" {
			text = name
		}
		d.at = mark(file, n, "defines otherwise what tests ask for", text)
	}
}

// askedFor are the definitions that are not what they are on the base, and by which a test of it
// decides what it compiles. One of a source is that where the test has another one by default.
func (r *Reader) askedFor(defined map[string]*definition) []classes.Mark {
	var out []classes.Mark
	for _, name := range sorted.Keys(defined, strings.Compare) {
		d := defined[name]
		if d.was == d.is || native.OfTheSystem.MatchString(name) {
			continue
		}
		if r.testsOfC(func(text string) bool {
			return strings.Contains(text, name) && (native.Defaults(text)[name] || !d.source && native.AskedFor(text)[name])
		}) {
			out = append(out, d.at)
		}
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
