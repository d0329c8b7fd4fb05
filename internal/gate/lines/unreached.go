package lines

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Bounds of what is counted beside the changed lines.
const (
	maxChecking      = 100     // files of tests
	maxCheckingBytes = 1 << 20 // of all of them
)

// checking are files of tests that the first arm has as the base has them, with the lines on which
// they check something.
func (e *counting) checking(eco *ecosystem.Ecosystem) []ecosystem.ChangedFile {
	plan := e.on.Sides.Plans[results.Base]
	if plan == nil || eco.Lines == nil || eco.Lines.Tests == nil {
		return nil
	}
	counted := func(name string) bool {
		return slices.ContainsFunc(plan.Test, func(c ecosystem.Command) bool { return eco.Lines.Tests(c, name) })
	}
	var out []ecosystem.ChangedFile
	size := 0
	for _, name := range plan.Files {
		tests := eco.IsSource(name) && (languages.IsTestSource(name) || classes.InTestFolder(name))
		if !tests || ecosystem.IgnoredDir(path.Dir(name)) || !e.asOnBase(name) || !counted(name) {
			continue
		}
		src, err := ecosystem.ReadInTree(e.on.Sides.Base.Dir, name)
		if err != nil {
			continue
		}
		lines := map[int]bool{}
		for i, text := range strings.Split(string(src), "\n") {
			if checkingLine.MatchString(text) {
				lines[i+1] = true
			}
		}
		if size += len(src); len(lines) > 0 && size <= maxCheckingBytes && len(out) < maxChecking {
			out = append(out, ecosystem.ChangedFile{Path: name, Src: src, Lines: lines})
		}
	}
	return out
}

// checkingLine is one on which a test in Python or JavaScript checks something.
var checkingLine = pattern.New(`\b(?i:assert|verify|check)\w*[ .(]|\bexpect\(|\.should\b|[rR]aises\w*\(|\bt\.[a-z]\w*\(`)

// asOnBase says whether the first arm has a file of tests as the base has it, and all that tests check
// in that arm holds.
func (e *counting) asOnBase(name string) bool {
	if x := e.in.Expectations; e.keepsTests() {
		return x != nil && len(x.Changed) == 0
	}
	_, changed := e.on.Sides.Texts[name]
	return !changed
}

// A lapse is how a check of the base's tests no longer counts over the head, though its test passes there,
// too.
type lapse struct {
	says string // of the checks, for people
	// of are the lines of a file that are known after runs of one side, and whether they lapse there.
	of func(seen []*results.LineCounts, f ecosystem.ChangedFile) map[int]bool
}

// lapses are the ways to it: a condition, a loop or a call takes the course that the product gives it; and
// something takes the failure from the test, as what calls a function that the test hands to it may do.
func lapses() []lapse {
	return []lapse{
		{"checks that tests reach on the base and not over the head", unreachedOf},
		{"checks that fail over the head and not on the base, in tests that pass all the same", failedOf},
	}
}

// unreached names what tests check on the base, and not over the head, though they pass there too.
func (e *counting) unreached(ctx context.Context, eco *ecosystem.Ecosystem, files []ecosystem.ChangedFile, head []*results.LineCounts) error {
	evidence := e.executed.Evidence // of the changed lines
	defer func() { e.executed.Evidence = evidence }()
	ways := lapses()
	found := make([][]ecosystem.ChangedFile, len(ways))
	some := false
	narrow := func(base []*results.LineCounts) {
		some = false
		for i, w := range ways {
			found[i] = w.lapsed(found[i], base, head)
			some = some || len(found[i]) > 0
		}
	}
	for i := range ways {
		found[i] = files
	}
	if narrow(nil); !some {
		return nil
	}
	onBase := func() ([]*results.LineCounts, bool, error) {
		return e.countIn(ctx, e.on.Plain(results.Base, results.StageProbe, e.on.Sides.Plans[results.Base].Test), eco, files, nil)
	}
	base, ok, err := onBase()
	if err != nil || !ok {
		return err
	}
	if narrow(base); !some {
		return nil
	}
	// A line can run at random: once more on both sides, as far as there is time.
	if base, ok, err = onBase(); err != nil {
		return err
	}
	if ok {
		all, err := e.arms(ctx)
		if err != nil {
			return err
		}
		if head, ok, err = e.countIn(ctx, all[0], eco, files, nil); err != nil {
			return err
		}
		if ok {
			narrow(base)
		}
	}
	for i, w := range ways {
		if lines := quoted(found[i]); len(lines) > 0 {
			what := w.says + ": " + results.Listed(lines, 3)
			e.out.NotCovered = append(e.out.NotCovered, what)
			e.out.Asks = append(e.out.Asks, what)
		}
	}
	return nil
}

// lapsed are the files with those of their lines that lapse over the head and do not on the base; a base
// of nil did not run yet.
func (w lapse) lapsed(files []ecosystem.ChangedFile, base, head []*results.LineCounts) []ecosystem.ChangedFile {
	var out []ecosystem.ChangedFile
	for _, f := range files {
		lines, before := map[int]bool{}, w.of(base, f)
		for n, over := range w.of(head, f) {
			if was, known := before[n]; over && (base == nil || known && !was) {
				lines[n] = true
			}
		}
		if f.Lines = lines; len(lines) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func unreachedOf(seen []*results.LineCounts, f ecosystem.ChangedFile) map[int]bool {
	out := linesCounted(seen, f)
	for n, ran := range out {
		out[n] = !ran
	}
	return out
}

func failedOf(seen []*results.LineCounts, f ecosystem.ChangedFile) map[int]bool {
	out := map[int]bool{}
	for n := range f.Lines {
		out[n] = slices.ContainsFunc(seen, func(c *results.LineCounts) bool { return c.FailedOn(f.Path, n) })
	}
	return out
}

// quoted are the lines of files with their places, in order.
func quoted(files []ecosystem.ChangedFile) []string {
	var lines []string
	for _, f := range files {
		text := strings.Split(string(f.Src), "\n")
		for n := range f.Lines {
			lines = append(lines, fmt.Sprintf("%s:%d `%s`", f.Path, n, strings.TrimSpace(text[n-1])))
		}
	}
	slices.Sort(lines)
	return lines
}

// linesCounted are those of a file of tests that can run, and whether they did, by runs that loaded
// it and count it whole.
func linesCounted(seen []*results.LineCounts, f ecosystem.ChangedFile) map[int]bool {
	out := map[int]bool{}
	for _, c := range seen {
		if why := c.Missed(); !c.Knows[f.Path] || why != "" && why != ecosystem.OtherPrograms {
			continue
		}
		for n := range f.Lines {
			if ran, can := c.Line(f.Path, n); can {
				out[n] = out[n] || ran
			}
		}
	}
	return out
}
