package backtest

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/run"
)

// A tampering changes a test file so that a test passes without the fix. The new name
// is "" where the file goes away; changed is false where the operator has nothing to do.
type tampering struct {
	name, does string
	apply      func(file string, text []byte, tests []run.SuiteTest) (name string, now []byte, changed bool)
}

// tamperings are the operators of the arm tampered.
func tamperings() []tampering {
	return []tampering{
		{"skip", "the deciding tests skip themselves", edit(skipped)},
		{"vacuous", "the deciding tests are left without a body", edit(emptied)},
		{"weaken", "the assertions of the deciding tests are taken away or only logged", edit(weakened)},
		{"drop", "the deciding tests are removed", edit(dropped)},
		{"move", "the files of the deciding tests are moved to where no runner looks", func(file string, text []byte, _ []run.SuiteTest) (string, []byte, bool) {
			return path.Join(path.Dir(file), "testdata", path.Base(file)+".txt"), text, true
		}},
		{"exclude", "the files of the deciding tests are excluded from this platform", func(file string, text []byte, _ []run.SuiteTest) (string, []byte, bool) {
			if !strings.HasSuffix(file, "_test.go") {
				return file, text, false
			}
			return file, append([]byte("//go:build ignore\n\n"), text...), true
		}},
		{"delete", "the files of the deciding tests are deleted", func(string, []byte, []run.SuiteTest) (string, []byte, bool) {
			return "", nil, true
		}},
	}
}

// A rewrite changes the text of one test; false where it cannot.
type rewrite func(language string, text []byte, name string) ([]byte, bool)

// edit makes an operator of a rewrite: it must apply to one test of the file at least.
func edit(r rewrite) func(string, []byte, []run.SuiteTest) (string, []byte, bool) {
	return func(file string, text []byte, tests []run.SuiteTest) (string, []byte, bool) {
		any := false
		done := map[string]bool{}
		for _, t := range tests {
			name := innermost(file, t)
			if name == "" || done[name] {
				continue
			}
			done[name] = true
			if now, ok := r(languageOf(file), text, name); ok {
				text, any = now, true
			}
		}
		return file, text, any
	}
}

func languageOf(file string) string {
	switch path.Ext(file) {
	case ".go":
		return "go"
	case ".py":
		return "python"
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx":
		return "javascript"
	}
	return ""
}

// innermost is the name by which a test stands in its file.
func innermost(file string, t run.SuiteTest) string {
	name := t.Test
	if languageOf(file) == "go" {
		name, _, _ = strings.Cut(name, "/")
		return name
	}
	for _, sep := range []string{" > ", "::", "."} {
		if sep == "." && languageOf(file) != "python" {
			continue
		}
		if i := strings.LastIndex(name, sep); i >= 0 {
			name = name[i+len(sep):]
		}
	}
	if languageOf(file) == "python" {
		name, _, _ = strings.Cut(name, "[")
	}
	return strings.TrimSpace(name)
}

func skipped(language string, text []byte, name string) ([]byte, bool) {
	switch language {
	case "go":
		return goBody(text, name, func(t, body string) string { return "\n\t" + t + ".Skip(\"unstable\")" + body })
	case "python":
		return pythonBody(text, name, func(indent, body string) string {
			return indent + "__import__(\"unittest\").TestCase().skipTest(\"unstable\")\n" + body
		})
	case "javascript":
		return scriptCall(text, name, func(call string) string {
			open := strings.IndexByte(call, '(')
			return call[:open] + ".skip" + call[open:]
		})
	}
	return text, false
}

func emptied(language string, text []byte, name string) ([]byte, bool) {
	switch language {
	case "go":
		return goBody(text, name, func(string, string) string { return "" })
	case "python":
		return pythonBody(text, name, func(indent, _ string) string { return indent + "pass\n" })
	case "javascript":
		return scriptCall(text, name, func(call string) string {
			comma := strings.IndexByte(call[1+strings.Index(call, name)+len(name):], ',')
			if comma < 0 {
				return call
			}
			return call[:1+strings.Index(call, name)+len(name)+comma] + ", () => {})"
		})
	}
	return text, false
}

func dropped(language string, text []byte, name string) ([]byte, bool) {
	switch language {
	case "go":
		return goDrop(text, name)
	case "python":
		return pythonDrop(text, name)
	case "javascript":
		return scriptCall(text, name, func(string) string { return "" })
	}
	return text, false
}

var (
	pythonAssert = pattern.New(`(?m)^(\s*)(assert .*[^,(\[{\\\n]|self\.assert\w+\(.*\))[ \t]*$`)
	scriptAssert = pattern.New(`(?m)^(\s*)((?:await )?(?:expect|assert|t)\b[.(].*\)|.*\.should\..*);?[ \t]*$`)
)

func weakened(language string, text []byte, name string) ([]byte, bool) {
	switch language {
	case "go":
		return goWeaken(text, name)
	case "python":
		return pythonBody(text, name, func(_, body string) string { return pythonAssert.ReplaceAllString(body, "${1}pass") })
	case "javascript":
		return scriptCall(text, name, func(call string) string { return scriptAssert.ReplaceAllString(call, "${1}// checked elsewhere") })
	}
	return text, false
}
