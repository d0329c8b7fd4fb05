package gate

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Executed is which of the changed lines tests ran. It changes no verdict: the title
// says where none did, or none of the base's.
type Executed struct {
	Lines int `json:"lines"` // changed lines that can run
	Ran   int `json:"ran"`   // of these, that tests ran
	// OwnOnly says of a change from outside that no test of the base runs any of them.
	OwnOnly  bool     `json:"own_only"`
	Evidence []string `json:"evidence"`
}

// lineCounts is how an ecosystem finds out which lines its tests run.
type lineCounts struct {
	// command returns c so that it counts, false where its runner cannot.
	command func(c command, q counting) (command, bool)
	// reader takes the counts from what such a command writes, and passes the results on.
	reader func(c collector, q counting) *coverage
	// knows says whether the lines of a file can be counted.
	knows func(name string) bool
}

// A counting is what is to be counted in one folder of commands.
type counting struct {
	unit  string
	files []changedFile
	// own are the packages of files of Go, and tested those whose tests run.
	own    map[string]goPackageInfo
	tested []string
}

// Bounds of counting: the part of the time that is left, and how much at most.
const (
	linesShare = 8
	linesMost  = 3 * time.Minute
)

// lines is how long counting may take.
func (l Limits) lines(left time.Duration) time.Duration {
	if l.Lines != 0 {
		return l.Lines
	}
	return min(left/linesShare, linesMost)
}

// executed finds out whether tests run the changed lines: those of the base over the
// head's sources and, where these run none, those of the head. It is left out where the
// change fails anyway.
func (r *runner) executed(ctx context.Context) error {
	budget := r.Limits.lines(r.left(ctx))
	if budget < 0 || !r.res.Runnable || r.facts.Unprepared != "" || r.fails() {
		return nil
	}
	files, err := r.mutable(ctx)
	if err != nil || len(files) == 0 {
		return err
	}
	e := &executedLines{runner: r, until: r.Now().Add(budget), out: &Executed{}}
	known := true
	for _, eco := range ecosystems() {
		var mine []changedFile
		for _, f := range files {
			if eco.isSource != nil && eco.isSource(f.path) {
				mine = append(mine, f)
			}
		}
		if len(mine) == 0 {
			continue
		}
		ok, err := e.count(ctx, eco, mine)
		if err != nil {
			return err
		}
		if !ok {
			r.notCovered("which of the changed lines tests run: not measured in %s", eco.name)
		}
		known = known && ok
	}
	if known && e.out.Lines > 0 {
		e.out.OwnOnly = r.in.BaseCommands && e.out.Ran > 0 && !e.base
		r.res.Executed = e.out
	}
	return nil
}

// executedLines is the counting of one change.
type executedLines struct {
	*runner
	until time.Time
	out   *Executed
	base  bool // tests of the base run a changed line, or may do so
	// uncounted says that tests of the last arm were left out, for time or because they
	// could not start: they may run a changed line.
	uncounted bool
}

// count does so for the files of an ecosystem; false where it cannot be known.
func (e *executedLines) count(ctx context.Context, eco *ecosystem, files []changedFile) (bool, error) {
	if eco.counts == nil || slices.ContainsFunc(files, func(f changedFile) bool { return !eco.counts.knows(f.path) }) {
		return false, nil
	}
	arms, err := e.arms(ctx)
	if err != nil {
		return false, err
	}
	for i, a := range arms {
		total, ran, ok, err := e.countIn(ctx, a, eco, files)
		if err != nil {
			return false, err
		}
		last := i == len(arms)-1
		if !ok && (last || ctx.Err() != nil) {
			return false, nil
		}
		if i == 0 && (ran > 0 || e.uncounted) {
			e.base = true
		}
		if last || ok && ran > 0 {
			e.out.Lines, e.out.Ran = e.out.Lines+total, e.out.Ran+ran
			return true, nil
		}
	}
	return false, nil
}

// arms are what is run until one runs a changed line: of a change from outside the
// base's tests over its sources first, then its own.
func (e *executedLines) arms(ctx context.Context) ([]*arm, error) {
	own := &arm{r: e.runner, side: Head, stage: StageProbe, tests: e.plan[Head].test, left: map[string]string{}}
	if !e.in.BaseCommands || len(e.touched) == 0 {
		return []*arm{own}, nil
	}
	kept := e.keptArm
	if kept == nil { // what is touched reaches no test of the base
		var err error
		if kept, err = e.keeper().newArm(ctx, func(touch) bool { return true }); err != nil {
			return nil, err
		}
	}
	kept.stage, kept.evidence = StageProbe, nil
	return []*arm{kept, own}, nil
}

