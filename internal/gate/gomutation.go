package gate

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// goTrials makes the mutants of changed lines in Go that tests run: which those
// are is told by the coverage of the changed packages' own tests, or, where they
// have none, of tests that use them.
func (m *mutator) goTrials(ctx context.Context, files []changedFile) ([]*trial, error) {
	files = slices.DeleteFunc(slices.Clone(files), func(f changedFile) bool { return path.Ext(f.path) != ".go" })
	if len(files) == 0 || m.goTools() == nil || len(m.packages) == 0 {
		return nil, nil
	}
	byUnit := map[string][]string{}
	for _, p := range m.probed() {
		if took := m.suites[Head][ID{Unit: p.unit, Package: p.ImportPath}].Elapsed; took > slowTests {
			m.notCovered("mutation of %s: its tests take %s", p.ImportPath, took.Round(1e9))
			continue
		}
		byUnit[p.unit] = append(byUnit[p.unit], p.ImportPath)
	}
	var out []*trial
	for _, unit := range slices.Sorted(maps.Keys(byUnit)) {
		slices.Sort(byUnit[unit])
		more, err := m.goUnit(ctx, unit, byUnit[unit], files)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// goUnit does so in one module.
func (m *mutator) goUnit(ctx context.Context, unit string, pkgs []string, files []changedFile) ([]*trial, error) {
	commands := m.goTests(Head, unit, StageMutation)
	if len(commands) == 0 {
		return nil, nil
	}
	plain := commands[0]
	own := m.owners(files)
	covering := slices.Concat([]string{"-count=1"}, coverPackages(own, pkgs), pkgs)
	cover := newCoverage(plain.results.collect(unit))
	c := covered(plain.goTest(covering...))
	c.stage, c.timeout = StageMutation, m.Limits.step()
	if err := m.reset(ctx, Head); err != nil {
		return nil, err
	}
	step, err := m.exec(ctx, Head, m.in.Head, c, cover)
	if err != nil {
		return nil, err
	}
	baseline := m.collected(Head, m.in.Head, c, cover, step)
	if !anyPassed(baseline) || len(cover.ran) == 0 {
		m.notCovered("mutation of the changed lines: their tests say nothing when they are counted (%s)", cmpFirst(step.Output, "no lines were counted"))
		return nil, nil
	}
	m.out.Command = step.Command
	m.out.Evidence = append(m.out.Evidence, step.Evidence)
	groups := map[string]*testGroup{}
	var mine []changedFile
	for _, f := range files {
		p, ok := own[f.path]
		if !ok || !m.mutableHere(p, f, cover) {
			continue
		}
		mine = append(mine, f)
		if groups[p.ImportPath] == nil {
			groups[p.ImportPath] = m.goGroup(plain, p, pkgs, baseline, step)
		}
	}
	return interleave(mine, func(f changedFile) *testGroup { return groups[own[f.path].ImportPath] }), nil
}

// owners are the packages that changed files are compiled into.
func (m *mutator) owners(files []changedFile) map[string]goPackageInfo {
	out := map[string]goPackageInfo{}
	for _, f := range files {
		for _, p := range m.packages {
			if p.Dir == path.Dir(f.path) && (slices.Contains(p.GoFiles, path.Base(f.path)) || slices.Contains(p.CgoFiles, path.Base(f.path))) {
				out[f.path] = p
			}
		}
	}
	return out
}

// coverPackages counts the changed packages' lines also where other packages'
// tests run them, because they have none of their own.
func coverPackages(own map[string]goPackageInfo, tested []string) []string {
	var names []string
	for _, p := range own {
		if slices.Contains(tested, p.ImportPath) {
			return nil // each package's own tests are meant to notice
		}
		names = append(names, p.ImportPath)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []string{"-coverpkg=" + strings.Join(slices.Compact(names), ",")}
}

// mutableHere narrows f to its lines that a test runs, and notes the others.
func (m *mutator) mutableHere(p goPackageInfo, f changedFile, cover *coverage) bool {
	name := path.Join(p.ImportPath, path.Base(f.path))
	if !cover.knows[name] {
		return false // not compiled in these tests, such as a file for another system
	}
	some := false
	for line := range f.lines {
		ran, statement := cover.line(name, line)
		switch {
		case ran:
			some = true
		case statement:
			m.out.Unrun[f.path] = append(m.out.Unrun[f.path], line)
			fallthrough
		default:
			delete(f.lines, line)
		}
	}
	return some
}

// goGroup is the test of a package's mutants.
func (m *mutator) goGroup(plain command, p goPackageInfo, pkgs []string, baseline Suite, step Step) *testGroup {
	tested := []string{p.ImportPath}
	if !slices.Contains(pkgs, p.ImportPath) {
		tested = pkgs
	}
	g := &testGroup{baseline: baseline, evidence: step.Evidence, parallel: true}
	for _, q := range tested {
		g.took += m.suites[Head][ID{Unit: p.unit, Package: q}].Elapsed
	}
	args := []string{"-count=1", "-vet=off", "-timeout=" + (5*g.took + mutantGrace).Round(1e9).String()}
	if !anyFailed(baseline) {
		args = append(args, "-failfast")
	}
	g.command = plain.goTest(append(args, tested...)...)
	return g
}

// covered writes the counts of lines behind the results. They come by standard
// output, so that they are in the evidence.
func covered(c command) command {
	const file = `"$HOME/cover.out"`
	c.text = strings.Replace(shellWords(c), "-json", "-json -coverprofile="+file, 1) + `; code=$?; cat ` + file + `; exit $code`
	c.argv = []string{"bash", "--noprofile", "--norc", "-c", c.text}
	return c
}

// A coverage passes results on and keeps the counts of lines.
type coverage struct {
	collector
	take  func(line string) bool // whether a line is counts, which it takes; nil: those of Go
	part  []byte
	knows map[string]bool         // files that were counted
	lines map[string]map[int]bool // statements by file: whether they ran
	ran   map[string]bool         // files of which a line ran
}

func newCoverage(c collector) *coverage {
	return &coverage{collector: c, knows: map[string]bool{}, lines: map[string]map[int]bool{}, ran: map[string]bool{}}
}

// Write implements io.Writer.
func (c *coverage) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			if len(c.part)+len(p) <= maxLine {
				c.part = append(c.part, p...)
			}
			return n, nil
		}
		line := append(c.part, p[:i+1]...)
		if !c.took(string(line)) {
			if _, err := c.collector.Write(line); err != nil {
				return 0, err
			}
		}
		c.part, p = c.part[:0], p[i+1:]
	}
}

