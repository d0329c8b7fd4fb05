package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// goEvent is a line of "go test -json" (https://pkg.go.dev/cmd/test2json);
// ImportPath and FailedBuild are of Go 1.24 and newer ("go help buildjson").
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// goStream turns the output of "go test -json" into results while it comes.
// It is an io.Writer for a command's standard output.
//
// A failure that was reported counts, whatever the program prints or exits with
// afterwards; a test whose end was not reported did not run. Both are marked where
// the package passes nevertheless, because libraries for suites run failing tests
// inside passing ones, which the gate compares with the base. A program that prints the framework's
// own lines with their framing can still make up results of its own tests.
type goStream struct {
	unit     string
	line     []byte
	long     bool // line is of one that is too long, of which nothing is read
	packages map[string]*goPackage
	builds   map[string]*strings.Builder // build output by import path
	other    strings.Builder             // lines that are no events, such as errors of the go command
}

type goPackage struct {
	result      Status // of the package itself; empty while it runs
	said        Status // what the test program itself says at its end; empty: it did not come to it
	failedBuild string
	elapsed     time.Duration
	output      tail
	tests       map[string]*goTest
}

type goTest struct {
	status   Status
	reported bool // the line that reports its end was printed
	elapsed  time.Duration
	output   tail
}

func newGoStream(unit string) *goStream {
	return &goStream{unit: unit, packages: map[string]*goPackage{}, builds: map[string]*strings.Builder{}}
}

// maxLine bounds a line that is being put together, so that a test that prints
// without end cannot fill memory. test2json cuts long lines far below it.
const maxLine = 4 << 20

func (g *goStream) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			g.take(p)
			return n, nil
		}
		g.take(p[:i])
		if !g.long {
			g.event(g.line)
		}
		g.line, g.long = g.line[:0], false
		p = p[i+1:]
	}
}

// take adds to the line that comes.
func (g *goStream) take(p []byte) {
	if g.long = g.long || len(g.line)+len(p) > maxLine; !g.long {
		g.line = append(g.line, p...)
	}
}

func (g *goStream) event(line []byte) {
	var e goEvent
	if len(line) == 0 {
		return
	}
	if line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action == "" {
		if g.other.Len() < outputKeep {
			g.other.Write(line)
			g.other.WriteByte('\n')
		}
		return
	}
	switch e.Action {
	case "build-output":
		b := g.builds[e.ImportPath]
		if b == nil {
			b = &strings.Builder{}
			g.builds[e.ImportPath] = b
		}
		if b.Len() < outputKeep {
			b.WriteString(e.Output)
		}
		return
	case "build-fail":
		return
	}
	p := g.pkg(e.Package)
	t := p.tests[e.Test]
	if e.Test == "" || t != nil && t.endsUnreported(e) {
		p.event(e)
		return
	}
	if t == nil {
		t = &goTest{}
		p.tests[e.Test] = t
	}
	t.event(e)
}

func (g *goStream) pkg(path string) *goPackage {
	p := g.packages[path]
	if p == nil {
		p = &goPackage{tests: map[string]*goTest{}}
		g.packages[path] = p
	}
	return p
}

// endsUnreported recognises the result of a package that test2json takes for that of
// the test that was running when the program ended.
func (t *goTest) endsUnreported(e goEvent) bool {
	return !t.reported && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip")
}

func (p *goPackage) event(e goEvent) {
	switch e.Action {
	case "output":
		p.output.add(e.Output)
		switch e.Output {
		case "PASS\n":
			p.said = Passed
		case "FAIL\n":
			p.said = Failed
		}
	case "pass":
		p.result = Passed
	case "skip":
		p.result = Skipped
	case "fail":
		p.result, p.failedBuild = Failed, e.FailedBuild
	}
	if e.Elapsed > 0 {
		p.elapsed = seconds(e.Elapsed)
	}
}

