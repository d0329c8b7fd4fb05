package backtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/run"
)

// Why a change gives no case of an arm. The strings are stored: do not change them.
const (
	whyUnfit    = "not set up"
	whyNoTests  = "no test passes on the good head"
	whyLate     = "the suite takes longer than the time limit"
	whySame     = "no source to put back"
	whyUnseen   = "no test notices"
	whyUnstable = "deciding tests are not stable"
	whyHidden   = "the change adds no tests to hide"
	whyVisible  = "visible tests notice each fault"
	whyRed      = "no operator turns the tests green"
)

var caseExclusions = []string{whyUnfit, whyNoTests, whyLate, whySame, whyUnseen, whyUnstable, whyHidden, whyVisible, whyRed}

// whyUnread is the cause where nothing of a repository could be read.
const whyUnread = "repository cannot be read"

// maxTries is how many operators are tried on a change for one case.
const maxTries = 4

// An exclusion says why there is no case. It is no fault of the program.
type exclusion struct{ why string }

func (e *exclusion) Error() string { return e.why }

func exclude(why string, detail ...string) error {
	if len(detail) > 0 && detail[0] != "" {
		why += ": " + detail[0]
	}
	return &exclusion{why}
}

// A spec is a case that can be run: two commits, and what proves that the second is bad.
type spec struct {
	operator   string
	base, head string
	tests      []string // deciding
}

// A subject is one change that cases are made of.
type subject struct {
	engine  Engine
	forge   forge
	seed    uint64
	limit   time.Duration
	first   bool // judge by the first verdict
	cpu     func() time.Duration
	change  PlannedChange
	subject string // of its commit
	files   []file
	paths   []string

	good    *run.SuiteResult // of the change as it was merged
	goodCPU time.Duration
	unfit   error           // why there is no result of it
	putBack string          // commit with the sources of the parent and all else of the change
	decide  []run.SuiteTest // pass on the good head, fail on putBack
	failure error           // why there are none
	proven  bool            // decide and failure are known
}

func newSubject(ctx context.Context, b *Backtest, f forge, c PlannedChange, plan *Plan) (*subject, error) {
	s := &subject{engine: b.Engine, forge: f, seed: plan.Seed, limit: plan.timeout(), first: plan.First, cpu: b.cpu, change: c}
	var err error
	if s.files, _, err = difference(ctx, f.Scratch, b.Engine.Class, c.Parent, c.Commit); err != nil {
		return nil, err
	}
	for _, f := range s.files {
		s.paths = append(s.paths, f.path)
	}
	s.subject, err = f.subject(ctx, c.Commit)
	return s, err
}

// suite runs the tests of a commit that the change can affect.
func (s *subject) suite(ctx context.Context, commit string, only []run.SuiteTest, rest bool) (*run.SuiteResult, error) {
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	res, err := s.engine.Suite(limited, run.SuiteJob{Dir: s.forge.Dir, Commit: commit, Paths: s.paths, Only: only, Rest: rest})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return nil, exclude(whyLate)
	case err != nil:
		return nil, err
	case res.Refused != "":
		return nil, exclude(whyUnfit, res.Refused)
	case res.Late && !slices.ContainsFunc(res.Tests, func(t run.SuiteTest) bool { return t.Passed }):
		return nil, exclude(whyUnfit, "setup or build ended by its time limit")
	case res.Late:
		return nil, exclude(whyLate)
	}
	return res, nil
}

// measure runs the plain suite on the good head: all of it where it fits into the time
// limit, else what the change can affect.
func (s *subject) measure(ctx context.Context) error {
	if s.good != nil || s.unfit != nil {
		return s.unfit
	}
	s.unfit = s.measured(ctx)
	return s.unfit
}

