// Package lines finds out which of the changed lines tests run, which changed sources nothing
// compiles or loads, and what tests check on the base alone (docs/gate.md, "Which changed lines ran").
package lines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Executed is which of the changed lines tests ran. It changes no verdict: the title
// says where none did, or none of the base's.
type Executed struct {
	Lines int `json:"lines"` // changed lines that can run
	Ran   int `json:"ran"`   // of these, that tests ran
	// OwnOnly says of a change from outside that no test of the base runs any of them.
	OwnOnly  bool     `json:"own_only"`
	Evidence []string `json:"evidence"`
	// Unrun are the changed lines that can run and did not, by path.
	Unrun map[string][]int `json:"unrun,omitempty"`
	// Unloaded are the changed files that nothing compiled or loaded.
	Unloaded []Unloaded `json:"unloaded,omitempty"`
}

// An Unloaded file is a changed source that no command compiled or loaded.
type Unloaded struct {
	Path string `json:"path"`
	Line int    `json:"line"` // the first changed one
	Why  string `json:"why"`  // as far as it is known
}

// An Input is what counting starts from.
type Input struct {
	Untrusted bool                    // no maintainer answers for the head
	Files     []ecosystem.ChangedFile // the changed sources
	Probed    []ecosystem.Package     // the packages whose tests are run first
	// Expectations are those of the base's tests over the head's sources; nil: they were not run there.
	Expectations *kept.Expectations
	// Kept is the arm of them.
	Kept  func(context.Context) (*arms.Arm, error)
	Now   func() time.Time
	Until time.Time     // when no more is counted
	Step  time.Duration // how long one command may take
}

// An Outcome is what was counted.
type Outcome struct {
	Executed   *Executed // nil: it is not known which lines ran, or none can
	NotCovered []string  // what could not be counted and why, or is not checked, for people
	Asks       []string  // of it, what a maintainer has to look at
}

// Count finds out whether tests run the changed lines: those of the base over the head's
// sources and, where these run none, those of the head. Errors are infrastructure.
func Count(ctx context.Context, on arms.Maker, in Input) (Outcome, error) {
	e := &counting{on: on, in: in, executed: &Executed{}, own: map[string]ecosystem.Package{}}
	for _, f := range in.Files {
		for _, p := range on.Sides.Packages {
			if p.Dir == path.Dir(f.Path) {
				e.own[f.Path] = p
			}
		}
	}
	known := true
	for _, eco := range languages.All() {
		var mine []ecosystem.ChangedFile
		for _, f := range in.Files {
			if eco.IsSource != nil && eco.IsSource(f.Path) {
				mine = append(mine, f)
			}
		}
		if len(mine) == 0 {
			continue
		}
		checking := e.checking(eco)
		why, first, err := e.count(ctx, eco, mine, checking)
		if err == nil {
			err = e.unreached(ctx, eco, checking, first)
		}
		if err != nil {
			return e.out, err
		}
		if why != "" {
			e.out.NotCovered = append(e.out.NotCovered, fmt.Sprintf("which of the changed lines tests run, in %s: %s", eco.Name, why))
		}
		known = known && why == ""
	}
	if known && e.executed.Lines > 0 {
		e.executed.OwnOnly = in.Untrusted && e.executed.Ran > 0 && !e.base
		e.out.Executed = e.executed
	}
	return e.out, nil
}

// counting is that of one change.
type counting struct {
	on       arms.Maker
	in       Input
	out      Outcome
	executed *Executed
	own      map[string]ecosystem.Package // of files, also of those for another system
	base     bool                         // tests of the base run a changed line, or may do so
	// uncounted says why tests of the last arm were left out, such as for lack of time or
	// because they could not start: they may run a changed line. Empty: none were.
	uncounted string
	none      string // a command that ran no test; empty: there is none
}

// count does so for the files of an ecosystem; it returns why where it cannot be known, and what the
// first arm has counted, of also as well.
func (e *counting) count(ctx context.Context, eco *ecosystem.Ecosystem, files, also []ecosystem.ChangedFile) (why string, first []*results.LineCounts, err error) {
	if eco.Lines == nil {
		return "counting them is not supported", nil, nil
	}
	for _, f := range files {
		if !eco.Lines.Knows(f.Path) {
			return fmt.Sprintf("counting is not supported for a file such as %s", f.Path), nil, nil
		}
	}
	all, err := e.arms(ctx)
	if err != nil {
		return "", nil, err
	}
	var seen []*results.LineCounts
	for i, a := range all {
		more, ok, err := e.countIn(ctx, a, eco, files, also)
		if err != nil {
			return "", nil, err
		}
		if i == 0 {
			first = more
		}
		last := i == len(all)-1
		if !ok && ctx.Err() != nil {
			return "the time was over before they were counted", first, nil
		}
		if !ok && last {
			return cmp.Or(e.uncounted, e.none, "no test command here runs tests of "+results.Listed(paths(files), 3)), first, nil
		}
		seen = append(seen, more...)
		total, ran := 0, 0
		for _, f := range files {
			lines := linesRan(seen, e.nameOf(f), f)
			total, ran = total+len(lines), ran+numTrue(lines)
		}
		if i == 0 && (ran > 0 || e.uncounted != "") {
			e.base = true
		}
		if !last && ran < total {
			continue // what the base's tests do not run, the change's may
		}
		missed := e.uncounted
		for _, c := range seen {
			missed = cmp.Or(missed, c.Missed())
		}
		if missed != "" && ran == 0 {
			return missed, first, nil // what was not seen may have run some
		}
		e.executed.Lines, e.executed.Ran = e.executed.Lines+total, e.executed.Ran+ran
		if missed == "" {
			e.name(files, seen)
		}
		return "", first, nil
	}
	return "", first, nil
}

