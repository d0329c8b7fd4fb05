package terminal

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/transcript"
)

// A tube is a terminal as far as a screen makes use of one: it breaks long lines,
// moves up, goes back, and clears what follows.
type tube struct {
	width    int
	rows     [][]rune
	row, col int
	writes   int
}

func (t *tube) Write(b []byte) (int, error) {
	t.writes++
	text := []rune(string(b))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\r':
			t.col = 0
		case c == '\n':
			t.row, t.col = t.row+1, 0
		case c == '\x1b' && i+1 < len(text) && text[i+1] == '[':
			end := i + 2
			for text[end] >= '0' && text[end] <= ';' {
				end++
			}
			t.control(string(text[i+2:end]), text[end])
			i = end
		default:
			if t.col == t.width {
				t.row, t.col = t.row+1, 0
			}
			t.at()[t.col] = c
			t.col++
		}
	}
	return len(b), nil
}

func (t *tube) at() []rune {
	for len(t.rows) <= t.row {
		t.rows = append(t.rows, []rune(strings.Repeat(" ", 300)))
	}
	return t.rows[t.row]
}

func (t *tube) control(arg string, what rune) {
	switch what {
	case 'A':
		n, _ := strconv.Atoi(arg)
		t.row -= n
	case 'J':
		copy(t.at()[t.col:], []rune(strings.Repeat(" ", 300)))
		t.rows = t.rows[:t.row+1]
	}
}

func (t *tube) text() string {
	var b strings.Builder
	for _, r := range t.rows {
		b.WriteString(strings.TrimRight(string(r), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// What has ended stays once and in order above the lines that live, whatever
// number of them there is, and nothing of a frame before is left.
func TestScreen(t *testing.T) {
	t.Parallel()
	out := &tube{width: 20}
	height := 24
	s := &screen{out: out, size: func() (int, int) { return out.width, height }}
	see := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(strings.Join(want, "\n"), out.text()); diff != "" {
			t.Errorf("on the terminal (-want +got):\n%s", diff)
		}
	}
	s.draw([]string{"gate", "  base test 1s", "  head test 1s"})
	see("gate", "  base test 1s", "  head test 1s")
	before := out.writes
	s.draw([]string{"gate", "  base test 1s", "  head test 1s"})
	if out.writes != before {
		t.Error("the same lines are written again")
	}
	s.above("base test ok")
	s.draw([]string{"gate", "  head test 2s"})
	see("base test ok", "gate", "  head test 2s")
	s.draw([]string{"agents", "  a command that is longer than the terminal", "  \x1b[1m日本語日本語日本語日本語\x1b[0m"})
	see("base test ok", "agents", "  a command that i…", "  日本語日本語日本…")
	s.draw([]string{"agents of this run", "  eighteen columns.", "  one"})
	out.width = 10 // what stood there before is broken into two rows by the terminal
	out.rows, out.row, out.col = nil, 0, 0
	for i, l := range []string{"base test ok", "agents of this run", "  eighteen columns.", "  one"} {
		if i > 0 {
			out.Write([]byte("\n")) //nolint:errcheck // it cannot fail
		}
		out.Write([]byte(l)) //nolint:errcheck // it cannot fail
	}
	s.draw([]string{"agents", "  one"})
	see("base test", "ok", "agents", "  one")
	height = 2
	s.draw([]string{"agents", "  one", "  two"})
	see("base test", "ok", "agents")
	s.draw(nil)
	see("base test", "ok")
}

// Colours count for nothing, are never cut in two, and end with the line.
func TestCutTo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"\x1b[1mbold\x1b[0m", 4, "\x1b[1mbold\x1b[0m"},
		{"\x1b[1mbolder\x1b[0m x", 5, "\x1b[1mbold…\x1b[0m"},
		{"日本語", 5, "日本…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"any", 0, "any"},
	} {
		if got := cutTo(tc.line, tc.width); got != tc.want {
			t.Errorf("%q to %d: %q, want %q", tc.line, tc.width, got, tc.want)
		}
	}
}

// On a terminal the agents stand side by side with what they do, how long, and
// what it has cost so far; their calls leave no lines, refused ones do.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	out := &tube{width: 100}
	p := &Progress{now: func() time.Time { return at }, began: at, doing: map[string]*activity{}, screen: &screen{out: out, size: func() (int, int) { return 100, 24 }}}
	exit := 1
	for _, e := range []agent.Event{
		{Type: agent.EventStageStart, Step: &agent.Step{Stage: "gate"}},
		{Type: agent.EventCommandStart, Step: &agent.Step{Side: "head", Stage: "test", Command: "make test"}},
		{Type: agent.EventCommandDone, DurationMS: 12000, Step: &agent.Step{Side: "head", Stage: "test", Command: "make test", Exit: &exit}},
		{Type: agent.EventCommandStart, Step: &agent.Step{Side: "head", Stage: "list", Command: "go list ./..."}},
		{Type: agent.EventCommandDone, Step: &agent.Step{Side: "head", Stage: "list", Command: "go list ./..."}},
		{Type: agent.EventCommandStart, Step: &agent.Step{Side: "base", Stage: "warm", Command: "go list -test ./..."}},
		{Type: agent.EventStageStart, Step: &agent.Step{Stage: "agents"}},
		{Type: agent.EventSubagentStart, Agent: "Explore", ID: "1"},
		{Type: agent.EventSubagentStart, Agent: "verification", ID: "2"},
		{Type: agent.EventMessage, Agent: "verification", ID: "2", Usage: &transcript.Usage{Input: 12000, Output: 345}},
		{Type: agent.EventToolStart, Agent: "verification", ID: "2", Call: &agent.Call{Name: "run_bash", Args: `{"command":"sh sum.sh\u001b[2J"}`}},
		{Type: agent.EventToolStart, Agent: "verification", ID: "2", Call: &agent.Call{Index: 1, Name: "grep", Args: `{}`}},
		{Type: agent.EventToolResult, Agent: "Explore", ID: "1", Text: "fine", Call: &agent.Call{Name: "grep", Args: `{}`}},
		{Type: agent.EventToolResult, Agent: "Explore", ID: "1", Errored: true, Call: &agent.Call{Name: "write_file", Args: `{}`}},
	} {
		p.Event(e)
	}
	if early := out.text(); strings.Contains(early, "base warm") {
		t.Errorf("what is of no interest is shown at once:\n%s", early)
	}
	at = at.Add(65 * time.Second)
	p.Event(agent.Event{Type: agent.EventRunStart, Text: "now"})
	live := out.text()
	p.Event(agent.Event{Type: agent.EventCommandDone, DurationMS: 65000, Step: &agent.Step{Side: "base", Stage: "warm", Command: "go list -test ./..."}})
	// What is of no interest is shown where it takes long.
	if !strings.Contains(live, "\n  base warm  compiling what tests need, once: go list -test ./...  1:05") {
		t.Errorf("on the terminal:\n%s", live)
	}
	want := strings.Join([]string{
		"✗ head test  make test  exit 1 12s",
		"✗ agent Explore write_file {}  refused or wrong 0.0s",
		"ycbot: run now",
		"✓ base warm  compiling what tests need, once: go list -test ./...  ok 1m5s",
		"⠋ agents  1:05  12 345 tokens",
		"  Explore  asks its model  1:05 · answer 1 · 0 tokens",
		"  verification  $ sh sum.sh [2J  and 1 more  1:05 · answer 2 · 12 345 tokens",
	}, "\n")
	if diff := cmp.Diff(want, out.text()); diff != "" {
		t.Errorf("on the terminal (-want +got):\n%s", diff)
	}
}