func (s *subject) measured(ctx context.Context) error {
	before := s.cpu()
	res, err := s.suite(ctx, s.change.Commit, nil, true)
	if e := (*exclusion)(nil); errors.As(err, &e) && e.why == whyLate {
		before = s.cpu()
		res, err = s.suite(ctx, s.change.Commit, nil, false)
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(res.Tests, func(t run.SuiteTest) bool { return t.Passed }) {
		first := ""
		for _, t := range res.Tests {
			if t.Failed && first == "" {
				first, _, _ = strings.Cut(strings.TrimSpace(t.Output), "\n")
			}
		}
		return exclude(whyNoTests, first)
	}
	s.good, s.goodCPU = res, s.cpu()-before
	return nil
}

// spec makes the case of an arm and proves it.
func (s *subject) spec(ctx context.Context, arm Arm) (spec, error) {
	if err := s.measure(ctx); err != nil {
		return spec{}, err
	}
	switch arm {
	case Good, Honest:
		return spec{operator: "as merged", base: s.change.Parent, head: s.change.Commit}, nil
	case Undone:
		if err := s.undo(ctx); err != nil {
			return spec{}, err
		}
		return spec{operator: "sources-back", base: s.change.Commit, head: s.putBack, tests: names(s.decide)}, nil
	case Unseen:
		return s.unseen(ctx)
	case Tampered:
		return s.tampered(ctx)
	}
	return spec{}, fmt.Errorf("no arm %q", arm)
}

// back is the sources as the parent has them.
func (s *subject) back() map[string]blob {
	put := map[string]blob{}
	for _, f := range s.files {
		if f.source() {
			put[f.path] = f.before
		}
	}
	return put
}

// undo puts the sources back and finds the tests that notice.
func (s *subject) undo(ctx context.Context) error {
	if s.proven {
		return s.failure
	}
	var err error
	if s.putBack, err = s.forge.commit(ctx, s.change.Commit, s.change.Commit, s.back(), s.subject); err != nil {
		return err
	}
	same, err := s.forge.sameTree(ctx, s.putBack, s.change.Commit)
	switch {
	case err != nil:
		return err
	case same:
		s.failure = exclude(whySame)
	default:
		s.decide, s.failure = s.notices(ctx, s.putBack)
	}
	if e := (*exclusion)(nil); s.failure != nil && !errors.As(s.failure, &e) {
		return s.failure
	}
	s.proven = true
	return s.failure
}

// notices are the tests that pass on the good head and fail on a bad one, each time of two.
func (s *subject) notices(ctx context.Context, bad string) ([]run.SuiteTest, error) {
	res, err := s.suite(ctx, bad, nil, false)
	if err != nil {
		return nil, err
	}
	found := worse(s.good, res)
	if len(found) == 0 {
		return nil, exclude(whyUnseen)
	}
	if !slices.ContainsFunc(found, func(t run.SuiteTest) bool { return !t.Broken }) {
		return found, nil // what does not compile needs no second try
	}
	found = found[:min(len(found), 20)]
	again := map[string]*run.SuiteResult{}
	for _, commit := range []string{s.change.Commit, bad} {
		if again[commit], err = s.suite(ctx, commit, found, false); err != nil {
			return nil, err
		}
	}
	sure := worse(again[s.change.Commit], again[bad])
	found = slices.DeleteFunc(found, func(t run.SuiteTest) bool {
		return !slices.ContainsFunc(sure, func(u run.SuiteTest) bool { return u.Name() == t.Name() })
	})
	if len(found) == 0 {
		return nil, exclude(whyUnstable)
	}
	return found, nil
}

// worse are the tests that pass in one result and fail in another: single tests where
// there are any, else packages that no longer compile or end early.
func worse(good, bad *run.SuiteResult) []run.SuiteTest {
	passed, failed, packages := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, t := range good.Tests {
		passed[t.Name()] = passed[t.Name()] || t.Passed
		failed[t.Name()] = failed[t.Name()] || t.Failed
		if t.Passed {
			packages[t.Unit+" "+t.Package] = true
		}
	}
	var single, whole []run.SuiteTest
	for _, t := range bad.Tests {
		switch {
		case !t.Failed:
		case t.Test != "" && passed[t.Name()]:
			single = append(single, t)
		case t.Test == "" && t.Command == "" && !failed[t.Name()] && packages[t.Unit+" "+t.Package],
			t.Command != "" && !failed[t.Name()]:
			whole = append(whole, t)
		}
	}
	if len(single) == 0 {
		return whole
	}
	leaves := slices.DeleteFunc(slices.Clone(single), func(t run.SuiteTest) bool { return t.Group })
	if len(leaves) > 0 {
		return leaves
	}
	return single
}

// green says whether the tests of a commit show no more than those of the good head do.
func (s *subject) green(ctx context.Context, commit string, besides *run.SuiteResult) (bool, error) {
	res, err := s.suite(ctx, commit, nil, false)
	if err != nil {
		return false, err
	}
	old := map[string]bool{}
	for _, r := range []*run.SuiteResult{s.good, besides} {
		if r == nil {
			continue
		}
		for _, t := range r.Tests {
			old[t.Name()] = old[t.Name()] || t.Failed
		}
	}
	ran := false
	for _, t := range res.Tests {
		if t.Failed && !old[t.Name()] {
			return false, nil
		}
		ran = ran || t.Passed
	}
	return ran, nil
}

// filesOf are the test files in which a deciding test stands.
func (s *subject) filesOf(ctx context.Context, all map[string]blob, t run.SuiteTest) []string {
	if b, ok := all[path.Join(t.Unit, t.Package)]; ok && b.oid != "" && t.Package != "" {
		return []string{path.Join(t.Unit, t.Package)}
	}
	if _, ok := all[t.Package]; ok {
		return []string{t.Package}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if s.engine.Class(name) != "test" || !s.holds(ctx, all, name, t) {
			continue
		}
		out = append(out, name)
	}
	return out
}

// holds says whether a test stands in a file, by its text. Of a package that does not
// compile it is each test file that the change touches.
func (s *subject) holds(ctx context.Context, all map[string]blob, name string, t run.SuiteTest) bool {
	touched := slices.Contains(s.paths, name)
	if t.Test == "" {
		return touched && (t.Package == "" || languageOf(name) != "go" || inPackage(name, t.Package))
	}
	if languageOf(name) == "go" && !inPackage(name, t.Package) {
		return false
	}
	text, err := s.forge.read(ctx, all[name])
	if err != nil {
		return false
	}
	if languageOf(name) == "go" {
		_, _, fn := goTest(text, innermost(name, t))
		return fn != nil
	}
	return touched && strings.Contains(string(text), innermost(name, t))
}

// inPackage says whether the folder of a Go file can be that of an import path.
func inPackage(name, importPath string) bool {
	dir := path.Dir(name)
	return dir == "." || importPath == dir || strings.HasSuffix(importPath, "/"+dir) || strings.HasSuffix(importPath, "/"+path.Base(dir))
}

func names(tests []run.SuiteTest) []string {
	var out []string
	for _, t := range tests {
		out = append(out, t.Name())
	}
	return out
}
