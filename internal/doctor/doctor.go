// Package doctor looks at what a run needs on this machine, and says what is wrong and
// what to do about it. It reads and changes nothing.
package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/blobs"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/redact"
)

// schema names the form of "ycbot doctor --json".
const schema = "ycbot.doctor/v1"

// An Input is what is looked at.
type Input struct {
	Machine  machine.Machine
	Dir      string // lies in the repository that is looked at
	Sandbox  string // tier that runs shall have, or auto
	Provider string // of the model; "": what the environment says
	Model    string // the same
	BaseURL  string // the same
	Offline  bool   // nothing is asked over the network
	App      *App   // nil: none is set up here
}

// An App is the settings of the GitHub App.
type App struct {
	Wrong     error // why they are not complete; each line is an issue. The rest is not read then
	ID        int64
	Key       []byte
	Secret    string // of the webhook; "": workers have none
	Data      string // the App's data directory
	Database  string // address of PostgreSQL; "": SQLite in File
	File      string
	Blobs     string // address of Bucket; "": in Data, or in PostgreSQL
	Bucket    blobs.Bucket
	GitHubURL string
	PublicURL string
}

// A Health is how one thing that was looked at is. The strings are printed.
type Health string

// How things are.
const (
	OK      Health = "ok"
	Warning Health = "warning" // runs work, with less than they could have
	Issue   Health = "issue"   // something that was asked for does not work
	Skipped Health = "skipped" // not looked at
)

// A Finding is one line of what was found.
type Finding struct {
	Area   string `json:"area"`
	Status Health `json:"status"`
	Text   string `json:"text"`
	Todo   string `json:"todo,omitempty"` // what to do about it
}

// An area is one part of what is looked at, and what was found there.
type area struct{ findings []Finding }

func (c *area) ok(format string, args ...any) { c.add(OK, "", format, args...) }

func (c *area) warn(todo, format string, args ...any) { c.add(Warning, todo, format, args...) }

func (c *area) issue(todo, format string, args ...any) { c.add(Issue, todo, format, args...) }

func (c *area) skip(todo, format string, args ...any) { c.add(Skipped, todo, format, args...) }

func (c *area) add(status Health, todo, format string, args ...any) {
	c.findings = append(c.findings, Finding{Status: status, Text: fmt.Sprintf(format, args...), Todo: todo})
}

// Examine looks at everything, the areas side by side. It fails only where ctx ends. The
// texts of findings are lines without secrets, and may hold what strangers wrote.
func Examine(ctx context.Context, in Input) ([]Finding, error) {
	in.Machine, _ = in.Machine.WithoutOwn(ctx, in.Dir)
	all := []struct {
		name string
		look func(context.Context, *area)
	}{
		{"provider", in.provider},
		{"github", in.github},
		{"app", in.app},
		{"git", in.git},
		{"sandbox", in.sandbox},
		{"policy", func(_ context.Context, c *area) { in.policy(c) }},
		{"agents", func(_ context.Context, c *area) { in.agents(c) }},
		{"config", func(ctx context.Context, c *area) { in.config(c); in.operator(ctx, c) }},
		{"toolchains", in.toolchains},
		{"state", func(_ context.Context, c *area) { in.state(c) }},
	}
	areas := make([]area, len(all))
	var wait sync.WaitGroup
	for i, a := range all {
		wait.Go(func() { a.look(ctx, &areas[i]) })
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	hide := redact.New(redact.SecretsFrom(in.Machine.Env))
	var found []Finding
	for i, a := range areas {
		for _, f := range a.findings {
			f.Area, f.Text, f.Todo = all[i].name, line(hide, f.Text), line(hide, f.Todo)
			found = append(found, f)
		}
	}
	return found, nil
}

// line is text on one line, without secrets.
func line(hide *redact.Redactor, text string) string {
	return strings.Join(strings.Fields(string(hide.Bytes([]byte(text)))), " ")
}

// Healthy reports whether no finding is an issue.
func Healthy(found []Finding) bool {
	return !slices.ContainsFunc(found, func(f Finding) bool { return f.Status == Issue })
}

// JSON is what was found by this version of ycbot on a system, as "ycbot doctor --json"
// prints it.
func JSON(found []Finding, version, system string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		Schema  string    `json:"schema"`
		Version string    `json:"version"`
		OS      string    `json:"os"`
		OK      bool      `json:"ok"`
		Checks  []Finding `json:"checks"`
	}{schema, version, system, Healthy(found), found})
	return b.Bytes(), err
}

// Text is what was found, for people.
func Text(found []Finding) string {
	var b strings.Builder
	count := map[Health]int{}
	for i, s := range found {
		area := s.Area
		if i > 0 && found[i-1].Area == area {
			area = ""
		}
		fmt.Fprintf(&b, "%-11s %-8s %s\n", area, s.Status, s.Text)
		if s.Todo != "" {
			fmt.Fprintf(&b, "%-11s %-8s → %s\n", "", "", s.Todo)
		}
		count[s.Status]++
	}
	fmt.Fprintf(&b, "\n%s, %s, %d ok, %d skipped\n", counted(count[Issue], "issue"), counted(count[Warning], "warning"), count[OK], count[Skipped])
	return b.String()
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
