package gate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/joshdk/go-junit"
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
func parseJUnit(style junitStyle) func([]byte) ([]outcome, error) {
	return func(data []byte) ([]outcome, error) {
		data = xmlHead.ReplaceAll(data, nil) // one for each document, in many spellings of UTF-8
		if err := tameXML(data); err != nil {
			return nil, fmt.Errorf("JUnit XML: %w", err)
		}
		suites, err := junit.Ingest(data)
		if err != nil {
			return nil, fmt.Errorf("JUnit XML: %w", err)
		}
		var out []outcome
		for _, s := range suites {
			out = junitOutcomes(out, style, nil, s)
		}
		return out, nil
	}
}

func junitOutcomes(out []outcome, style junitStyle, around []string, s junit.Suite) []outcome {
	around = append(around[:len(around):len(around)], s.Name)
	for _, t := range s.Tests {
		o := outcome{elapsed: t.Duration, status: Passed}
		o.pkg, o.name = style(around, t)
		switch t.Status {
		case junit.StatusSkipped:
			o.status = Skipped
		case junit.StatusFailed, junit.StatusError:
			o.status, o.output = Failed, junitMessage(t)
		case junit.StatusPassed:
		}
		out = append(out, o)
	}
	for _, inner := range s.Suites {
		out = junitOutcomes(out, style, around, inner)
	}
	return out
}

// junitMessage is what a failed test says for people.
func junitMessage(t junit.Test) string {
	var e junit.Error
	body := ""
	if errors.As(t.Error, &e) {
		body = e.Body
	}
	if t.Message != "" && !strings.Contains(body, firstLine(t.Message)) {
		body = joinOutput(t.Message, body)
	}
	for _, more := range []string{t.SystemOut, t.SystemErr} {
		if strings.TrimSpace(more) != "" {
			body = joinOutput(body, more)
		}
	}
	return short(body)
}

// short cuts what one test says to what is kept for people.
func short(s string) string {
	var t tail
	t.add(s)
	return t.text()
}

// tameXML refuses documents that would take more than their size to read:
// elements far inside one another, and declarations of entities.
func tameXML(data []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(data))
	depth := 0
	for {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fmt.Errorf("more than %d elements inside one another", maxDepth)
			}
		case xml.EndElement:
			depth--
		case xml.Directive:
			if bytes.Contains(t, []byte("ENTITY")) {
				return errors.New("it declares entities")
			}
		}
	}
}
