package kept

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// looks runs tests that hold by new files of tests alone, with which they have nothing to do, once
// more where these are there and empty, with the new data of tests: a test that looks at the tree of
// tests asks for no more, and what such a file does in its process it cannot do so. Where the product
// may look at them as well, such a test is given up, and where it names one nothing is believed.
func (k *keeper) looks(ctx context.Context) error {
	var tests []*examined
	for _, e := range k.doubtful() {
		if e.beside && e.reached && e.kept == compare.Failed && e.head == compare.Passed && slices.Contains(e.made, compare.Test) {
			tests = append(tests, e)
		}
	}
	added := func(t sides.Touch, class compare.FileClass) bool {
		v := k.on.Sides.Texts[t.Path]
		return t.Class == class && !t.Mixed && v.Base == nil && v.Head != nil && (t.Put.From == "" || t.Put.At == "")
	}
	withData := slices.ContainsFunc(tests, func(e *examined) bool { return slices.Contains(e.made, compare.Data) })
	data := func(t sides.Touch) bool { return withData && added(t, compare.Data) }
	some, may := false, false
	for _, t := range k.on.Sides.Touched {
		if len(tests) == 0 || !added(t, compare.Test) && !data(t) {
			continue
		}
		names, looks := k.productSees(t.Path)
		if names {
			return nil
		}
		some, may = some || t.Class == compare.Test, may || looks
	}
	if !some {
		return nil
	}
	a, err := k.newArmOf(ctx, func(t sides.Touch) bool { return !data(t) }, func(t sides.Touch) workspace.Put {
		if !added(t, compare.Test) {
			return t.Put
		}
		empty := []byte("\n")
		if path.Ext(t.Path) == ".go" {
			empty = append(bytes.Join(packageClause.FindAll(k.on.Sides.Texts[t.Path].Head, 1), nil), '\n')
		}
		return workspace.Put{Path: t.Path, Data: empty}
	})
	if err != nil {
		return err
	}
	return k.whichPass(ctx, a, tests, func(e *examined, t results.Test) {
		e.evidence = append(e.evidence, t.Evidence)
		if e.seen = may; may {
			e.beside = false
		} else {
			e.kept, e.output = compare.Passed, ""
		}
	})
}

// productSees says whether lines that the change adds to the product name a new file of tests by a name
// that no source has, or may look at it: they name the folder of tests that it is in, or look at files.
func (k *keeper) productSees(file string) (names, looks bool) {
	called := path.Base(file)
	stem := strings.TrimSuffix(called, path.Ext(called))
	if languages.IsSource(file) && !slices.Contains([]string{"test", "tests", "spec", "index"}, stem) && !slices.ContainsFunc(k.on.Sides.Plans[results.Head].Files, func(f string) bool {
		return languages.IsSource(f) && !languages.IsTestSource(f) && strings.TrimSuffix(path.Base(f), path.Ext(f)) == stem
	}) {
		called = stem
	}
	folder := path.Dir(file)
	for classes.InTestFolder(folder) {
		folder = path.Dir(folder)
	}
	for name, v := range k.on.Sides.Texts {
		if ecosystem.IsDoc(name) || slices.ContainsFunc(k.on.Sides.Touched, func(t sides.Touch) bool { return t.Path == name && !t.Mixed }) {
			continue
		}
		source := languages.IsSource(name)
		for line := range strings.Lines(string(v.Head)) {
			if bytes.Contains(v.Base, []byte(line)) {
				continue
			}
			if results.Mentions(line, called) && (strings.ContainsAny(line, "\"'`") || imports.MatchString(line)) {
				return true, true
			}
			looks = looks || source && (looksAtFiles.MatchString(line) || classes.InTestFolder(file) && classes.Names(line, path.Dir(name), folder))
		}
	}
	return false, looks
}

// looksAtFiles is what says which files there are, in the languages whose tests stand in files of their own.
var looksAtFiles = pattern.New(`(?i)(?:\b|_)exists?(?:sync)?\b|\b(?:is_?file|is_?dir|listdir|scandir|os\.walk|walkdir|filepath\.walk|r?glob|iterdir|read_?dir|opendir|find_?spec)(?:sync)?\b` +
	`|\bdir\.(?:entries|children)\b|\b(?:l?stat|access)(?:sync)?\s*\(|\b(?:import|require|from)\b.*\b(?:l?stat|access|open)(?:sync)?\b|\bopen\s*\(|\bsys\.modules\b|__import__|\bimport_?(?:module|lib)\b|\b(?:require|import)\s*\(\s*[^"'\x60\s]`)

var imports = pattern.New(`\b(?:import|from|require)\b`)

var packageClause = pattern.New(`(?m)^package \w+`)
