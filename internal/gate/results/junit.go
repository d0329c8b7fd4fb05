package results

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/joshdk/go-junit"

	"github.com/ycbot/ycbot/internal/pattern"
)

// maxDepth is how deep elements of a document of results may lie in one another.
const maxDepth = 32

// A junitStyle is how a runner uses JUnit XML: what names a test's package, and
// what the test. suites are the names of the suites around it, outermost first.
type junitStyle func(suites []string, t junit.Test) (pkg, name string)

// byClass is the style of most runners.
func byClass(suites []string, t junit.Test) (pkg, name string) {
	pkg = t.Classname
	if pkg == "" && len(suites) > 0 {
		pkg = suites[len(suites)-1]
	}
	return pkg, t.Name
}

// parseJUnit reads JUnit XML: one document, or several after one another.
func parseJUnit(style junitStyle) func([]byte) ([]Outcome, error) {
	return func(data []byte) ([]Outcome, error) {
		data = xmlHead.ReplaceAll(data, nil) // one for each document, in many spellings of UTF-8
		summary, err := tameXML(data)
		if err != nil {
			return nil, fmt.Errorf("JUnit XML: %w", err)
		}
		suites, err := junit.Ingest(data)
		if err != nil {
			return nil, fmt.Errorf("JUnit XML: %w", err)
		}
		r := junitReader{style: style, warned: summary.warned}
		for _, s := range suites {
			if err := r.read(nil, s); err != nil {
				return nil, fmt.Errorf("JUnit XML: %w", err)
			}
			if t := runnerFailed(s); t != "" {
				return nil, errors.New(t)
			}
		}
		out := r.out
		for i, o := range out {
			out[i].retried = summary.retried[o.name] && o.status == Passed
		}
		if err := disagree(summary.tests, countFailed(out)); err != nil { // a test that is skipped as well, or lies where no runner puts one
			return out, fmt.Errorf("JUnit XML: failures outside of tests: %w", err)
		}
		return out, disagree(summary.counted, summary.failed)
	}
}

func countFailed(out []Outcome) int {
	n := 0
	for _, o := range out {
		if o.status == Failed {
			n++
		}
	}
	return n
}

// runnerFailed is what pytest writes as a test of its own when it fails as a whole.
func runnerFailed(s junit.Suite) string {
	for _, t := range s.Tests {
		switch {
		case t.Status != junit.StatusError:
		case t.Classname == "pytest" && t.Name == "internal":
			return "pytest failed as a whole: " + FirstLine(junitMessage(t))
		case t.Classname == "" && t.Name == "": // it could not collect anything
			return "pytest failed as a whole: " + FailureLine(junitMessage(t))
		}
	}
	return ""
}

// A junitReader takes the tests out of suites.
type junitReader struct {
	style  junitStyle
	warned map[string]bool
	out    []Outcome
	names  int // bytes of their names
}

func (r *junitReader) read(around []string, s junit.Suite) error {
	around = append(around[:len(around):len(around)], s.Name)
	for _, t := range s.Tests {
		o := Outcome{elapsed: t.Duration, status: Passed}
		o.pkg, o.name = r.style(around, t)
		if r.names += len(o.pkg) + len(o.name); r.names > maxNames {
			return errNames
		}
		switch t.Status {
		case junit.StatusSkipped:
			o.status = Skipped
		case junit.StatusFailed, junit.StatusError:
			o.status, o.output = Failed, junitMessage(t)
		case junit.StatusPassed:
			if r.warned[t.Classname+" "+t.Name] { // PHPUnit ends a test by a warning, so that what it would have found is not known
				o.status = Skipped
			}
		}
		r.out = append(r.out, o)
	}
	for _, inner := range s.Suites {
		if err := r.read(around, inner); err != nil {
			return err
		}
	}
	return nil
}

// junitMessage is what a failed test says for people.
func junitMessage(t junit.Test) string {
	var e junit.Error
	body := ""
	if errors.As(t.Error, &e) {
		body = e.Body
	}
	if t.Message != "" && !strings.Contains(body, FirstLine(t.Message)) {
		body = JoinOutput(t.Message, body)
	}
	for _, more := range []string{t.SystemOut, t.SystemErr} {
		if strings.TrimSpace(more) != "" {
			body = JoinOutput(body, more)
		}
	}
	return Short(body)
}

// Short cuts what one test says to what is kept for people.
func Short(s string) string {
	var t tail
	t.add(s)
	return t.text()
}

// An xmlSummary is what a document says of its failures as a whole.
type xmlSummary struct {
	counted int             // the most that one element counts
	failed  int             // failures that are there
	tests   int             // tests in which they are
	fails   bool            // the test that is being read
	retried map[string]bool // names of tests that were run again
	warned  map[string]bool // classes and names of tests that ended by a warning
	test    string          // the test that is being read
	class   string          // of it
}

func (x *xmlSummary) element(e xml.StartElement) {
	n := 0
	if e.Name.Local == "testcase" {
		x.test, x.class = "", ""
	}
	for _, a := range e.Attr {
		if a.Name.Local == "failures" || a.Name.Local == "errors" {
			v, err := strconv.Atoi(a.Value)
			if err == nil && v > 0 && v < MaxDocument {
				n += v
			}
		}
		if e.Name.Local == "testcase" {
			switch a.Name.Local {
			case "name":
				x.test = a.Value
			case "classname":
				x.class = a.Value
			}
		}
	}
	switch e.Name.Local {
	case "testsuite", "testsuites":
		x.counted = max(x.counted, n)
	case "testcase":
		x.fails = false
	case "failure", "error":
		x.failed++
		if !x.fails {
			x.tests++
		}
		x.fails = true
	case "warning":
		x.warned[x.class+" "+x.test] = true
	case "flakyFailure", "flakyError", "rerunFailure", "rerunError": // of surefire
		x.retried[x.test] = true
	}
}

// tameXML refuses documents that would take more than their size to read:
// elements far inside one another, and declarations of entities.
func tameXML(data []byte) (xmlSummary, error) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	sum := xmlSummary{retried: map[string]bool{}, warned: map[string]bool{}}
	depth := 0
	for {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return sum, fmt.Errorf("more than %d elements inside one another", maxDepth)
			}
			sum.element(t)
		case xml.EndElement:
			depth--
		case xml.Directive:
			if bytes.Contains(t, []byte("ENTITY")) {
				return sum, errors.New("it declares entities")
			}
		}
	}
}

var xmlHead = pattern.New(`\x{FEFF}?<\?xml[^>]*\?>`)

// byPHPUnit is the style of PHPUnit, and of Pest.
func byPHPUnit(_ []string, t junit.Test) (pkg, name string) {
	class := t.Properties["class"]
	if class == "" {
		class = t.Classname
	}
	file, _, _ := strings.Cut(t.Properties["file"], "::") // behind which Pest has the name again
	return file, class + "::" + t.Name
}

// ParsePHPUnit reads the JUnit XML of PHPUnit.
func ParsePHPUnit(data []byte) ([]Outcome, error) { return parseJUnit(byPHPUnit)(data) }
