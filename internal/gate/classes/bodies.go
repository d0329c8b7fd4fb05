package classes

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/golang"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Body is the text of a test and the line that it begins in; of several tests with one
// name all of them, and the line of the first.
type Body struct {
	Text string
	Line int
}

// Bodies are the tests of a source by their own names.
type Bodies map[string]Body

// Of is the body of a test by the name that its runner gives it.
func (b Bodies) Of(test string) Body {
	name, _, _ := strings.Cut(test, "[")
	for _, n := range []string{test, results.LastName(name), name[strings.LastIndexByte(name, '.')+1:]} {
		if body, ok := b[n]; ok {
			return body
		}
	}
	return Body{}
}

// jsTest begins a test of JavaScript whose name is a literal.
var jsTest = pattern.New("(?m)^([ \\t]*)(?:test|it|describe|suite|t\\.test|specify)\\(\\s*(?:'([^'\\n]+)'|\"([^\"\\n]+)\"|`([^`$\\n]+)`)")

// TestBodies reads the tests of a source; of languages whose tests it does not know there
// are none.
func TestBodies(name string, src []byte) Bodies {
	out := Bodies{}
	add := func(test, text string, at int) {
		if at < 0 {
			at = 0
		}
		b, again := out[test]
		if !again {
			b.Line = strings.Count(string(src[:at]), "\n") + 1
		}
		b.Text += text
		out[test] = b
	}
	switch path.Ext(name) {
	case ".go":
		for test, text := range golang.TestFuncs(src) {
			if strings.HasPrefix(test, "Test") {
				add(test, text, strings.Index(string(src), text))
			}
		}
	case ".py":
		for test, text := range pythonFuncs(string(src)) {
			if strings.HasPrefix(test, "test") {
				add(test, text, strings.Index(string(src), text))
			}
		}
	case ".js", ".cjs", ".mjs":
		text := string(src)
		for _, m := range jsTest.FindAllStringSubmatchIndex(text, -1) {
			for i := 4; i < len(m); i += 2 {
				if m[i] >= 0 {
					add(text[m[i]:m[i+1]], block(text[m[0]:], text[m[2]:m[3]]), m[0])
				}
			}
		}
	}
	return out
}

// block is the text up to the line that closes what begins in the first one, as deep as it.
func block(text, indent string) string {
	at := 0
	for line := range strings.Lines(text) {
		inner := strings.TrimRight(line, "\r\n")
		if at > 0 && strings.TrimSpace(inner) != "" && depthOf(inner) <= len(indent) {
			if strings.ContainsAny(strings.TrimSpace(inner)[:1], ")]}") {
				at += len(line)
			}
			return text[:at]
		}
		at += len(line)
	}
	return text
}