func (c *coverage) took(line string) bool {
	if c.take != nil {
		return c.take(line)
	}
	return c.count(line)
}

// count takes a line of a cover profile: "file:from.column,to.column statements times".
func (c *coverage) count(line string) bool {
	if line == "" || line[0] == '{' || len(line) > 4096 {
		return false
	}
	if strings.HasPrefix(line, "mode: ") {
		return true
	}
	at := strings.LastIndexByte(line, ':')
	if at < 0 {
		return false
	}
	var from, to, a, b, statements, times int
	if n, err := fmt.Sscanf(line[at+1:], "%d.%d,%d.%d %d %d", &from, &a, &to, &b, &statements, &times); n != 6 || err != nil || to-from > maxBlock {
		return false
	}
	name := line[:at]
	c.knows[name] = true
	if c.lines[name] == nil {
		c.lines[name] = map[int]bool{}
	}
	for l := from; l <= to; l++ {
		c.lines[name][l] = c.lines[name][l] || times > 0
	}
	if times > 0 {
		c.ran[name] = true
	}
	return true
}

// maxBlock bounds the lines of one block of a profile.
const maxBlock = 100_000

// line says whether a line of a file ran, and whether it is one that can.
func (c *coverage) line(name string, n int) (ran, statement bool) {
	ran, statement = c.lines[name][n]
	return ran, statement
}

func cmpFirst(output, otherwise string) string {
	if line := firstLine(output); line != "" {
		return strconv.Quote(line)
	}
	return otherwise
}
