package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
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
	Discarded int              `json:"discarded"` // did not compile
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
	m := &mutator{runner: r, budget: r.Limits.mutation(), out: &Mutation{Unrun: map[string][]int{}}}
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
	return len(r.res.Broken)+len(r.res.BrokenBoth)+len(t.Regressed)+len(t.NewFailing)+len(t.Unknown) > 0
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
		if f.Status == change.Deleted || f.Binary || f.Added == 0 || !mutate.Knows(f.Path) || r.testFile(f.Path) || isDoc(f.Path) || ignoredDir(path.Dir(f.Path)) {
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
	return isTestFile(name) || slices.ContainsFunc(ecosystems(), func(e *ecosystem) bool { return e.isTest != nil && e.isTest(name) })
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

// A mutator runs mutants of one change.
type mutator struct {
	*runner
	budget time.Duration
	out    *Mutation
	tried  int
}

// A trial is one mutant with the tests that should notice it.
type trial struct {
	mutate.Mutant
	name   string
	src    []byte
	group  *testGroup
	step   Step
	suite  Suite
	result trialResult
	err    error
}

type trialResult int

const (
	notTried trialResult = iota
	survived
	killed
	discarded
)

// A testGroup is the tests of some sources, and what they say without a mutant.
type testGroup struct {
	command  command // of a mutant
	baseline Suite
	evidence string
	took     time.Duration
	builds   []command // that have to be run before the tests
	parallel bool      // in copies of the tree
}

func (m *mutator) run(ctx context.Context, files []changedFile) error {
	var trials []*trial
	for _, eco := range []func(context.Context, []changedFile) ([]*trial, error){m.goTrials, m.otherTrials} {
		more, err := eco(ctx, files)
		if err != nil {
			return err
		}
		trials = append(trials, more...)
	}
	if len(trials) > maxMutants {
		m.out.Left = len(trials) - maxMutants
		trials = trials[:maxMutants]
	}
	for i, t := range trials {
		t.name = "M" + strconv.Itoa(i+1)
	}
	at := 0
	for at < len(trials) { // those of a kind together: copies run side by side, the tree itself is one
		n := at
		for n < len(trials) && trials[n].group.parallel == trials[at].group.parallel {
			n++
		}
		if err := m.pool(ctx, trials[at:n]); err != nil {
			return err
		}
		at = n
	}
	for _, t := range trials {
		m.count(t)
	}
	return nil
}

// interleave takes one mutant of each file in turns, so that whoever stops early
// has looked at all of them.
func interleave(files []changedFile, group func(changedFile) *testGroup) []*trial {
	var out []*trial
	lists := make([][]mutate.Mutant, len(files))
	for i, f := range files {
		lists[i] = mutate.Of(f.path, f.src, f.lines)
	}
	for turn, more := 0, true; more; turn++ {
		more = false
		for i, list := range lists {
			if turn < len(list) {
				out, more = append(out, &trial{Mutant: list[turn], src: files[i].src, group: group(files[i])}), true
			}
		}
	}
	return out
}

// pool runs trials, at most mutationWindow of them side by side, until the budget
// is used up. What counts is how long those took that are recorded already.
func (m *mutator) pool(ctx context.Context, trials []*trial) error {
	spots, err := m.spots(ctx, trials[0].group.parallel)
	if err != nil {
		return err
	}
	defer spots.close(m.runner)
	m.progress(Progress{Stage: StageMutation, Side: Head, Unit: ".", Command: m.title(trials)})
	done := make([]chan struct{}, len(trials))
	began := 0
	for i, t := range trials {
		if i >= mutationWindow {
			<-done[i-mutationWindow]
			m.budget -= trials[i-mutationWindow].step.Duration.Truncate(time.Millisecond)
		}
		if m.budget <= 0 || ctx.Err() != nil {
			break
		}
		done[i] = make(chan struct{})
		var after <-chan struct{}
		if i > 0 {
			after = done[i-1]
		}
		s := <-spots.free
		began++
		go func() {
			defer close(done[i])
			defer func() { spots.free <- s }()
			s.after = after
			m.try(ctx, s, t)
		}()
	}
	var last Step
	for i, t := range trials[:began] {
		<-done[i]
		if t.step.Evidence != "" {
			m.res.Steps = append(m.res.Steps, t.step)
			last = t.step
		}
		err = errors.Join(err, t.err)
	}
	m.progress(Progress{Stage: StageMutation, Side: Head, Unit: ".", Command: m.title(trials), Done: true, Step: last})
	return cmp.Or(context.Cause(ctx), err)
}

func (m *mutator) title(trials []*trial) string {
	return count(len(trials), "mutant", "mutants") + " of the changed lines"
}

// spots are the places in which mutants run.
type spots struct {
	free chan spot
	own  []spot // copies
}

// spots makes them: copies of the prepared head, one for each processor; or the
// head itself as it was prepared, where build output may name its folder.
func (m *mutator) spots(ctx context.Context, copies bool) (*spots, error) {
	out := &spots{free: make(chan spot, mutationWindow)}
	if !copies {
		if err := m.reset(ctx, Head); err != nil {
			return nil, err
		}
		out.free <- spot{tree: m.in.Head, home: m.home(Head)}
		return out, nil
	}
	snap := m.prepared[Head]
	for i := range m.workers() {
		name := "mutant-" + strconv.Itoa(i+1)
		tree, err := snap.tree.Copy(ctx, filepath.Join(filepath.Dir(m.in.Head.Dir), name))
		if err != nil {
			out.close(m.runner)
			return nil, err
		}
		s := spot{tree: tree, home: filepath.Join(m.Scratch, string(Head), name)}
		out.own = append(out.own, s)
		if err := m.same(ctx, &workspace.Replica{From: snap.home.From, To: s.home}); err != nil {
			out.close(m.runner)
			return nil, err
		}
		out.free <- s
	}
	return out, nil
}

func (s *spots) close(r *runner) {
	for _, own := range s.own {
		if err := own.tree.Close(); err != nil {
			r.note("%s could not be removed: %v", own.tree.Dir, err)
		}
	}
}

// try runs the tests with one mutant. The tree is as it was afterwards, as far as
// it is tracked.
func (m *mutator) try(ctx context.Context, at spot, t *trial) {
	if t.err = m.lay(at, t); t.err != nil {
		return
	}
	defer func() {
		if _, err := at.tree.Restore(ctx); err != nil && ctx.Err() == nil {
			t.err = errors.Join(t.err, err)
		}
	}()
	c := t.group.command
	c.stage = StageMutation
	c.timeout = 5*t.group.took + mutantGrace + mutantCompile
	c = m.marked(c, t)
	if c.results == nil {
		t.step, t.err = m.execute(ctx, Head, at, c, nil)
		t.suite = Suite{}
	} else {
		stream := c.results.collect(c.unit)
		t.step, t.err = m.execute(ctx, Head, at, c, stream)
		t.suite = stream.suite(t.step.Evidence, at.tree.Dir)
	}
	if t.err == nil {
		t.result = judgeMutant(t)
	}
}

// marked names the mutant in the command, which else is the same for all. Builds
// that have to come before the tests are part of it; where they fail, nothing is
// learned.
func (m *mutator) marked(c command, t *trial) command {
	setting := "YCBOT_MUTANT=" + t.name
	if plain := strings.Join(c.argv, " "); len(t.group.builds) == 0 && strings.HasSuffix(c.text, plain) {
		c.text = strings.TrimSuffix(c.text, plain) + "env " + setting + " " + plain
		c.argv = append([]string{"env", setting}, c.argv...)
		return c
	}
	script := "export " + setting + "\n"
	for _, b := range t.group.builds {
		script += "( " + shellWords(b) + "\n) 1>&2 || exit " + strconv.Itoa(exitUnbuilt) + "\n"
	}
	c.text = script + shellWords(c)
	c.argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", c.text}
	return c
}

// exitUnbuilt is the exit code of a mutant that does not build.
const exitUnbuilt = 97

// shellWords is a command as a shell takes it.
func shellWords(c command) string {
	if n := len(c.argv); n > 2 && c.argv[0] == "bash" && c.argv[n-2] == "-c" {
		return c.argv[n-1]
	}
	return quoted(c.argv...)
}

// lay writes the mutant over its source. No link leads out of the tree.
func (m *mutator) lay(at spot, t *trial) error {
	root, err := os.OpenRoot(at.tree.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.FromSlash(t.Path)
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", t.Path)
	}
	if err == nil {
		err = root.WriteFile(name, t.Apply(t.src), info.Mode().Perm())
	}
	if err != nil {
		return fmt.Errorf("mutant %s: %w", t.name, err)
	}
	return nil
}

// judgeMutant tells what became of a mutant.
func judgeMutant(t *trial) trialResult {
	if t.step.TimedOut {
		return killed
	}
	if !t.step.Failed() {
		return survived
	}
	if t.step.Exit == exitUnbuilt && len(t.group.builds) > 0 {
		return discarded
	}
	fails := false
	for id, now := range t.suite {
		if now.Broken {
			return discarded
		}
		fails = fails || now.Status == Failed && t.group.baseline[id].Status != Failed
	}
	if fails || len(t.suite) == 0 || !anyFailed(t.suite) {
		return killed
	}
	return survived // only what fails anyway
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
			Command: t.group.command.text, Evidence: []string{t.group.evidence, t.step.Evidence},
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
