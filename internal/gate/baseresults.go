package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/sorted"
)

// baseForm is part of every key: it changes when what is saved does.
const baseForm = "6"

// networkOfResults is the network in the key: tests have none after either setup, and
// what failed with a setup that was kept short is run again at the base.
func (r *runner) networkOfResults() Network {
	if r.Network == NetworkRegistries {
		return NetworkSetup
	}
	return cmp.Or(r.Network, NetworkSetup)
}

// baseKey names the results of the base's tests by all that they depend on: its
// tree, which has the lockfiles too, the programs of this machine, the commands,
// their environment, how they are contained, and the program that read them.
func (r *runner) baseKey() string {
	if r.key == "" {
		r.key = r.newBaseKey()
	}
	return r.key
}

func (r *runner) newBaseKey() string {
	h := sha256.New()
	line := func(parts ...string) { fmt.Fprintf(h, "%q\n", parts) }
	line(baseForm, r.Version, r.in.Base.OID, string(r.Sandbox.Status().Tier), string(r.networkOfResults()))
	line(r.in.Base.Notes...) // such as submodules that could not be fetched
	line(r.in.Env...)
	line(languages.Fingerprint(r.Tools)...)
	for _, list := range [][]ecosystem.Command{r.sides.Plans[Base].Setup, r.sides.Plans[Base].Build, r.sides.Plans[Base].Test} {
		for _, c := range list {
			line(c.Unit, c.Text)
			line(c.Argv...)
			line(c.Env...)
		}
	}
	for _, s := range r.Services {
		line(fmt.Sprint(s))
	}
	for _, s := range r.executor.Beside.Services {
		line(fmt.Sprint(s))
	}
	line(r.executor.Beside.Env...)
	return hex.EncodeToString(h.Sum(nil))
}

// recall looks up what is known of the base's tests from earlier runs, and takes
// of it what this run is about.
func (r *runner) recall(ctx context.Context) {
	if r.Results == nil || len(r.sides.Plans[Base].Test) == 0 || r.prep.Unprepared() != "" {
		return
	}
	key := r.baseKey()
	data, err := r.Results.Load(ctx, key)
	if err != nil {
		r.note("results of the base's tests could not be looked up: %v", err)
	}
	var rec known.Record
	if len(data) == 0 || json.Unmarshal(data, &rec) != nil || len(rec.Cases) == 0 {
		return
	}
	r.known = &rec
	for _, c := range rec.Cases {
		if r.concerned(c.ID) {
			c.Test.Evidence = ""
			r.tests.Phantoms.Note(c.ID, c.Test)
			r.sides.Suites[Base][c.ID] = c.Test
		}
	}
	tests := 0
	for _, n := range r.sides.Suites[Base].Count() {
		tests += n
	}
	if tests > 0 {
		r.res.Cached = &known.Cached{When: rec.When, Saved: rec.Took, Key: key, Tests: tests}
	}
}

// concerned says whether a test of the base is one that this run compares at first.
func (r *runner) concerned(id ID) bool {
	s, ok := r.splits[id.Unit]
	return !ok || id.Package == "" || slices.Contains(s.first, id.Package) || slices.Contains(s.gone, id.Package)
}

