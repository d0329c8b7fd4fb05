package ecosystem

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Variants are test programs that are compiled once and run many times: for each mutant
// that a source holds, and for each test by itself.
type Variants struct {
	// Build compiles the test programs of packages as their sources stand, and prints what
	// the compiler says; with counted packages, so that their lines are counted.
	Build func(c Command, tested, counted []Package) Command

	// Run runs the programs.
	Run func(c Command, tested []Package, how VariantRun) Command

	// Each runs tests, each by itself, in programs that count lines.
	Each func(c Command, tests []VariantTest, limit time.Duration) (Command, *EachCounts)
}

// ExitUnbuilt is the exit code of a command whose programs are not there.
const ExitUnbuilt = 97

// A VariantRun is how programs run.
type VariantRun struct {
	Setting string // "NAME=value", which the programs see
	Tests   map[string][]string
	Limit   time.Duration
	First   bool // up to the first failure
}

// A VariantTest is a top-level test of a package.
type VariantTest struct {
	Package Package
	Test    string
}

// goVariants does so with the programs that "go test" makes.
func goVariants() *Variants {
	return &Variants{
		Build: func(c Command, tested, counted []Package) Command {
			flags := slices.Concat(c.Flags, []string{"-vet=off"})
			if !slices.ContainsFunc(c.Flags, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, "-"), "gcflags") }) {
				flags = append(flags, "-gcflags=-e") // all errors
			}
			if len(counted) > 0 {
				flags = append(flags, "-cover", "-coverpkg="+strings.Join(importPaths(counted), ","))
			}
			script := "status=0\n"
			for _, p := range tested {
				call := slices.Concat([]string{"go", "test", "-c"}, flags, []string{"-o"})
				script += fmt.Sprintf("command -p mkdir -p %s && %s %s %s || status=1\n", path.Dir(testProgram(p, len(counted) > 0)), quoted(call...), testProgram(p, len(counted) > 0), quoted(p.ImportPath))
			}
			c.Text = "go test -c " + strings.Join(slices.Concat(flags, importPaths(tested)), " ")
			c.Argv = []string{"bash", "--noprofile", "--norc", "-c", "exec 2>&1\n" + script + "exit $status"}
			c.Results = nil
			return c
		},
		Run: func(c Command, tested []Package, how VariantRun) Command {
			script, own := "status=0\n", programFlags(c.Flags)
			var texts []string
			for _, p := range tested {
				if names, ok := how.Tests[p.ImportPath]; ok && len(names) == 0 {
					continue // none of its tests
				}
				flags := slices.Concat([]string{"-test.paniconexit0", "-test.v=true", "-test.timeout=" + how.Limit.String()}, own)
				if how.First {
					flags = append(flags, "-test.failfast")
				}
				if names := how.Tests[p.ImportPath]; len(names) > 0 && !selects(c.Flags) {
					flags = append(flags, "-test.run="+exactly(names))
				}
				script += "printf '%s\\n' " + quoted(packageMark+" "+p.ImportPath) + "\n" + inProgram(c.Unit, p, false, flags, "") + " || status=1\n"
				texts = append(texts, path.Base(p.ImportPath)+".test "+strings.Join(flags, " "))
			}
			c.Text = how.Setting + " " + strings.Join(texts, "; ")
			c.Argv = []string{"bash", "--noprofile", "--norc", "-c", "export " + how.Setting + "\n" + script + "exit $status"}
			c.Results = &Results{Name: "lines of test programs", Collect: func(unit string) Collector { return newProgramStream(unit) }}
			return c
		},
		Each: func(c Command, tests []VariantTest, limit time.Duration) (Command, *EachCounts) {
			script, own := "COUNTS=$(command -p mktemp) || exit 1\n", programFlags(c.Flags)
			for _, t := range tests {
				flags := slices.Concat([]string{"-test.paniconexit0", "-test.timeout=" + limit.String(), "-test.run=" + exactly([]string{t.Test})}, own)
				script += "command -p rm -f \"$COUNTS\"\n" + inProgram(c.Unit, t.Package, true, flags, " -test.coverprofile=\"$COUNTS\" >/dev/null") +
					"\nprintf '%s %s %s\\n' " + quoted(testMark) + " $? " + quoted(t.Package.ImportPath+" "+t.Test) + "; command -p cat \"$COUNTS\" 2>/dev/null\n"
			}
			c.Text = fmt.Sprintf("each of %s by itself: %s", Count(len(tests), "test", "tests"), Listed(testNames(tests), 3))
			c.Argv = []string{"bash", "--noprofile", "--norc", "-c", script + "command -p rm -f \"$COUNTS\""}
			c.Results = nil
			return c, &EachCounts{Tests: map[ID]*LineCounts{}, unit: c.Unit}
		},
	}
}

func testNames(tests []VariantTest) []string {
	var out []string
	for _, t := range tests {
		out = append(out, t.Test)
	}
	return out
}

func importPaths(pkgs []Package) []string {
	var out []string
	for _, p := range pkgs {
		out = append(out, p.ImportPath)
	}
	return out
}

