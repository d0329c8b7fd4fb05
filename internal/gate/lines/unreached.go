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

// unreached names what tests check on the base, and not over the head, though they pass there too:
// by a condition, a loop or a call whose course is the product's.
func (e *counting) unreached(ctx context.Context, eco *ecosystem.Ecosystem, files []ecosystem.ChangedFile, head []*results.LineCounts) error {
	files = slices.DeleteFunc(files, func(f ecosystem.ChangedFile) bool {
		lines := linesCounted(head, f)
		return numTrue(lines) == len(lines)
	})
	if len(files) == 0 {
		return nil
	}
	evidence := e.executed.Evidence // of the changed lines
	defer func() { e.executed.Evidence = evidence }()
	onBase := func(files []ecosystem.ChangedFile) ([]*results.LineCounts, bool, error) {
		return e.countIn(ctx, e.on.Plain(results.Base, results.StageProbe, e.on.Sides.Plans[results.Base].Test), eco, files, nil)
	}
	base, ok, err := onBase(files)
	if err != nil || !ok {
		return err
	}
	files = unreachedLines(files, base, head)
	if len(files) == 0 {
		return nil
	}
	// A line can run at random: once more on both sides, as far as there is time.
	if base, ok, err = onBase(files); err != nil {
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
			files = unreachedLines(files, base, head)
		}
	}
	var lines []string
	for _, f := range files {
		text := strings.Split(string(f.Src), "\n")
		for n := range f.Lines {
			lines = append(lines, fmt.Sprintf("%s:%d `%s`", f.Path, n, strings.TrimSpace(text[n-1])))
		}
	}
	if len(lines) > 0 {
		slices.Sort(lines)
		what := "checks that tests reach on the base and not over the head: " + results.Listed(lines, 3)
		e.out.NotCovered = append(e.out.NotCovered, what)
		e.out.Asks = append(e.out.Asks, what)
	}
	return nil
}

// unreachedLines are the files with those of their lines that ran on the base and not over the head.
func unreachedLines(files []ecosystem.ChangedFile, base, head []*results.LineCounts) []ecosystem.ChangedFile {
	var out []ecosystem.ChangedFile
	for _, f := range files {
		lines, over := map[int]bool{}, linesCounted(head, f)
		for n, ran := range linesCounted(base, f) {
			if reached, known := over[n]; ran && known && !reached {
				lines[n] = true
			}
		}
		if f.Lines = lines; len(lines) > 0 {
			out = append(out, f)
		}
	}
	return out
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
