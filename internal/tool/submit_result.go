package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Submission is where an agent hands in its structured result, once. One of
// that kind belongs to one agent. What is wrong with a first attempt goes back to
// the model; a second one that is wrong as well is a failed result.
type Submission struct {
	// Attempted says whether the agent tried anything yet; a result that is blocked
	// or partial is not taken before. nil asks for nothing.
	Attempted func() bool

	mu    sync.Mutex
	wrong int
}

// What one result holds at most. What is longer is cut, and says so.
const (
	submitFindings  = 20
	submitEvidence  = 2000
	submitArtifacts = 10
	submitContent   = 4000
	submitSummary   = 24_000
)

// Statuses of a result.
const (
	submitCompleted = "completed"
	submitBlocked   = "blocked"
	submitFailed    = "failed"
)

type submitArgs struct {
	Status      string           `json:"status" jsonschema:"completed: the task is done, whatever was found; blocked: something kept you from it; failed: it went wrong."`
	Summary     string           `json:"summary" jsonschema:"What was found, for the agent that asked. It stands for your reply."`
	Role        string           `json:"role,omitempty" jsonschema:"The role that you worked in."`
	DisplayName string           `json:"displayName,omitempty" jsonschema:"How the work is called where people see it."`
	Verdict     string           `json:"verdict,omitempty" jsonschema:"Of a verification: PASS, FAIL or PARTIAL."`
	Checks      []submitCheck    `json:"checks,omitempty" jsonschema:"Of a verification: what was checked, each with the command that shows it."`
	Steps       []submitStep     `json:"steps,omitempty" jsonschema:"What was done, in order."`
	Findings    []submitFinding  `json:"findings,omitempty" jsonschema:"At most 20."`
	Artifacts   []submitArtifact `json:"artifacts,omitempty" jsonschema:"At most 10 texts that are worth keeping."`
	Next        []string         `json:"recommendedNextActions,omitempty" jsonschema:"What someone should do now."`
}

type submitCheck struct {
	Title       string `json:"title" jsonschema:"What is checked, in one line."`
	Adversarial bool   `json:"adversarial,omitempty" jsonschema:"It tries to break the change."`
	Command     string `json:"command,omitempty" jsonschema:"The command as it was run."`
	Output      string `json:"output,omitempty" jsonschema:"What it printed, copied."`
	Expected    string `json:"expected,omitempty" jsonschema:"What was expected, and what came."`
	Result      string `json:"result" jsonschema:"PASS, FAIL or SKIP."`
}

type submitStep struct {
	ID     string `json:"id,omitempty"`
	Title  string `json:"title"`
	Status string `json:"status,omitempty" jsonschema:"pending, in_progress, completed or failed."`
	Note   string `json:"note,omitempty"`
}

type submitFinding struct {
	Severity string   `json:"severity" jsonschema:"info, warning or error."`
	Title    string   `json:"title"`
	Evidence string   `json:"evidence,omitempty" jsonschema:"What shows it: evidence ids, output, lines of code; at most 2000 characters."`
	Paths    []string `json:"paths,omitempty" jsonschema:"Files, with :LINE where it helps."`
	Command  string   `json:"command,omitempty" jsonschema:"The command that shows it, as you ran it; it ends with another exit code than 0 while the fault is there."`
	Patch    string   `json:"patch,omitempty" jsonschema:"How it could be repaired, as a diff; a hint for people, at most 4000 characters."`
}

type submitArtifact struct {
	Kind    string `json:"kind" jsonschema:"Such as plan, patch or log."`
	Title   string `json:"title"`
	Content string `json:"content" jsonschema:"At most 4000 characters."`
}

// submitSchema is the schema of a result, with the words that its fields may be.
func submitSchema() *jsonschema.Schema {
	s := schemaOf(reflect.TypeFor[submitArgs]())
	words := func(s *jsonschema.Schema, field string, allowed ...any) { s.Properties[field].Enum = allowed }
	words(s, "status", submitCompleted, submitBlocked, submitFailed)
	words(s, "verdict", "PASS", "FAIL", "PARTIAL")
	words(s.Properties["checks"].Items, "result", "PASS", "FAIL", "SKIP")
	words(s.Properties["steps"].Items, "status", "pending", "in_progress", "completed", "failed")
	words(s.Properties["findings"].Items, "severity", "info", "warning", "error")
	one := 1
	s.Properties["summary"].MinLength = &one
	return s
}

// SubmitResult makes the tool submit_result. Only an agent that owes a structured
// result is given it.
func SubmitResult(s *Submission) Tool {
	schema := submitSchema()
	t := defineAs("submit_result", Session, false, schema, func(context.Context, submitArgs) (Result, error) { return Result{}, nil })
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(err)
	}
	t.Run = func(_ context.Context, raw json.RawMessage) (Result, error) { return s.take(resolved, raw) }
	return t
}

// take checks a result and hands it in.
func (s *Submission) take(schema *jsonschema.Resolved, raw json.RawMessage) (Result, error) {
	in, problem := s.read(schema, raw)
	if problem == "" {
		in.trim()
		return in.handIn()
	}
	s.mu.Lock()
	s.wrong++
	again := s.wrong > 1
	s.mu.Unlock()
	if !again {
		return Result{}, Badf("submit_result: %s. Nothing was submitted; call it again with the whole result", problem)
	}
	return unreadable(problem).handIn()
}