// testProgram is where the program of a package is, as a shell takes it: in HOME, where no
// test looks for sources.
func testProgram(p Package, counted bool) string {
	kind := "plain"
	if counted {
		kind = "counted"
	}
	return `"$HOME"/` + quoted(".test-programs/"+kind+"/"+strings.ReplaceAll(p.ImportPath, "/", "_")+"/"+path.Base(p.ImportPath)+".test")
}

// inProgram runs the program of a package in its folder, with more behind the flags.
func inProgram(unit string, p Package, counted bool, flags []string, more string) string {
	program := testProgram(p, counted)
	dir := p.Dir
	if unit != "." {
		dir = cmp.Or(strings.TrimPrefix(strings.TrimPrefix(dir, unit), "/"), ".")
	}
	return fmt.Sprintf("[ -x %s ] || exit %d\n( cd ./%s && exec %s %s%s </dev/null )", program, ExitUnbuilt, quoted(dir), program, quoted(flags...), more)
}

// programFlags are the flags of "go test" that are for the program, as it takes them.
func programFlags(flags []string) []string {
	var out []string
	for i := 0; i < len(flags); i++ {
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimLeft(flags[i], "-"), "test."), "=")
		if !has && !slices.Contains(goSwitches, name) && i+1 < len(flags) {
			i++
			value, has = flags[i], true
		}
		switch name {
		case "short":
			out = append(out, "-test.short="+map[bool]string{true: value, false: "true"}[has])
		case "parallel", "cpu", "run", "skip":
			out = append(out, "-test."+name+"="+value)
		}
	}
	return out
}

// selects says whether flags choose tests already.
func selects(flags []string) bool {
	return slices.ContainsFunc(programFlags(flags), func(f string) bool { return strings.HasPrefix(f, "-test.run=") })
}

// exactly is the expression for these top-level tests.
func exactly(names []string) string {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return Only(set)
}

const (
	packageMark = "=== PACKAGE"
	testMark    = "=== TEST"
)

// programStream reads what test programs print with -test.v: which tests began, and how
// they ended.
type programStream struct {
	unit, pkg string
	line      []byte
	tests     Suite
}

func newProgramStream(unit string) *programStream {
	return &programStream{unit: unit, tests: Suite{}}
}

// Write implements io.Writer.
func (s *programStream) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		if len(s.line) < maxLine {
			s.line = append(s.line, part...)
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			s.take(string(bytes.TrimRight(s.line, "\r\n")))
			s.line = s.line[:0]
		}
	}
	return len(p), nil
}

// programLine is a line about a test, which may stand behind what a test printed.
var programLine = pattern.New(`(=== RUN  |--- (?:PASS|FAIL|SKIP):) (\S+)(?: \([0-9.]+s\))?$`)

func (s *programStream) take(line string) {
	if name, ok := strings.CutPrefix(line, packageMark+" "); ok {
		s.pkg = name
		return
	}
	m := programLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	id := ID{Unit: s.unit, Package: s.pkg, Test: m[2]}
	switch m[1] {
	case "--- PASS:":
		s.tests[id] = Test{Status: Passed}
	case "--- SKIP:":
		s.tests[id] = Test{Status: Skipped}
	default: // one that began has failed where its end is not reported
		s.tests[id] = Test{Status: Failed}
	}
}

// Suite implements [Collector].
func (s *programStream) Suite(evidence, _ string) Suite {
	s.take(string(s.line))
	s.line = nil
	inner := map[ID]bool{}
	for id := range s.tests {
		for name := id.Test; strings.Contains(name, "/"); {
			name = name[:strings.LastIndexByte(name, '/')]
			inner[ID{Unit: id.Unit, Package: id.Package, Test: name}] = true
		}
	}
	for id, t := range s.tests {
		t.Evidence, t.Leaf = evidence, !inner[id]
		s.tests[id] = t
	}
	return s.tests
}

// Rest implements [Collector].
func (s *programStream) Rest() string { return "" }

// Gap implements [Collector].
func (s *programStream) Gap() (why string, much bool) { return "", false }

// None implements [Collector].
func (s *programStream) None() bool { return false }

// EachCounts reads which lines each test runs by itself.
type EachCounts struct {
	Tests map[ID]*LineCounts // of those that pass
	unit  string
	line  []byte
	now   *LineCounts
}

// Write implements io.Writer.
func (e *EachCounts) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		if len(e.line) < maxLine {
			e.line = append(e.line, part...)
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			e.take(string(bytes.TrimRight(e.line, "\r\n")))
			e.line = e.line[:0]
		}
	}
	return len(p), nil
}

func (e *EachCounts) take(line string) {
	rest, ok := strings.CutPrefix(line, testMark+" ")
	if !ok {
		if e.now != nil {
			e.now.count(line)
		}
		return
	}
	e.now = nil
	if f := strings.Fields(rest); len(f) == 3 && f[0] == "0" {
		e.now = newLineCounts(nil)
		e.Tests[ID{Unit: e.unit, Package: f[1], Test: f[2]}] = e.now
	}
}
