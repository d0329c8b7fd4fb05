package agent

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/tool"
)

// A Status says whether a subagent did its work. The strings are stored: do not change them.
type Status string

// The statuses of a result.
const (
	StatusCompleted Status = "completed"
	StatusBlocked   Status = "blocked" // a limit ended it; there may be a partial text
	StatusFailed    Status = "failed"
)

// Status is what an outcome means for the work.
func (o Outcome) Status() Status {
	switch o {
	case Completed:
		return StatusCompleted
	case IterCapped, TimedOut, OverBudget, NoProgress, Canceled:
		return StatusBlocked
	}
	return StatusFailed
}

// Category is what may be done about an outcome that came with err.
func (o Outcome) Category(err error) Category {
	switch {
	case o == Completed:
		return Success
	case errors.Is(err, model.ErrAuth), errors.Is(err, model.ErrRequest), errors.Is(err, errRecord), o == Canceled:
		return Fatal
	case errors.Is(err, model.ErrOverflow), o != Errored:
		return Capacity
	case errors.Is(err, model.ErrDown):
		return Retryable
	}
	return Fatal
}

// A Result is what a subagent's work came to: the one struct behind what its
// parent reads, what consumers see and what is written to disk.
type Result struct {
	ID         string     `json:"id"`
	Agent      string     `json:"agent"`
	Status     Status     `json:"status"`
	End                   // outcome, text, usage
	Verdict    string     `json:"verdict,omitempty"`
	Model      string     `json:"model"`
	DurationMS int64      `json:"duration_ms"`
	Isolation  string     `json:"isolation"`
	Transcript string     `json:"transcript"` // path in the run directory
	Sidechain  string     `json:"sidechain"`
	Provenance Provenance `json:"provenance,omitzero"`
	Err        error      `json:"-"` // of an Errored one; see Outcome.Category
}

// resultRunes is how much of a result's text its parent reads.
const resultRunes = 24000

// taskTag is what would end or forge the element that a result is wrapped in.
var taskTag = pattern.New(`(?i)<(\s*/?\s*task_)`)

// XML is what a model that started the subagent reads.
func (r Result) XML() string { return r.xml(resultRunes) }

func (r Result) xml(runes int) string {
	tag, note := "task_result", ""
	if r.Outcome != Completed {
		tag, note = "task_error", fmt.Sprintf("[%s: %s]\n", r.Outcome, r.Reason)
	}
	text := taskTag.ReplaceAllString(note+Cut(r.Text, runes), "&lt;$1")
	var b strings.Builder
	fmt.Fprintf(&b, "<%s", tag)
	for _, a := range [][2]string{{"agent", r.Agent}, {"task", r.ID}, {"session", r.Sidechain}, {"status", string(r.Status)}, {"verdict", r.Verdict}} {
		fmt.Fprintf(&b, ` %s="%s"`, a[0], attr(a[1]))
	}
	fmt.Fprintf(&b, ">\n%s\n", strings.TrimRight(text, "\n"))
	if did := r.Provenance.String(); did != "" {
		fmt.Fprintf(&b, "\n[%s]\n", taskTag.ReplaceAllString(did, "&lt;$1"))
	}
	fmt.Fprintf(&b, "</%s>", tag)
	return b.String()
}

// attr escapes s for an attribute; quotes and newlines come out as references.
func attr(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return "" // a strings.Builder takes everything
	}
	return b.String()
}

// Cut returns at most n runes of s, with a notice of what is missing.
func Cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + fmt.Sprintf("\n[… cut: %d more characters]", len(r)-n)
}

// Verdict returns PASS, FAIL or PARTIAL where the last line of text that is not
// empty is exactly "VERDICT: " and one of them, else "".
func Verdict(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	switch v, _ := strings.CutPrefix(line, "VERDICT: "); v {
	case "PASS", "FAIL", "PARTIAL":
		if line != v {
			return v
		}
	}
	return ""
}

// denials makes the map that Config.Known wants of what is taken away.
func denials(known map[string]tool.Class, taken []tool.Tool) map[string]tool.Class {
	all := make(map[string]tool.Class, len(known)+len(taken))
	for name, class := range known {
		all[name] = class
	}
	for _, t := range taken {
		all[t.Name] = t.Class
	}
	return all
}