// unreadable is the result of an agent that submitted none that can be read.
func unreadable(problem string) submitArgs {
	return submitArgs{Status: submitFailed, Summary: "The result was submitted twice and could not be read: " + problem}
}

const notTried = "nothing was tried yet: a result that is blocked or partial needs an attempt and its error first"

// read returns a result, or what is wrong with it.
func (s *Submission) read(schema *jsonschema.Resolved, raw json.RawMessage) (in submitArgs, problem string) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return in, err.Error()
	}
	if err := schema.Validate(value); err != nil {
		return in, strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, err.Error()
	}
	stopped := in.Status == submitBlocked || in.Verdict == "PARTIAL"
	switch {
	case strings.TrimSpace(in.Summary) == "":
		return in, "the summary is blank"
	case stopped && s.Attempted != nil && !s.Attempted():
		return in, notTried
	}
	return in, ""
}

// trim cuts what is too long.
func (in *submitArgs) trim() {
	in.Summary = cutRunes(in.Summary, submitSummary)
	if n := len(in.Findings); n > submitFindings {
		in.Findings = in.Findings[:submitFindings]
		in.Summary += fmt.Sprintf("\n[%d more findings were left out]", n-submitFindings)
	}
	for i := range in.Findings {
		in.Findings[i].Evidence = cutRunes(in.Findings[i].Evidence, submitEvidence)
		in.Findings[i].Patch = cutRunes(in.Findings[i].Patch, submitContent)
	}
	if n := len(in.Artifacts); n > submitArtifacts {
		in.Artifacts = in.Artifacts[:submitArtifacts]
		in.Summary += fmt.Sprintf("\n[%d more artifacts were left out]", n-submitArtifacts)
	}
	for i := range in.Artifacts {
		in.Artifacts[i].Content = cutRunes(in.Artifacts[i].Content, submitContent)
	}
}

func cutRunes(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + fmt.Sprintf(" [… %d more characters were left out]", len(r)-n)
}

// Submitted are the replies that a call of submit_result with these arguments may be, as its
// tool takes them: which one depends on the calls before. They follow from the arguments alone,
// so that code that has the model's answer can report whether a result is its.
func Submitted(args json.RawMessage) ([]string, error) {
	resolved, err := submitSchema().Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("submit_result: %w", err)
	}
	out := []string{unreadable(notTried).text()}
	in, problem := new(Submission).read(resolved, args)
	if problem != "" {
		return append(out, unreadable(problem).text()), nil
	}
	in.trim()
	return append(out, in.text()), nil
}

// handIn is the result as the turn ends with it.
func (in submitArgs) handIn() (Result, error) {
	final, err := json.Marshal(in)
	if err != nil {
		return Result{}, fmt.Errorf("submit_result: %w", err)
	}
	return Result{Text: in.text(), Final: final}, nil
}

// text is the result as a reply: in the form of a report, so that its checks are
// held against the log like those of any other.
func (in submitArgs) text() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(in.Summary) + "\n")
	for _, c := range in.Checks {
		mark := ""
		if c.Adversarial {
			mark = " [adversarial]"
		}
		fmt.Fprintf(&b, "\n### Check: %s%s\n", oneLine(c.Title), mark)
		part(&b, "Command run:", "bash", c.Command)
		part(&b, "Output observed:", "", c.Output)
		if c.Expected != "" {
			fmt.Fprintf(&b, "**Expected vs Actual:** %s\n", oneLine(c.Expected))
		}
		fmt.Fprintf(&b, "**Result: %s**\n", c.Result)
	}
	for _, f := range in.Findings {
		fmt.Fprintf(&b, "\n### Finding: %s\n**Severity:** %s\n", oneLine(f.Title), f.Severity)
		if len(f.Paths) > 0 {
			fmt.Fprintf(&b, "**Where:** %s\n", oneLine(strings.Join(f.Paths, ", ")))
		}
		part(&b, "Command run:", "bash", f.Command)
		if f.Evidence != "" {
			fmt.Fprintf(&b, "**Evidence:** %s\n", oneLine(f.Evidence))
		}
		part(&b, "Patch hint:", "diff", f.Patch)
	}
	for _, a := range in.Artifacts {
		if a.Kind == "patch" {
			fmt.Fprintf(&b, "\n### Finding: patch hint: %s\n**Severity:** info\n", oneLine(a.Title))
			part(&b, "Patch hint:", "diff", a.Content)
		}
	}
	if len(in.Findings)+len(in.Artifacts) > 0 && len(in.Next) > 0 {
		b.WriteString("\n### Next\n")
	}
	for _, n := range in.Next {
		b.WriteString("\nNext: " + oneLine(n) + "\n")
	}
	if in.Verdict != "" {
		b.WriteString("\nVERDICT: " + in.Verdict + "\n")
	}
	return b.String()
}

// part quotes a text under its heading, in a fence that nothing in it closes.
func part(b *strings.Builder, heading, lang, text string) {
	if text == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(b, "**%s**\n%s%s\n%s\n%s\n", heading, fence, lang, strings.TrimRight(text, "\n"), fence)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
