package results

import (
	"bytes"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// What stands before the results of a package, and before the counts of a test.
const (
	PackageMark = "=== PACKAGE"
	TestMark    = "=== TEST"
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
	if name, ok := strings.CutPrefix(line, PackageMark+" "); ok {
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

// GoPrograms collects from test programs, each behind a line of [PackageMark].
func GoPrograms(unit string) Collector { return newProgramStream(unit) }
