package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/terminal"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/redact"
)

// doctorSchema names the form of "ycbot doctor --json".
const doctorSchema = "ycbot.doctor/v1"

// A health is how one thing that was looked at is. The strings are printed.
type health string

// How things are.
const (
	healthOK      health = "ok"
	healthWarning health = "warning" // runs work, with less than they could have
	healthIssue   health = "issue"   // something that was asked for does not work
	healthSkipped health = "skipped" // not looked at
)

// A symptom is one line of the doctor's.
type symptom struct {
	Area   string `json:"area"`
	Status health `json:"status"`
	Text   string `json:"text"`
	Todo   string `json:"todo,omitempty"` // what to do about it
}

// An examination is what the doctor looks at in one area. It reads what it needs
// and changes nothing.
type examination struct {
	area string
	look func(context.Context, *chart)
}

// A chart is where an examination writes down what it found.
type chart struct{ symptoms []symptom }

func (c *chart) ok(format string, args ...any) { c.add(healthOK, "", format, args...) }

func (c *chart) warn(todo, format string, args ...any) { c.add(healthWarning, todo, format, args...) }

func (c *chart) issue(todo, format string, args ...any) { c.add(healthIssue, todo, format, args...) }

func (c *chart) skip(todo, format string, args ...any) { c.add(healthSkipped, todo, format, args...) }

func (c *chart) add(status health, todo, format string, args ...any) {
	c.symptoms = append(c.symptoms, symptom{Status: status, Text: fmt.Sprintf(format, args...), Todo: todo})
}

// doctorOptions are the flags of "ycbot doctor".
type doctorOptions struct {
	run     *runOptions
	json    bool
	offline bool
}

func doctorCommand(p *program) *cobra.Command {
	o := &doctorOptions{run: newRunOptions()}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at everything that a run needs here, and say what to do about what is wrong",
		Long: `Look at everything that a run needs here: the model's provider, GitHub, the App,
git, the sandbox, permission files, agents, the configuration, the toolchains of
this repository and ycbot's own files. Each line is ok, a warning (runs work, with
less than they could have), an issue (something that was asked for does not work)
or skipped, with what to do. No secret is printed, and nothing is changed.

The provider is asked for one word, which costs a few dozen tokens; --offline asks
nobody.

Exit codes: 0 no issue, 1 an issue.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.examine(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.run.dir, "directory", "C", ".", "look at the repository in `DIR`")
	f.BoolVar(&o.json, "json", false, "write JSON")
	f.BoolVar(&o.offline, "offline", false, "ask nobody over the network")
	f.StringVar(&o.run.model, "model", "", "the `MODEL` to ask (default $YCBOT_MODEL)")
	f.Var(&o.run.provider, "provider", "the `NAME` of who is asked (default $YCBOT_PROVIDER, else whose key there is)")
	f.StringVar(&o.run.baseURL, "base-url", "", "the provider's `URL` (default $YCBOT_BASE_URL, else the provider's own)")
	f.Var(&o.run.sandbox, "sandbox", "the `TIER` that runs shall have: auto, full, strong, basic, none")
	return cmd
}

// examine does "ycbot doctor". The areas are looked at side by side.
func (p *program) examine(ctx context.Context, o *doctorOptions) error {
	if err := p.readSettings(""); err != nil {
		return err
	}
	all := []examination{
		{"provider", func(ctx context.Context, c *chart) { p.examineProvider(ctx, c, o) }},
		{"github", func(ctx context.Context, c *chart) { p.examineGitHub(ctx, c, o) }},
		{"app", func(ctx context.Context, c *chart) { p.examineApp(ctx, c, o) }},
		{"git", func(ctx context.Context, c *chart) { p.examineGit(ctx, c, o) }},
		{"sandbox", func(ctx context.Context, c *chart) { p.examineSandbox(ctx, c, o) }},
		{"policy", func(_ context.Context, c *chart) { p.examinePolicy(c, o) }},
		{"agents", func(_ context.Context, c *chart) { p.examineAgents(c, o) }},
		{"config", func(_ context.Context, c *chart) { p.examineConfig(c, o) }},
		{"toolchains", func(ctx context.Context, c *chart) { p.examineToolchains(ctx, c, o) }},
		{"state", func(_ context.Context, c *chart) { p.examineState(c) }},
	}
	charts := make([]chart, len(all))
	var wait sync.WaitGroup
	for i, e := range all {
		wait.Go(func() { e.look(ctx, &charts[i]) })
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	hide := redact.New(redact.SecretsFrom(p.env))
	var found []symptom
	for i, c := range charts {
		for _, s := range c.symptoms {
			s.Area, s.Text, s.Todo = all[i].area, clean(hide, s.Text), clean(hide, s.Todo)
			found = append(found, s)
			if s.Status == healthIssue {
				p.code = 1
			}
		}
	}
	if o.json {
		return p.examinedJSON(found)
	}
	return p.examinedText(found)
}

// clean is text on one line, without secrets and without what would move a cursor.
func clean(hide *redact.Redactor, text string) string {
	return terminal.Printable(strings.Join(strings.Fields(string(hide.Bytes([]byte(text)))), " "))
}

func (p *program) examinedJSON(found []symptom) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(struct {
		Schema  string    `json:"schema"`
		Version string    `json:"version"`
		OS      string    `json:"os"`
		OK      bool      `json:"ok"`
		Checks  []symptom `json:"checks"`
	}{doctorSchema, version(), p.platform, p.code == 0, found}); err != nil {
		return err
	}
	_, err := p.stdout.Write(b.Bytes())
	return err
}

func (p *program) examinedText(found []symptom) error {
	var b strings.Builder
	count := map[health]int{}
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
	fmt.Fprintf(&b, "\n%s, %s, %d ok, %d skipped\n", counted(count[healthIssue], "issue"), counted(count[healthWarning], "warning"), count[healthOK], count[healthSkipped])
	_, err := p.stdout.WriteString(b.String())
	return err
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
