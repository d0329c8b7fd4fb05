package terminal

import (
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// asRunner is what the runner of a job takes for commands in a log: lines end with a
// line feed or a carriage return, "::" leads one after white space of any kind, and
// "##[" stands anywhere.
func asRunner(log string) []string {
	var out []string
	for _, line := range regexp.MustCompile(`\r\n|\r|\n`).Split(log, -1) {
		if strings.HasPrefix(strings.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }), "::") || strings.Contains(line, "##[") {
			out = append(out, line)
		}
	}
	return out
}

// Nothing that is written to the log of a job is a command of its runner, however
// the text is cut into pieces; without a runner it is what it was.
func TestConsoleIsNoCommand(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"::error::x\n", "  ::error file=a.go,line=1::x", "a\n\t::add-mask::x\n", "progress\r::set-output name=verdict::PASS\r\n", "\u00a0::debug::x", "\u3000\u2028::x::",
		"\ufeff::error::x", "x ##[error]y", "####[add-mask]x\n", "  ##[group]\r##[endgroup]", "\x1b[0m::error::x\n", ":::error::\n", "::\n::\n", " :\n::x",
	} {
		if len(asRunner(text)) == 0 && !strings.HasPrefix(text, "\x1b") {
			t.Fatalf("%q is no command", text)
		}
		for size := 1; size <= len(text); size++ {
			got := written(t, []string{"GITHUB_ACTIONS=true"}, text, size)
			if commands := asRunner(got); len(commands) > 0 {
				t.Errorf("%q in pieces of %d: %q", text, size, commands)
			}
			if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(text, " ", "") {
				t.Errorf("%q became %q", text, got)
			}
		}
		if got := written(t, []string{"GITHUB_ACTIONS="}, text, len(text)); got != text {
			t.Errorf("without a runner %q became %q", text, got)
		}
	}
	for _, same := range []string{"go test ./... ok\n", "  std::vector<int> at a.cc:3:1: error: x\n", "a :: b ## [x]\n"} {
		if got := written(t, []string{"GITHUB_ACTIONS=true"}, same, len(same)); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
}

// JSON on standard output means the same with and without a runner.
func TestConsoleKeepsJSON(t *testing.T) {
	t.Parallel()
	want := map[string]string{"text": "##[error]x\n::error::y", "##[key": "::"}
	for _, indent := range []string{"", "  "} {
		text, err := json.MarshalIndent(want, "", indent)
		if err != nil {
			t.Fatal(err)
		}
		got := written(t, []string{"GITHUB_ACTIONS=true"}, string(text), 7)
		if commands := asRunner(got); len(commands) > 0 {
			t.Errorf("%q", commands)
		}
		var back map[string]string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back["text"] != want["text"] || back["##[key"] != "::" {
			t.Errorf("%v: %s", err, got)
		}
	}
}

// written is what a console makes of text that comes in pieces of a size.
func written(t *testing.T, env []string, text string, size int) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := NewConsole(w, env)
	for len(text) > 0 {
		n := min(size, len(text))
		if m, err := c.WriteString(text[:n]); err != nil || m != n {
			t.Fatalf("%d, %v", m, err)
		}
		text = text[n:]
	}
	w.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}
