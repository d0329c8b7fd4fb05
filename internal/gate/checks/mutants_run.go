package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/mutate"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
)

// A mutator runs mutants of one change.
type mutator struct {
	check  *check
	in     *Subject
	budget time.Duration
	out    *Mutation
	trials []*trial
	// candidates are tests of the change of which mutants decide whether anything makes
	// them fail.
	candidates []Candidate

	mu     sync.Mutex
	newest map[string]time.Time // that a file got from renew, by the folder of its tree
}

// A trial is one mutant with the tests that should notice it.
type trial struct {
	mutate.Mutant
	name   string
	src    []byte
	group  *testGroup
	number int                 // of its name
	tests  map[string][]string // that reach its line, by import path; nil: all of the group's
	inside bool                // it is in the group's programs
	steps  []Step              // before the last
	step   Step
	suite  Suite
	killed []ID // tests that fail with it and not without
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
	command  ecosystem.Command // of a mutant
	packages []string          // that it tests; nil: it is not said
	baseline Suite
	evidence string
	took     time.Duration
	builds   []ecosystem.Command // that have to be run before the tests
	parallel bool                // in copies of the tree
	programs *programs           // that hold the mutants; nil: each is compiled by itself
}

func (m *mutator) run(ctx context.Context, files []changedFile) error {
	var trials []*trial
	for _, eco := range []func(context.Context, []changedFile) ([]*trial, error){m.coveredTrials, m.otherTrials} {
		more, err := eco(ctx, files)
		if err != nil {
			return err
		}
		trials = append(trials, more...)
	}
	if len(trials) > maxMutants {
		m.out.Left += len(trials) - maxMutants
		trials = trials[:maxMutants]
	}
	for i, t := range trials {
		t.number, t.name = i+1, "M"+strconv.Itoa(i+1)
	}
	m.trials = trials
	alone, err := m.runPrograms(ctx, trials)
	if err != nil {
		return err
	}
	sorted.By(alone, func(a, b *trial) int { return b2i(b.group.parallel) - b2i(a.group.parallel) })
	at := 0
	for at < len(alone) { // those of a kind together: copies run side by side, the tree itself is one
		n := at
		for n < len(alone) && alone[n].group.parallel == alone[at].group.parallel {
			n++
		}
		places, err := m.places(ctx, alone[at].group.parallel)
		if err != nil {
			return err
		}
		err = m.pool(ctx, places, alone[at:n])
		m.giveBack(places)
		if err != nil {
			return err
		}
		at = n
	}
	if err := m.wholeStrength(ctx, trials, files); err != nil {
		return err
	}
	for _, t := range trials {
		m.count(t)
	}
	return nil
}

// interleave takes one mutant of each file in turns, so that a run that stops early
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
func (m *mutator) pool(ctx context.Context, places *places, trials []*trial) error {
	m.in.Begin(StageMutation, ".", m.title(trials))
	done := make([]chan struct{}, len(trials))
	began := 0
	for i, t := range trials {
		if i >= mutationWindow {
			<-done[i-mutationWindow]
			m.budget -= trials[i-mutationWindow].took()
		}
		if m.budget <= 0 || ctx.Err() != nil {
			break
		}
		done[i] = make(chan struct{})
		var after <-chan struct{}
		if i > 0 {
			after = done[i-1]
		}
		s := <-places.free
		began++
		go func() {
			defer close(done[i])
			defer func() { places.free <- s }()
			s.After = after
			m.try(ctx, s, t)
		}()
	}
	var last Step
	var err error
	for i, t := range trials[:began] {
		<-done[i]
		for _, s := range append(t.steps, t.step) {
			if s.Evidence != "" {
				m.in.Record(s)
				last = s
			}
		}
		err = errors.Join(err, t.err)
	}
	m.in.End(StageMutation, ".", m.title(trials), last)
	return cmp.Or(context.Cause(ctx), err)
}

// took is how long the commands of a mutant took.
func (t *trial) took() time.Duration {
	sum := t.step.Duration.Truncate(time.Millisecond)
	for _, s := range t.steps {
		sum += s.Duration.Truncate(time.Millisecond)
	}
	return sum
}

func (m *mutator) title(trials []*trial) string {
	return results.Count(len(trials), "mutant", "mutants") + " of the changed lines"
}