func paths(files []ecosystem.ChangedFile) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// name keeps which lines and files did not run.
func (e *counting) name(files []ecosystem.ChangedFile, seen []*results.LineCounts) {
	for _, f := range files {
		loaded := slices.ContainsFunc(seen, func(c *results.LineCounts) bool { return c.Knows[e.nameOf(f)] })
		if !loaded {
			e.unloaded(f)
			continue
		}
		for n, ran := range linesRan(seen, e.nameOf(f), f) {
			if !ran {
				if e.executed.Unrun == nil {
					e.executed.Unrun = map[string][]int{}
				}
				e.executed.Unrun[f.Path] = append(e.executed.Unrun[f.Path], n)
			}
		}
		slices.Sort(e.executed.Unrun[f.Path])
	}
}

// unloaded names a file that no test loaded, where no command of the build compiled it
// either, as far as that is known.
func (e *counting) unloaded(f ecosystem.ChangedFile) {
	why := "no test loads it"
	eco := languages.Of(f.Path)
	switch {
	case eco.Packages == nil && (settings.MatchString(path.Base(f.Path)) || slices.ContainsFunc(e.on.Sides.Plans[results.Head].Build, func(c ecosystem.Command) bool {
		return ecosystem.Inside(c.Unit, f.Path) && (c.Eco == eco.Name || c.Eco == "")
	})):
		return // other programs read it, or tests load what is built of it
	case eco.Packages != nil:
		p, ok := e.own[f.Path]
		switch {
		case ok && (slices.Contains(p.GoFiles, path.Base(f.Path)) || slices.Contains(p.CgoFiles, path.Base(f.Path))):
			return // it was built
		case !ok:
			why = "its folder is not a package of a module that is built here"
		default:
			why = eco.Packages.Excluded(f.Src)
		}
	}
	e.executed.Unloaded = append(e.executed.Unloaded, Unloaded{Path: f.Path, Line: slices.Min(slices.Collect(maps.Keys(f.Lines))), Why: why})
}

// settings are the names of sources that only tools load.
var settings = pattern.New(`^\.|\.config\.\w+$|^(?:setup|noxfile|conf|fabfile|tasks|Gruntfile|gulpfile)\.\w+$`)

// nameOf is the name by which counts know a file.
func (e *counting) nameOf(f ecosystem.ChangedFile) string {
	if p, ok := e.own[f.Path]; ok {
		return path.Join(p.ImportPath, path.Base(f.Path))
	}
	return f.Path
}

// arms are what is run until one runs a changed line: of a change from outside the
// base's tests over its sources first, then its own.
func (e *counting) arms(ctx context.Context) ([]*arms.Arm, error) {
	own := e.on.Plain(results.Head, results.StageProbe, e.on.Sides.Plans[results.Head].Test)
	if !e.keepsTests() {
		return []*arms.Arm{own}, nil
	}
	old, err := e.in.Kept(ctx)
	if err != nil {
		return nil, err
	}
	old.Stage, old.Evidence = results.StageProbe, nil
	return []*arms.Arm{old, own}, nil
}

// keepsTests says whether the first arm is the base's tests over the head's sources, and not the head.
func (e *counting) keepsTests() bool { return e.in.Untrusted && len(e.on.Sides.Touched) > 0 }

