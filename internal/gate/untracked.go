package gate

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// madeForTests names what setup and build make for the tests on both sides, and not alike: it is no
// file of a commit, so that the base's is not put back. What is made on the way to the tests, it names
// where the change edits what makes it.
func (r *runner) madeForTests(context.Context) error {
	for _, m := range r.sides.EditedMakers() {
		what := "what tests compare with may be made otherwise with the change: " + m.Path + " by " + m.By
		r.notCovered("%s", what)
		r.facts.Asks = append(r.facts.Asks, what)
	}
	if r.prep.Unprepared() != "" || r.executor.Prepared(Base) == nil || r.executor.Prepared(Head) == nil {
		return nil
	}
	committed := slices.Concat(r.sides.Plans[Base].Files, r.sides.Plans[Head].Files)
	ofBase := map[string][]byte{}
	untracked(r.executor.Prepared(Base).Tree.Dir, committed, func(name string, src []byte) { ofBase[name] = src })
	if len(ofBase) == 0 {
		return nil
	}
	var unlike []string
	placeless := func(src []byte) string { // without where the commands ran
		return strings.NewReplacer(r.sides.Base.Dir, "", r.sides.Head.Dir, "").Replace(string(src))
	}
	untracked(r.executor.Prepared(Head).Tree.Dir, committed, func(name string, src []byte) {
		if was := ofBase[name]; was != nil && src != nil && placeless(was) != placeless(src) && r.forTests(name, src) {
			unlike = append(unlike, name)
		}
	})
	if len(unlike) > 0 {
		what := "what tests compare with is made by setup or build, and otherwise with the change: " + results.Listed(unlike, 3)
		r.notCovered("%s", what)
		r.facts.Asks = append(r.facts.Asks, what)
	}
	return nil
}

// forTests says whether an untracked file is there for the tests.
func (r *runner) forTests(name string, src []byte) bool {
	switch class, _ := classes.ClassOf(name, src, classes.Referred{}); class {
	case compare.Test, compare.Support, compare.Data:
		return true
	}
	return !languages.IsSource(name) && r.sides.OnlyTestsName(name)
}

// untracked shows the files below root that are not committed, in folders of what is. Of a link, a
// pipe, what is larger than settings are, and what comes after very many files, src is nil.
func untracked(root string, committed []string, show func(name string, src []byte)) {
	tracked, dirs := map[string]bool{}, map[string]bool{".": true, ".cargo": true, ".mvn": true, ".config": true}
	for _, f := range committed {
		tracked[f] = true
		for dir := path.Dir(f); !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	read := 0
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		if err != nil || relErr != nil {
			return nil //nolint:nilerr // what cannot be read, no command obeys
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			// What a build makes in a folder of its own has settings of its own.
			known := dirs[rel] || classes.ReplacesRunner(rel+"/__init__.py") || ecosystem.InFolder(rel+"/x", classes.DataFolders...)
			if rel == ".git" || !known || ecosystem.InFolder(rel+"/x", "node_modules", "vendor", ".venv") {
				return fs.SkipDir
			}
			return nil
		}
		if tracked[rel] || slices.ContainsFunc([]string{".in", ".am"}, func(end string) bool { return tracked[rel+end] }) {
			return nil
		}
		var src []byte
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() < maxSettings && read < maxLeft {
			read++
			if src, err = ecosystem.ReadInTree(root, rel); err != nil {
				return nil //nolint:nilerr // as above
			}
		}
		show(rel, src)
		return nil
	})
}
