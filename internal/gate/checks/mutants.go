package checks

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/mutate"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Mutation is what the tests notice of small changes of the changed lines.
type Mutation struct {
	Note      string           `json:"note"` // one sentence for people
	Command   string           `json:"command"`
	Evidence  []string         `json:"evidence"` // of the unchanged tests, and of what survived
	Killed    int              `json:"killed"`
	Discarded int              `json:"discarded"` // did not compile, or no test ran that could have noticed
	Left      int              `json:"left"`      // not tried: no time, or too many
	Survivors []Survivor       `json:"survivors"`
	Unrun     map[string][]int `json:"unrun,omitempty"` // changed lines that no test runs, by path
	Kills     []Kill           `json:"kills,omitempty"` // which tests noticed which mutant
	Vacuous   []Vacuous        `json:"vacuous,omitempty"`
}

// A Survivor is a mutant with which all tests still pass.
type Survivor struct {
	Name     string   `json:"name"` // as in its command
	Path     string   `json:"path"`
	Line     int      `json:"line"`
	Title    string   `json:"title"`
	Diff     string   `json:"diff"`
	Weak     bool     `json:"weak"` // may well make no difference that matters
	Command  string   `json:"command"`
	Evidence []string `json:"evidence"`
}

// A Kill is a mutant that tests noticed.
type Kill struct {
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	Line     int      `json:"line"`
	Title    string   `json:"title"`
	Tests    []string `json:"tests"` // the first that fail; none where no test says so, as where it hangs
	Evidence string   `json:"evidence"`
}

// killersKept bounds the tests that are kept of one mutant.
const killersKept = 3

// Bounds for mutants. None of them depends on how fast this machine is or how
// many processors it has, so that the same results lead the same way.
const (
	maxMutants     = 40
	mutationWindow = 4 // as many run side by side at most
	mutationShare  = 4 // of the run's time that is left: a fourth
	mutantGrace    = 15 * time.Second
	mutantCompile  = time.Minute
	slowTests      = 20 * time.Second // slower ones are not run for each mutant
)

// Mutate changes the changed lines in small ways and looks whether a test notices. It is
// left out where the change fails anyway.
func Mutate(ctx context.Context, s *Subject) (Findings, error) {
	r := &check{in: s}
	err := r.mutate(ctx)
	return r.found, err
}

func (r *check) mutate(ctx context.Context) error {
	if !r.in.Runnable || r.in.Unprepared || r.in.Fails || r.in.MutationTime < 0 {
		return nil
	}
	files, err := r.mutable(ctx)
	if err != nil || len(files) == 0 {
		return err
	}
	m := &mutator{check: r, in: r.in, budget: r.in.MutationTime, out: &Mutation{Unrun: map[string][]int{}}, newest: map[string]time.Time{}}
	if m.candidates = r.in.Candidates(); len(m.candidates) > maxCandidates {
		m.candidates = m.candidates[:maxCandidates]
	}
	defer func() {
		if err := r.in.Close(); err != nil {
			r.in.Note("copies of the head could not be removed: %v", err)
		}
	}()
	if deadline, ok := ctx.Deadline(); ok {
		m.budget = min(m.budget, deadline.Sub(r.in.Now())/mutationShare)
	}
	if err := m.run(ctx, files); err != nil {
		return err
	}
	m.conclude()
	return nil
}

// A changedFile is a source of the head with its changed lines.
type changedFile struct {
	path  string
	src   []byte
	lines map[int]bool
}

// ChangedSources are the changed sources of whose lines it is known whether they run.
func ChangedSources(ctx context.Context, s *Subject) ([]ecosystem.ChangedFile, error) {
	files, err := (&check{in: s}).mutable(ctx)
	var out []ecosystem.ChangedFile
	for _, f := range files {
		out = append(out, ecosystem.ChangedFile{Path: f.path, Src: f.src, Lines: f.lines})
	}
	return out, err
}

// ofTools are programs that tools of tests and of style alone run, and that make nothing of the product.
var ofTools = pattern.New(`^(?:noxfile\.py|\.(?:mocha|eslint|prettier|stylelint|lintstaged|commitlint)rc\.[cm]?js|(?:jest|vitest|karma|playwright|cypress|ava|eslint|prettier|commitlint|lint-staged)\.(?:config|conf)\.[cm]?[jt]s)$`)

// mutable reads the changed sources that there are operators for.
func (r *check) mutable(ctx context.Context) ([]changedFile, error) {
	var out []changedFile
	for _, f := range r.in.Change.Files {
		if f.Status == change.Deleted || f.Binary || f.Added == 0 || !mutate.Knows(f.Path) || ofTools.MatchString(path.Base(f.Path)) || languages.IsTestFile(f.Path) || ecosystem.IsDoc(f.Path) || ecosystem.IgnoredDir(path.Dir(f.Path)) {
			continue
		}
		src, err := r.in.ReadFile(ctx, Head, f.Path)
		if err != nil {
			continue // a submodule, or retyped
		}
		lines, err := r.in.Added(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("changed lines of %s: %w", f.Path, err)
		}
		if len(lines) > 0 {
			out = append(out, changedFile{f.Path, src, lines})
		}
	}
	return out, nil
}

func (m *mutator) count(t *trial) {
	switch t.result {
	case killed:
		m.out.Killed++
		k := Kill{Name: t.name, Path: t.Path, Line: t.Line, Title: t.Title(), Evidence: t.step.Evidence}
		for _, id := range t.killed[:min(len(t.killed), killersKept)] {
			k.Tests = append(k.Tests, id.String())
		}
		m.out.Kills = append(m.out.Kills, k)
	case discarded:
		m.out.Discarded++
	case survived:
		m.out.Evidence = append(m.out.Evidence, t.step.Evidence)
		m.out.Survivors = append(m.out.Survivors, Survivor{
			Name: t.name, Path: t.Path, Line: t.Line, Title: t.Title(), Diff: t.Diff(t.src), Weak: t.Weak,
			Command: t.group.command.Typed(), Evidence: []string{t.group.evidence, t.step.Evidence},
		})
	case notTried:
		m.out.Left++
	}
}

// conclude puts the result into words, where there is one.
func (m *mutator) conclude() {
	o := m.out
	for _, name := range slices.Sorted(maps.Keys(o.Unrun)) {
		slices.Sort(o.Unrun[name])
	}
	n := o.Killed + len(o.Survivors)
	if n+o.Discarded+o.Left+len(o.Unrun) == 0 {
		return
	}
	o.Note = fmt.Sprintf("of %s of the changed lines the tests noticed %d", results.Count(n, "mutant", "mutants"), o.Killed)
	if n == 0 {
		o.Note = "no mutant of the changed lines could be tried"
	}
	if o.Left > 0 {
		o.Note += fmt.Sprintf("; %d were not tried, for lack of time", o.Left)
	}
	m.check.found.Mutation = o
}
