package gate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/mutate"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
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

// Bounds for mutants. None of them depends on how fast this machine is or how
// many processors it has, so that the same results lead the same way.
const (
	maxMutants     = 40
	mutationBudget = 90 * time.Second
	mutationWindow = 4 // as many run side by side at most
	mutationShare  = 4 // of the run's time that is left: a fourth
	mutantGrace    = 15 * time.Second
	mutantCompile  = time.Minute
	slowTests      = 20 * time.Second // slower ones are not run for each mutant
)

func (l Limits) mutation() time.Duration { return cmp.Or(l.Mutation, mutationBudget) }

// mutation changes the changed lines in small ways and looks whether a test
// notices. It is left out where the change fails anyway.
func (r *runner) mutation(ctx context.Context) error {
	if !r.res.Runnable || r.facts.Unprepared != "" || r.fails() || r.Limits.mutation() < 0 {
		return nil
	}
	files, err := r.mutable(ctx)
	if err != nil || len(files) == 0 {
		return err
	}
	m := &mutator{runner: r, budget: r.Limits.mutation(), trees: new(workspace.Pool), out: &Mutation{Unrun: map[string][]int{}}, newest: map[string]time.Time{}}
	defer func() {
		if err := m.trees.Close(); err != nil {
			r.note("copies of the head could not be removed: %v", err)
		}
	}()
	if deadline, ok := ctx.Deadline(); ok {
		m.budget = min(m.budget, deadline.Sub(r.Now())/mutationShare)
	}
	if err := m.run(ctx, files); err != nil {
		return err
	}
	m.conclude()
	return nil
}

// fails says whether the change's build or tests fail, so that attacks on them
// tell nothing more.
func (r *runner) fails() bool {
	t := r.res.Tests
	if slices.ContainsFunc(r.res.Probes, func(p Probe) bool { return len(p.Regressed) > 0 }) {
		return true
	}
	return len(r.res.Broken)+len(r.res.BrokenBoth)+len(t.Regressed)+len(t.NewFailing)+len(t.Unknown)+len(t.Unsettled) > 0
}

// A changedFile is a source of the head with its changed lines.
type changedFile struct {
	path  string
	src   []byte
	lines map[int]bool
}

// mutable reads the changed sources that there are operators for.
func (r *runner) mutable(ctx context.Context) ([]changedFile, error) {
	var out []changedFile
	for _, f := range r.in.Change.Files {
		if f.Status == change.Deleted || f.Binary || f.Added == 0 || !mutate.Knows(f.Path) || r.testFile(f.Path) || ecosystem.IsDoc(f.Path) || ecosystem.IgnoredDir(path.Dir(f.Path)) {
			continue
		}
		src, err := r.Mirror.ReadFile(ctx, r.in.Head.Commit, f.Path)
		if err != nil {
			continue // a submodule, or retyped
		}
		args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "-U0", r.in.Base.Commit, r.in.Head.Commit, "--", f.Path}
		if f.OldPath != "" {
			args = append(args, f.OldPath)
		}
		patch, err := r.Mirror.Git(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("changed lines of %s: %w", f.Path, err)
		}
		if lines := addedLines(string(patch)); len(lines) > 0 {
			out = append(out, changedFile{f.Path, src, lines})
		}
	}
	return out, nil
}

func (r *runner) testFile(name string) bool {
	return ecosystem.IsTestFile(name) || slices.ContainsFunc(ecosystem.All(), func(e *ecosystem.Ecosystem) bool { return e.IsTest != nil && e.IsTest(name) })
}

// hunk is the head of a hunk in a patch without context.
var hunk = pattern.New(`(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// addedLines are the lines of the new file that a patch without context brings.
func addedLines(patch string) map[int]bool {
	out := map[int]bool{}
	for _, m := range hunk.FindAllStringSubmatch(patch, -1) {
		from, _ := strconv.Atoi(m[1])
		n := 1
		if m[2] != "" {
			n, _ = strconv.Atoi(m[2])
		}
		for i := range n {
			out[from+i] = true
		}
	}
	return out
}

func (m *mutator) count(t *trial) {
	m.tried++
	switch t.result {
	case killed:
		m.out.Killed++
	case discarded:
		m.out.Discarded++
	case survived:
		m.out.Evidence = append(m.out.Evidence, t.step.Evidence)
		m.out.Survivors = append(m.out.Survivors, Survivor{
			Name: t.name, Path: t.Path, Line: t.Line, Title: t.Title(), Diff: t.Diff(t.src), Weak: t.Weak,
			Command: t.group.command.Text, Evidence: []string{t.group.evidence, t.step.Evidence},
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
	o.Note = fmt.Sprintf("of %s of the changed lines the tests noticed %d", count(n, "mutant", "mutants"), o.Killed)
	if n == 0 {
		o.Note = "no mutant of the changed lines could be tried"
	}
	if o.Left > 0 {
		o.Note += fmt.Sprintf("; %d were not tried, for want of time", o.Left)
	}
	m.res.Mutation = o
}