// keep takes down what is known of the base's tests for later runs, where that has
// become more. It is saved when it has proved to be right, see saveBase.
func (r *runner) keep() {
	r.saving = nil
	steps := r.executor.Steps.Of(StageTest, Base)
	if r.Results == nil || r.executor.BaseTouched() != "" || r.prep.Unprepared() != "" || r.facts.Incomplete != "" || len(r.sides.Suites[Base]) == 0 || len(steps) == 0 {
		return
	}
	for _, c := range r.sides.Plans[Base].Setup {
		if r.prep.SetupFailed(Base, c) {
			return
		}
	}
	rec := known.Record{When: r.Now().UTC()}
	left := r.madeByTests()
	if r.known != nil && rec.When.Sub(r.known.When) < known.Age/2 { // what is added to for ever would never get old
		rec = *r.known
		rec.Cases = slices.DeleteFunc(slices.Clone(rec.Cases), func(c known.Case) bool { return r.sides.Suites[Base][c.ID].Evidence != "" })
	}
	for _, s := range steps {
		rec.Took += s.Duration
		if s.Environment != "" || s.PerTest && s.Failed() != r.failedIn(s) {
			return // something outside was missing, or the runner's own summary does not agree
		}
	}
	for id, t := range r.sides.Suites[Base] {
		if t.Cut && id.Command != "" {
			return // a runner that failed as a whole says nothing of its tests
		}
		if t.Evidence == "" {
			continue // known before
		}
		rec.Cases = append(rec.Cases, known.Case{ID: id, Test: t})
	}
	rec.Left, rec.Whole = left, slices.Concat(rec.Whole, r.own.Tried)
	for _, c := range r.firstTests(Base) {
		if c.Whole == "" && !slices.Contains(rec.Whole, known.Wholly(c)) {
			rec.Whole = append(rec.Whole, known.Wholly(c))
		}
	}
	sorted.By(rec.Cases, func(a, b known.Case) int {
		return cmp.Or(cmp.Compare(a.ID.Unit, b.ID.Unit), cmp.Compare(a.ID.Package, b.ID.Package), cmp.Compare(a.ID.Test, b.ID.Test), cmp.Compare(a.ID.Command, b.ID.Command))
	})
	r.saving = &rec
}

// failedIn says whether a test failed in a step.
func (r *runner) failedIn(s Step) bool {
	for _, t := range r.sides.Suites[Base] {
		if t.Evidence == s.Evidence && t.Status == Failed {
			return true
		}
	}
	return false
}

// saveBase saves what was taken down of the base's tests, unless runs of them
// disagreed since: with each other, or with what was known, which then is dropped.
func (r *runner) saveBase(ctx context.Context) error {
	rec := r.saving
	if r.tests.Doubted {
		rec = nil
		if r.known != nil {
			rec = &known.Record{When: r.Now().UTC()}
		}
	}
	if rec == nil || r.Results == nil {
		return nil
	}
	data, err := json.Marshal(rec)
	if err == nil {
		err = r.Results.Save(ctx, r.baseKey(), data)
	}
	if err != nil {
		r.note("results of the base's tests could not be stored: %v", err)
	}
	return nil
}

// confirm runs again at the base what fails on both sides by results that were
// known: what is said to be old has failed on the base in this log.
func (r *runner) confirm(ctx context.Context) error {
	t := &r.res.Tests
	if r.res.Cached == nil || len(t.PreExisting) == 0 {
		return nil
	}
	moved := func(k Case) bool { _, ok := r.sides.Suites[Base][k.ID]; return !ok }
	if slices.ContainsFunc(t.PreExisting, moved) { // failures of packages under another name there
		r.res.Cached, r.known = nil, nil
		if err := r.runBase(ctx); err != nil {
			return err
		}
		*t = runs.Compare(r.sides.Suites[Base], r.sides.Suites[Head], r.sides.MovedTest)
		return nil
	}
	var ids []ID
	for _, k := range t.PreExisting {
		ids = append(ids, k.ID)
	}
	now, err := r.tests.Again(ctx, Base, ids, false)
	if err != nil {
		return err
	}
	old := t.PreExisting
	t.PreExisting = nil
	for _, k := range old {
		on := now[k.ID]
		if on.Evidence != "" {
			k.Evidence = append(k.Evidence, on.Evidence)
		}
		switch on.Status {
		case Failed:
			t.PreExisting = append(t.PreExisting, k)
		case Passed: // what was known does not count against what is seen; rerun settles it
			r.sides.Suites[Base][k.ID] = on
			r.tests.Doubted = true
			t.Regressed = append(t.Regressed, k)
		default:
			t.Unknown = append(t.Unknown, k)
		}
	}
	t.Sort()
	return nil
}