// countIn counts in one arm, and where it does so, of the files of also as well; false where that
// said nothing.
func (e *counting) countIn(ctx context.Context, a *arms.Arm, eco *ecosystem.Ecosystem, files, also []ecosystem.ChangedFile) (seen []*results.LineCounts, ok bool, err error) {
	if err := a.Lay(ctx); err != nil {
		return nil, false, err
	}
	e.uncounted = ""
	for _, c := range a.Tests {
		q := ecosystem.Counting{Unit: c.Unit, Own: e.own, Tested: e.countedPackages(c.Unit)}
		of := func(files []ecosystem.ChangedFile) []ecosystem.ChangedFile {
			return slices.DeleteFunc(slices.Clone(files), func(f ecosystem.ChangedFile) bool { return !ecosystem.Inside(c.Unit, f.Path) })
		}
		q.Files = of(files)
		unnamed := c.Results == nil && c.Eco == "" // it may run tests of any ecosystem
		if c.Eco != eco.Name && !unnamed || len(q.Files) == 0 {
			continue
		}
		q.Files = append(q.Files, of(also)...)
		left := e.in.Until.Sub(e.in.Now())
		counting, why := eco.Lines.Command(c, q)
		if why == "" {
			why = late(left, e.tookTests(eco.Name, c, q.Tested))
		}
		if why != "" {
			e.uncounted = cmp.Or(e.uncounted, why)
			continue
		}
		counting.Stage, counting.Timeout = a.Stage, min(left, e.in.Step)
		collector := results.NoResults(c.Unit)
		if c.Results != nil {
			collector = c.Results.Collect(c.Unit)
		}
		cover := eco.Lines.Reader(collector, q)
		step, err := e.on.Executor.Run(ctx, a.Side, e.on.Executor.Tree(a.Side), counting, cover)
		if err != nil {
			return nil, false, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
		}
		s := e.on.Tests.Collected(a.Side, e.on.Executor.Tree(a.Side), counting, cover, step)
		switch ran := results.AnyRan(s) || c.Results == nil && !step.Failed(); {
		case step.Limited():
			e.uncounted = cmp.Or(e.uncounted, fmt.Sprintf("%q %s while counting", c.Text, step.Ending()))
		case step.TimedOut:
			e.uncounted = cmp.Or(e.uncounted, fmt.Sprintf("%q did not end within %s while counting", c.Text, step.Duration.Round(time.Second)))
		case ran:
			seen = append(seen, cover)
			e.executed.Evidence = append(e.executed.Evidence, step.Evidence)
		case step.Failed():
			e.uncounted = cmp.Or(e.uncounted, e.notCounting(eco, c, step))
		default:
			e.none = fmt.Sprintf("%q ran no test", c.Text)
		}
	}
	return seen, len(seen) > 0, a.Close(ctx)
}

// late says why tests that took so long are not run once more in the time that is left.
func late(left, took time.Duration) string {
	switch {
	case left <= 0:
		return "there is no time left for it"
	case took > left/2:
		return fmt.Sprintf("there is no time for it: the tests took %s, and %s is left", took.Round(time.Second), left.Round(time.Second))
	}
	return ""
}

// notCounting says why a command gave no results while counting.
func (e *counting) notCounting(eco *ecosystem.Ecosystem, c ecosystem.Command, step ecosystem.Step) string {
	why := fmt.Sprintf("%q failed while counting (exit code %d), and no test ran", c.Text, step.Exit)
	if c.Results != nil && eco.Lines.Needs[c.Results.Name] != "" {
		why += "; " + eco.Lines.Needs[c.Results.Name]
	}
	return why
}

// linesRan are the changed lines of a file that can run, and whether they did. A file that
// no run knows was not compiled or loaded: all of its code is what did not run.
func linesRan(seen []*results.LineCounts, name string, f ecosystem.ChangedFile) map[int]bool {
	out := map[int]bool{}
	text := strings.Split(string(f.Src), "\n")
	known := slices.ContainsFunc(seen, func(c *results.LineCounts) bool { return c.Knows[name] })
	for n := range f.Lines {
		if !known && n > 0 && n <= len(text) && ecosystem.CodeLine(f.Path, text[n-1]) {
			out[n] = false
		}
		for _, c := range seen {
			if ran, can := c.Line(name, n); can && known {
				out[n] = out[n] || ran
			}
		}
	}
	return out
}

func numTrue(lines map[int]bool) int {
	n := 0
	for _, ran := range lines {
		if ran {
			n++
		}
	}
	return n
}

// countedPackages are the tested packages of Go that the change can affect: the changed
// ones first.
func (e *counting) countedPackages(unit string) []string {
	var out []string
	for _, p := range e.in.Probed {
		if p.Unit == unit {
			out = append(out, p.ImportPath)
		}
	}
	for _, p := range e.on.Sides.Packages {
		if _, ran := e.on.Sides.Suites[results.Head][results.ID{Unit: p.Unit, Package: p.ImportPath}]; ran && p.Unit == unit && p.HasTests() && e.on.Sides.Affected[p.ImportPath] && !slices.Contains(out, p.ImportPath) && len(out) < maxCounted {
			out = append(out, p.ImportPath)
		}
	}
	return out
}

// maxCounted bounds the packages of Go whose tests run once more.
const maxCounted = 30

// tookTests is how long the tests took on the head that are run again.
func (e *counting) tookTests(eco string, c ecosystem.Command, tested []string) time.Duration {
	sum := e.on.Sides.Suites[results.Head][results.ID{Unit: c.Unit, Command: c.Label()}].Elapsed
	for id, t := range e.on.Sides.Suites[results.Head] {
		if c.Results != nil && id.Unit == c.Unit && id.Test == "" && id.Package != "" && t.Eco == eco && (!languages.ByPackage(eco) || slices.Contains(tested, id.Package)) {
			sum += t.Elapsed
		}
	}
	return sum
}