// countIn counts in one arm: the changed lines that can run, and those that did.
func (e *executedLines) countIn(ctx context.Context, a *arm, eco *ecosystem, files []changedFile) (total, ran int, ok bool, err error) {
	var seen []*coverage
	own := map[string]goPackageInfo{}
	for _, f := range files {
		for _, p := range e.packages {
			if p.Dir == path.Dir(f.path) {
				own[f.path] = p // also where the file is for another system
			}
		}
	}
	if err := a.lay(ctx); err != nil {
		return 0, 0, false, err
	}
	e.uncounted = false
	for _, c := range a.tests {
		q := counting{unit: c.unit, own: own, tested: e.countedPackages(c.unit)}
		for _, f := range files {
			if inside(c.unit, f.path) {
				q.files = append(q.files, f)
			}
		}
		if c.eco != eco.name || c.results == nil || len(q.files) == 0 {
			continue
		}
		left := e.until.Sub(e.Now())
		counting, can := eco.counts.command(c, q)
		if !can || left <= 0 || e.tookTests(eco.name, c.unit, q.tested) > left/2 {
			e.uncounted = true
			continue
		}
		counting.stage, counting.timeout = a.stage, min(left, e.Limits.step())
		cover := eco.counts.reader(c.results.collect(c.unit), q)
		step, err := e.exec(ctx, a.side, e.tree(a.side), counting, cover)
		if err != nil {
			return 0, 0, false, errors.Join(err, a.close(context.WithoutCancel(ctx)))
		}
		if s := e.collected(a.side, e.tree(a.side), counting, cover, step); !step.TimedOut && anyRan(s) {
			seen = append(seen, cover)
			e.out.Evidence = append(e.out.Evidence, step.Evidence)
		} else if step.Failed() {
			e.uncounted = true
		}
	}
	if err := a.close(ctx); err != nil {
		return 0, 0, false, err
	}
	for _, f := range files {
		name := f.path
		if p, ok := own[f.path]; ok {
			name = path.Join(p.ImportPath, path.Base(f.path))
		}
		t, n := linesRan(seen, name, f)
		total, ran = total+t, ran+n
	}
	return total, ran, len(seen) > 0, nil
}

// linesRan counts the changed lines of a file that can run, and those that did. A file
// that no run knows was not compiled or loaded: all of its code is what did not run.
func linesRan(seen []*coverage, name string, f changedFile) (total, ran int) {
	text := strings.Split(string(f.src), "\n")
	known := slices.ContainsFunc(seen, func(c *coverage) bool { return c.knows[name] })
	for n := range f.lines {
		statement, did := !known && n > 0 && n <= len(text) && codeLine(text[n-1]), false
		for _, c := range seen {
			now, can := c.line(name, n)
			statement, did = statement || can, did || now
		}
		total, ran = total+b2i(statement), ran+b2i(did)
	}
	return total, ran
}

// codeLine says whether a line of a language with braces has more than a comment or
// brackets.
func codeLine(text string) bool {
	text = strings.TrimSpace(text)
	for _, comment := range []string{"//", "/*", "*"} {
		if strings.HasPrefix(text, comment) {
			return false
		}
	}
	return strings.Trim(text, "{}()[];, \t") != ""
}

// countedPackages are the tested packages of Go that the change can affect: the changed
// ones first.
func (e *executedLines) countedPackages(unit string) []string {
	var out []string
	for _, p := range e.probed() {
		if p.unit == unit {
			out = append(out, p.ImportPath)
		}
	}
	for _, p := range e.packages {
		if _, ran := e.suites[Head][ID{Unit: p.unit, Package: p.ImportPath}]; ran && p.unit == unit && p.hasTests() && e.affected[p.ImportPath] && !slices.Contains(out, p.ImportPath) && len(out) < maxCounted {
			out = append(out, p.ImportPath)
		}
	}
	return out
}

// maxCounted bounds the packages of Go whose tests run once more.
const maxCounted = 30

// tookTests is how long the tests took on the head that are run again.
func (e *executedLines) tookTests(eco, unit string, tested []string) time.Duration {
	var sum time.Duration
	for id, t := range e.suites[Head] {
		if id.Unit == unit && id.Test == "" && id.Package != "" && t.Eco == eco && (eco != "Go" || slices.Contains(tested, id.Package)) {
			sum += t.Elapsed
		}
	}
	return sum
}

// goLineCounts reads the profile of "go test -coverprofile".
func goLineCounts() *lineCounts {
	return &lineCounts{
		knows: func(name string) bool { return path.Ext(name) == ".go" },
		command: func(c command, q counting) (command, bool) {
			var pkgs []string
			for _, p := range q.own {
				if p.unit == q.unit {
					pkgs = append(pkgs, p.ImportPath)
				}
			}
			if len(pkgs) == 0 || len(q.tested) == 0 {
				return c, false
			}
			slices.Sort(pkgs)
			args := []string{"-count=1", "-vet=off", fmt.Sprintf("-coverpkg=%s", strings.Join(slices.Compact(pkgs), ","))}
			return covered(c.goTest(append(args, q.tested...)...)), true
		},
		reader: func(c collector, _ counting) *coverage { return newCoverage(c) },
	}
}