// event keeps the worst result of a test that runs several times, as with -count.
func (t *goTest) event(e goEvent) {
	result := Status("")
	switch e.Action {
	case "output":
		t.output.add(e.Output)
		t.reported = t.reported || strings.HasPrefix(strings.TrimLeft(e.Output, " "), "--- ")
	case "pass", "bench":
		result = Passed
	case "fail":
		result = Failed
	case "skip":
		result = Skipped
	}
	if result != "" && rank(result) > rank(t.status) {
		t.status = result
	}
	if e.Elapsed > 0 {
		t.elapsed = seconds(e.Elapsed)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (g *goStream) Rest() string { return g.other.String() }

// None is false: the go command reports each package, and one without tests as that.
func (g *goStream) None() bool { return false }

func (g *goStream) Gap() (why string, much bool) {
	if len(g.packages) == 0 {
		return NoTests, false
	}
	return "", false
}

func (g *goStream) Suite(evidence, wd string) Suite {
	if len(g.line) > 0 { // the last line need not have an end
		g.event(g.line)
		g.line = nil
	}
	s := Suite{}
	for path, p := range g.packages {
		g.addPackage(s, path, p, evidence, wd)
	}
	return s
}

func (g *goStream) addPackage(s Suite, path string, p *goPackage, evidence, wd string) {
	result := p.result
	if result == Passed && p.said == Failed {
		result = Failed // the program exits with success although its tests failed
	}
	failing := false
	for name, t := range p.tests {
		status := t.status
		if status == "" {
			status = NotRun
		}
		masked := result == Passed && p.said == Passed && (status == Failed || status == NotRun)
		failing = failing || status == Failed
		id := ID{Unit: g.unit, Package: path, Test: stableName(name)}
		out := ""
		if status == Failed {
			out = Clean(t.output.text(), wd)
		}
		merge(s, id, Test{Status: status, Output: out, Evidence: evidence, Elapsed: t.elapsed, Leaf: true, Masked: masked})
	}
	MarkParents(s, g.unit, path)
	id := ID{Unit: g.unit, Package: path}
	res := Test{Status: result, Evidence: evidence, Elapsed: p.elapsed, Cut: p.said == "" && result != Skipped, Ended: result}
	switch {
	case result == "":
		res.Status = NotRun
		res.Output = Clean(p.output.text(), wd)
	case result == Failed && !failing:
		res.Output = Clean(g.packageOutput(p), wd)
		res.Broken = p.failedBuild != "" || strings.Contains(p.output.text(), "[build failed]") || strings.Contains(p.output.text(), "[setup failed]")
	case result == Failed:
		res.Status = Passed // explained by its failing tests
	}
	s[id] = res
}

// packageOutput returns what explains a package's failure outside of its tests:
// what the compiler said, else what the program printed.
func (g *goStream) packageOutput(p *goPackage) string {
	if b := g.builds[p.failedBuild]; p.failedBuild != "" && b != nil {
		return b.String()
	}
	var b strings.Builder
	for _, name := range slices.Sorted(mapKeys(p.tests)) {
		if t := p.tests[name]; t.status == "" {
			b.WriteString(t.output.text())
		}
	}
	b.WriteString(p.output.text())
	return b.String()
}

func mapKeys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// stableName drops what moves when a row is inserted in a table of subtests:
// a subtest without a name is its parent's affair, and the number of a repeated
// name is dropped.
func stableName(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		base, num, ok := strings.Cut(p, "#")
		if !ok || len(num) < 2 || !digits(num) { // it has two digits at least, and "#1" is of the name
			continue
		}
		if base == "" {
			return strings.Join(parts[:i], "/")
		}
		parts[i] = base
	}
	return strings.Join(parts, "/")
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// merge puts a result in, the worse one where two share a name.
func merge(s Suite, id ID, t Test) {
	old, ok := s[id]
	if !ok || rank(t.Status) > rank(old.Status) {
		s[id] = t
		return
	}
	if rank(t.Status) == rank(old.Status) {
		old.Output, old.Retried = cmp.Or(old.Output, t.Output), old.Retried || t.Retried
		s[id] = old
	}
}

func rank(s Status) int {
	return slices.Index([]Status{Skipped, Passed, NotRun, Failed}, s)
}

// MarkParents takes the mark of a leaf from tests that have subtests.
func MarkParents(s Suite, unit, path string) {
	for id := range s {
		if id.Unit != unit || id.Package != path || id.Test == "" {
			continue
		}
		for up, ok := id.Parent(); ok; up, ok = up.Parent() {
			if t, have := s[up]; have && t.Leaf {
				t.Leaf = false
				s[up] = t
			}
		}
	}
}

// outputKeep is how much of one test's output is kept for people.
const outputKeep = 64 << 10

// tail keeps the first and the last half of outputKeep bytes that were added.
type tail struct {
	head, last []byte
	dropped    int
}

func (t *tail) add(s string) {
	if room := outputKeep/2 - len(t.head); room > 0 && len(t.last) == 0 {
		n := min(room, len(s))
		t.head = append(t.head, s[:n]...)
		s = s[n:]
	}
	if s == "" {
		return
	}
	t.last = append(t.last, s...)
	if over := len(t.last) - outputKeep/2; over > outputKeep/2 {
		t.dropped += over
		t.last = append(t.last[:0], t.last[over:]...)
	}
}

func (t *tail) text() string {
	if t.dropped == 0 {
		return string(t.head) + string(t.last)
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", t.head, t.dropped, t.last)
}

var _ io.Writer = (*goStream)(nil)

// Clean makes a test's output fit to be read: without the lines that only say
// that tests start and pause, and without the worktree's path.
func Clean(out, wd string) string {
	if wd != "" {
		out = strings.ReplaceAll(out, wd+"/", "")
	}
	var keep []string
	for line := range strings.Lines(out) {
		switch {
		case strings.HasPrefix(line, "=== RUN "), strings.HasPrefix(line, "=== PAUSE "),
			strings.HasPrefix(line, "=== CONT "), strings.HasPrefix(line, "=== NAME "):
		default:
			keep = append(keep, line)
		}
	}
	return strings.TrimRight(strings.Join(keep, ""), "\n")
}

// GoTest collects from "go test -json".
func GoTest(unit string) Collector { return newGoStream(unit) }
