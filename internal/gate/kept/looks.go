package kept

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// looks runs tests that hold by new files of tests alone, with which they have nothing to do, once
// more where these are there and empty: a test that looks at the tree of tests asks for no more, and
// what such a file does in its process it cannot do so. Where the product can look at them as well,
// what holds while they are there proves nothing.
func (k *keeper) looks(ctx context.Context) error {
	var tests []*examined
	for _, e := range k.doubtful() {
		if e.beside && e.reached && e.kept == compare.Failed && e.head == compare.Passed && slices.Contains(e.made, compare.Test) {
			tests = append(tests, e)
		}
	}
	added := func(t sides.Touch) bool {
		return t.Class == compare.Test && !t.Mixed && k.on.Sides.Texts[t.Path].Base == nil
	}
	if len(tests) == 0 || !slices.ContainsFunc(k.on.Sides.Touched, added) || slices.ContainsFunc(k.on.Sides.Touched, func(t sides.Touch) bool { return added(t) && k.productLooks(t.Path) }) {
		return nil
	}
	a, err := k.newArmOf(ctx, func(sides.Touch) bool { return true }, func(t sides.Touch) workspace.Put {
		src := k.on.Sides.Texts[t.Path].Head
		if !added(t) || src == nil || t.Put.From != "" && t.Put.At != "" {
			return t.Put
		}
		empty := []byte("\n")
		if path.Ext(t.Path) == ".go" {
			empty = append(bytes.Join(packageClause.FindAll(src, 1), nil), '\n')
		}
		return workspace.Put{Path: t.Path, Data: empty}
	})
	if err != nil {
		return err
	}
	return k.whichPass(ctx, a, tests, func(e *examined, t results.Test) {
		e.kept, e.output, e.evidence = compare.Passed, "", append(e.evidence, t.Evidence)
	})
}

// productLooks says whether what the change edits of the product names a file, or a folder that it is
// in, or has come to look at files.
func (k *keeper) productLooks(file string) bool {
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	for name, v := range k.on.Sides.Texts {
		if slices.ContainsFunc(k.on.Sides.Touched, func(t sides.Touch) bool { return t.Path == name && !t.Mixed }) {
			continue
		}
		if bytes.Contains(v.Head, []byte(stem)) || classes.Names(string(v.Head), path.Dir(name), file) {
			return true
		}
		for line := range bytes.Lines(v.Head) {
			if looksAtFiles.Match(line) && !bytes.Contains(v.Base, line) {
				return true
			}
		}
	}
	return false
}

// looksAtFiles is a call that says which files there are, in the languages whose tests stand in files of their own.
var looksAtFiles = pattern.New(`(?i)\b(?:exists|is_?file|is_?dir|l?stat|access|listdir|scandir|os\.walk|walkdir|filepath\.walk|r?glob|iterdir|read_?dir|opendir|find_?spec|entries|children)(?:sync)?\b`)

var packageClause = pattern.New(`(?m)^package \w+`)
