package classes

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// ExamplesOf returns what puts the base's examples of documentation that are run as tests
// into the head's version of a source, nil where its language has none: those of Python's
// doctest (https://docs.python.org/3/library/doctest.html) where doctests says that it is
// used, and of Elixir's (https://hexdocs.pm/ex_unit/ExUnit.DocTest.html). Those of Rust are
// put there with its other tests.
func ExamplesOf(name string, doctests bool) *ecosystem.Mixture {
	switch {
	case path.Ext(name) == ".py" && doctests:
		return &ecosystem.Mixture{Class: compare.Test, Merge: ecosystem.MergeExamples(pythonExamples)}
	case path.Ext(name) == ".ex":
		return &ecosystem.Mixture{Class: compare.Test, Merge: ecosystem.MergeExamples(elixirExamples)}
	}
	return nil
}

var (
	pythonBlock = pattern.New(`(?m)^([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)`)
	// pythonNewLine is what stands behind a colon whose body is in the lines below.
	pythonNewLine = pattern.New(`^[ \t]*(?:#[^\n]*)?\r?\n`)
	pythonDoc     = pattern.New(`^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*[rRuU]?("""|''')`)
)

// pythonExamples are the docstrings of a module, those without a prompt of doctest too, and where
// definitions without one can have theirs.
func pythonExamples(src string) []ecosystem.Example {
	var out []ecosystem.Example
	end := 0
	take := func(of, indent string, at int) {
		m := pythonDoc.FindStringSubmatchIndex(src[at:])
		if m == nil {
			bare := ecosystem.Example{Of: of, From: at, To: at, Bare: true, Open: ` """`, Close: `""";`}
			if of == "" {
				bare.Open, bare.Close = `"""`, "\"\"\"\n"
			} else if pythonNewLine.MatchString(src[at:]) {
				bare.Open, bare.Close = "\n"+indent+`    """`, `"""`
			}
			out = append(out, bare)
			return
		}
		text := src[at+m[3]:]
		n := strings.Index(text, src[at+m[2]:at+m[3]])
		if n < 0 {
			return
		}
		end = at + m[3] + n
		out = append(out, ecosystem.Example{Of: of, From: at + m[3], To: end, Bare: !strings.Contains(text[:n], ">>>")})
	}
	take("", "", 0)
	type block struct{ indent, name string }
	var around []block
	for _, m := range pythonBlock.FindAllStringSubmatchIndex(src, -1) {
		if m[0] < end {
			continue // in an example
		}
		indent := src[m[2]:m[3]]
		for len(around) > 0 && len(around[len(around)-1].indent) >= len(indent) {
			around = around[:len(around)-1]
		}
		around = append(around, block{indent, src[m[4]:m[5]]})
		of := ""
		for _, b := range around {
			of += "." + b.name
		}
		if at := pythonBody(src, m[5]); at > 0 {
			take(of, indent, at)
		}
	}
	return out
}

// pythonBody is where the body of a definition begins, behind its colon; 0: not found.
func pythonBody(src string, at int) int {
	depth := 0
	for ; at < len(src); at++ {
		switch c := src[at]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ':':
			if depth == 0 {
				return at + 1
			}
		case '#':
			if n := strings.IndexByte(src[at:], '\n'); n > 0 {
				at += n
			}
		case '"', '\'':
			if n := strings.IndexByte(src[at+1:], c); n >= 0 {
				at += n + 1
			}
		}
	}
	return 0
}

var (
	elixirDoc  = pattern.New(`(?s)@(?:module)?doc\s+(?:~[sS])?(""").*?\n[ \t]*"""`)
	elixirItem = pattern.New(`^\s*(?:@(?:spec|doc|since|deprecated|impl|type|typedoc)\b[^\n]*\n(?:[ \t]+[^\n@d][^\n]*\n)*\s*)*(defp?|defmacrop?)[ \t]+([\w?!]+)`)
)

// elixirExamples are the documentations, those without a prompt of iex too.
func elixirExamples(src string) []ecosystem.Example {
	var out []ecosystem.Example
	for _, m := range elixirDoc.FindAllStringSubmatchIndex(src, -1) {
		of := ""
		if item := elixirItem.FindStringSubmatch(src[m[1]:]); item != nil {
			of = item[2]
		}
		out = append(out, ecosystem.Example{Of: of, From: m[2], To: m[1], Bare: !strings.Contains(src[m[0]:m[1]], "iex")})
	}
	return out
}

// documentTests are how sources and settings have the examples of a document run as tests, by
// the extension of the source, and the ecosystem of that. The group is the path of the
// document, from the folder of the source.
var documentTests = map[string]struct {
	eco  string
	text *pattern.Pattern
}{
	// https://doc.rust-lang.org/rustdoc/write-documentation/documentation-tests.html#include-items-only-when-collecting-doctests
	".rs": {"Rust", pattern.New(`\bdoc\s*=\s*include_str!\(\s*"([^"]+)"`)},
	".py": {"Python", pattern.New(`\b(?:testfile|DocFileSuite|DocFileTest)\(\s*["']([^"']+)["']`)},
	// https://hexdocs.pm/ex_unit/ExUnit.DocTest.html#doctest_file/2
	".exs": {"Elixir", pattern.New(`\bdoctest_file\W+["']([^"']+)["']`)},
}

// doctestGlob is how pytest learns which documents have examples
// (https://docs.pytest.org/en/stable/how-to/doctest.html).
var doctestGlob = pattern.New(`--doctest-glob[=\s]+["']?([^\s"',\]]+)`)

// RunsDocument names the ecosystem in which a source in dir has the examples of a document run;
// empty: it does not.
func RunsDocument(source, text, document string) string {
	by, ok := documentTests[path.Ext(source)]
	if !ok {
		return ""
	}
	for _, m := range by.text.FindAllStringSubmatch(text, -1) {
		if path.Join(path.Dir(source), m[1]) == document || path.Clean(m[1]) == document {
			return by.eco
		}
	}
	return ""
}

// CollectsDocument names the ecosystem of which settings of a runner have it collect a document;
// empty: none has.
func CollectsDocument(settings, document string) string {
	for _, m := range doctestGlob.FindAllStringSubmatch(settings, -1) {
		for _, name := range []string{document, path.Base(document)} {
			if ok, err := path.Match(m[1], name); err == nil && ok {
				return documentTests[".py"].eco
			}
		}
	}
	return ""
}