// try runs the tests with one mutant. The tree is as it was afterwards, as far as
// it is tracked.
func (m *mutator) try(ctx context.Context, at Place, t *trial) {
	if t.inside {
		m.tryInside(ctx, at, t)
		return
	}
	if t.err = m.lay(at, t); t.err != nil {
		return
	}
	defer func() {
		if err := m.takeOff(ctx, at, t); err != nil && ctx.Err() == nil {
			t.err = errors.Join(t.err, err)
		}
	}()
	c := t.group.command
	c.Stage = StageMutation
	c.Timeout = 5*t.group.took + mutantGrace + mutantCompile
	c = marked(c, t)
	t.suite, t.step, t.err = m.runAt(ctx, at, c)
	if t.err == nil {
		t.result, t.killed = judgeMutant(t), newlyFailed(t.suite, t.group.baseline)
	}
}

// newlyFailed are the tests that fail in a run and not in the one before: the innermost.
func newlyFailed(now, before Suite) []ID {
	var out []ID
	for id, t := range now {
		if id.Test != "" && t.Leaf && t.Status == Failed && before[id].Status != Failed {
			out = append(out, id)
		}
	}
	sorted.By(out, func(a, b ID) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// runAt runs tests in a place and records nothing in the result.
func (m *mutator) runAt(ctx context.Context, at Place, c ecosystem.Command) (Suite, Step, error) {
	if c.Results == nil {
		step, err := m.in.At(ctx, at, c, nil)
		return Suite{}, step, err
	}
	stream := c.Results.Collect(c.Unit)
	step, err := m.in.At(ctx, at, c, stream)
	return m.in.Collect(Head, at.Tree, c, stream, step), step, err
}

// marked names the mutant in the command, which else is the same for all.
func marked(c ecosystem.Command, t *trial) ecosystem.Command {
	setting := variantSetting + "=" + t.name
	if plain := strings.Join(c.Argv, " "); len(t.group.builds) == 0 && strings.HasSuffix(c.Text, plain) {
		c.Text = strings.TrimSuffix(c.Text, plain) + "env " + setting + " " + plain
		c.Argv = append([]string{"env", setting}, c.Argv...)
		return c
	}
	return afterBuilds(c, t.group.builds, "export "+setting+"\n")
}

// afterBuilds is c behind builds that have to come before it; where one of them
// fails, nothing is learned.
func afterBuilds(c ecosystem.Command, builds []ecosystem.Command, script string) ecosystem.Command {
	for _, b := range builds {
		script += "( " + ecosystem.ShellWords(b) + "\n) 1>&2 || exit " + strconv.Itoa(exitUnbuilt) + "\n"
	}
	c.Text = script + ecosystem.ShellWords(c)
	c.Argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", c.Text}
	return c
}

// exitUnbuilt is the exit code of a mutant that does not build.
const exitUnbuilt = ecosystem.ExitUnbuilt

// lay writes the mutant over its source. No link leads out of the tree.
func (m *mutator) lay(at Place, t *trial) error {
	root, err := os.OpenRoot(at.Tree.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.FromSlash(t.Path)
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", t.Path)
	}
	if err == nil {
		err = root.WriteFile(name, t.Apply(t.src), info.Mode().Perm())
	}
	if err == nil {
		err = m.renew(root, at, name)
	}
	if err != nil {
		return fmt.Errorf("mutant %s: %w", t.name, err)
	}
	return nil
}

// takeOff puts the tree back as it was before the mutant.
func (m *mutator) takeOff(ctx context.Context, at Place, t *trial) error {
	if _, err := at.Tree.Restore(ctx); err != nil {
		return err
	}
	root, err := os.OpenRoot(at.Tree.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return m.renew(root, at, filepath.FromSlash(t.Path))
}

// renew gives a file a time that no file of its tree had before, and that is newer
// than all that was built so far, also for tools that count in seconds: else they
// would test what they have built of the mutant before, Python where its size is the
// same.
func (m *mutator) renew(root *os.Root, at Place, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	m.mu.Lock()
	later := info.ModTime()
	if last := m.newest[at.Tree.Dir]; last.After(later) {
		later = last
	}
	later = later.Add(2 * time.Second)
	m.newest[at.Tree.Dir] = later
	m.mu.Unlock()
	return root.Chtimes(name, later, later)
}

// judgeMutant says what became of a mutant.
func judgeMutant(t *trial) trialResult {
	if t.step.Stopped() {
		return killed
	}
	if !t.step.Failed() {
		if t.group.command.Results != nil && !results.AnyPassed(t.suite) {
			return discarded // no test ran that could have noticed
		}
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
	if fails || len(t.suite) == 0 || !results.AnyFailed(t.suite) {
		return killed
	}
	return survived // only what fails anyway
}
