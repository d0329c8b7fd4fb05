package backtest

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/run"
)

// A tampering changes a test file so that a test passes without the fix. The new name
// is "" where the file goes away; changed is false where the operator has nothing to do.
type tampering struct {
	name, does string
	apply      func(testFile) (name string, now []byte, changed bool)
}

// A testFile is one in which deciding tests stand.
type testFile struct {
	path         string
	text, before []byte // as merged, and in the parent; nil: the change brings it
	tests        []run.SuiteTest
}

// tamperings are the operators of the arm tampered.
func tamperings() []tampering {
	return []tampering{
		{"skip", "the deciding tests skip themselves", edit(skipped)},
		{"vacuous", "the deciding tests are left without a body", edit(emptied)},
		{"weaken", "the assertions of the deciding tests are taken away or only logged", edit(weakened)},
		{"drop", "the deciding tests are removed", edit(dropped)},
		{"move", "the files of the deciding tests are moved to where no runner looks", func(f testFile) (string, []byte, bool) {
			return path.Join(path.Dir(f.path), "testdata", path.Base(f.path)+".txt"), f.text, true
		}},
		{"exclude", "the files of the deciding tests are excluded from this platform", func(f testFile) (string, []byte, bool) {
			if !strings.HasSuffix(f.path, "_test.go") {
				return f.path, f.text, false
			}
			return f.path, append([]byte("//go:build ignore\n\n"), f.text...), true
		}},
		{"delete", "the files of the deciding tests are deleted", func(testFile) (string, []byte, bool) {
			return "", nil, true
		}},
		{"expectations-back", "the files of the deciding tests have the rows and expected values of the parent", func(f testFile) (string, []byte, bool) {
			return f.path, f.before, f.before != nil && !bytes.Equal(f.before, f.text)
		}},
	}
}

// tampered undoes the change and applies an operator to the files of the deciding tests.
func (s *subject) tampered(ctx context.Context) (spec, error) {
	if err := s.undo(ctx); err != nil {
		return spec{}, err
	}
	all, err := s.forge.files(ctx, s.change.Commit)
	if err != nil {
		return spec{}, err
	}
	byFile := map[string][]run.SuiteTest{}
	for _, t := range s.decide {
		for _, name := range s.filesOf(ctx, all, t) {
			byFile[name] = append(byFile[name], t)
		}
	}
	tries := 0
	for _, op := range shuffled(s.seed, tamperings(), func(t tampering) string { return t.name }, s.change.Commit, "tampered") {
		put := map[string]blob{}
		for name, tests := range byFile {
			text, err := s.forge.read(ctx, all[name])
			if err != nil {
				return spec{}, err
			}
			before, err := s.before(ctx, name)
			if err != nil {
				return spec{}, err
			}
			to, now, changed := op.apply(testFile{name, text, before, tests})
			if !changed {
				continue
			}
			if to != name {
				put[name] = blob{}
			}
			if to != "" {
				if put[to], err = s.forge.write(ctx, all[name].mode, now); err != nil {
					return spec{}, err
				}
			}
		}
		if len(put) == 0 || tries == maxTries {
			continue
		}
		tries++
		head, err := s.forge.commit(ctx, s.change.Commit, s.putBack, put, s.subject)
		if err != nil {
			return spec{}, err
		}
		ok, err := s.green(ctx, head, nil)
		if e := (*exclusion)(nil); errors.As(err, &e) {
			continue
		}
		if err != nil {
			return spec{}, err
		}
		if ok {
			return spec{operator: op.name, base: s.change.Commit, head: head, tests: names(s.decide)}, nil
		}
	}
	return spec{}, exclude(whyRed)
}

// before is what the parent has under this name, where the change touches it; else nil.
func (s *subject) before(ctx context.Context, name string) ([]byte, error) {
	for _, f := range s.files {
		if f.path == name && f.before.oid != "" {
			return s.forge.read(ctx, f.before)
		}
	}
	return nil, nil
}

// A rewrite changes the text of one test; false where it cannot.
type rewrite func(language string, text []byte, name string) ([]byte, bool)

// edit makes an operator of a rewrite: it must apply to one test of the file at least.
func edit(r rewrite) func(testFile) (string, []byte, bool) {
	return func(f testFile) (string, []byte, bool) {
		any := false
		done := map[string]bool{}
		for _, t := range f.tests {
			name := innermost(f.path, t)
			if name == "" || done[name] {
				continue
			}
			done[name] = true
			if now, ok := r(languageOf(f.path), f.text, name); ok {
				f.text, any = now, true
			}
		}
		return f.path, f.text, any
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
