package gate

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// candidates are the tests that the change brings or edits and that are not known to fail
// without it, though they ran there, or could not be loaded there for what other tests
// need.
func (r *runner) candidates() []checks.Candidate {
	switch r.res.FailToPass.State {
	case ReproProven, ReproPassOnBase, ReproNeedsAPI:
	default:
		return nil
	}
	var out []checks.Candidate
	for _, f := range r.in.Change.Files {
		if !languages.IsTestSource(f.Path) || f.Status == change.Deleted {
			continue
		}
		after, err := ecosystem.ReadInTree(r.in.Head.Dir, f.Path)
		if err != nil {
			continue
		}
		old := f.OldPath
		if old == "" {
			old = f.Path
		}
		before, err := ecosystem.ReadInTree(r.in.Base.Dir, old)
		if err != nil {
			before = nil
		}
		out = append(out, r.candidatesIn(f.Path, classes.TestBodies(f.Path, before), classes.TestBodies(f.Path, after))...)
	}
	sorted.By(out, func(a, b checks.Candidate) int { return strings.Compare(a.ID.String(), b.ID.String()) })
	return out
}

// candidatesIn are those of a file, by the bodies of its tests on both sides.
func (r *runner) candidatesIn(file string, before, after classes.Bodies) []checks.Candidate {
	var out []checks.Candidate
	for id, t := range r.sides.Suites[Head] {
		eco := languages.Named(t.Eco)
		if id.Test == "" || t.Status != Passed || eco == nil || runs.IsFlaky(r.res.Tests, id) {
			continue
		}
		if eco.Packages != nil && (strings.Contains(id.Test, "/") || r.sides.PackageDir(Head, id) != path.Dir(file)) || eco.Packages == nil && id.Package != file {
			continue
		}
		body := after.Of(id.Test)
		if body.Text == "" || before.Of(id.Test).Text == body.Text {
			continue
		}
		over, ran := r.over[id]
		if ran && over.Status != Passed || !ran && r.failsWithout(file, body) {
			continue
		}
		out = append(out, checks.Candidate{ID: id, Path: file, Line: body.Line, OnBase: ran})
	}
	return out
}

// complaint is a compiler's place, and notThere a name that a module or an interpreter
// misses.
var (
	complaint = pattern.New(`(?m)([^\s:/]+\.go):(\d+)`)
	notThere  = pattern.New(`cannot import name '(\w+)'|No module named '([\w.]+)'|does not provide an export named '(\w+)'|Cannot find module '([^']+)'`)
)

// failsWithout says whether a test that could not be loaded over the base's sources is the
// reason for it, or may be: then the base's sources do make it fail.
func (r *runner) failsWithout(file string, b classes.Body) bool {
	why := r.overLeft[file]
	for id, t := range r.over {
		if id.Package == file && id.Test == "" {
			why += "\n" + t.Output
		}
	}
	known := false
	for _, m := range complaint.FindAllStringSubmatch(why, -1) {
		line, err := strconv.Atoi(m[2])
		if m[1] != path.Base(file) || err != nil {
			continue
		}
		if known = true; b.Line <= line && line < b.Line+strings.Count(b.Text, "\n")+1 {
			return true
		}
	}
	for _, m := range notThere.FindAllStringSubmatch(why, -1) {
		name := results.FirstGroup(m)
		if known = true; name != "" && regexp.MustCompile(`\b`+regexp.QuoteMeta(path.Base(name))+`\b`).MatchString(b.Text) {
			return true
		}
	}
	return !known || strings.Contains(why, "too many errors")
}
