package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/doctor"
	"github.com/ycbot/ycbot/internal/terminal"
)

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
		Short: "Check everything that a run needs on this machine, and say how to fix it",
		Long: `Check everything that a run needs on this machine: the model's provider,
GitHub, the App, git, the sandbox, permission files, agents, the configuration,
the toolchains of this repository and ycbot's own files. Each line is ok, a warning (runs work, with
less than they could have), an issue (something that was asked for does not work)
or skipped, with what to do. No secret is printed, and nothing is changed.

The provider is asked for one word, which costs a few dozen tokens; with --offline
no network request is made.

Exit codes: 0 no issue, 1 an issue.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.examine(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.run.dir, "directory", "C", ".", "look at the repository in `DIR`")
	f.BoolVar(&o.json, "json", false, "write JSON")
	f.BoolVar(&o.offline, "offline", false, "make no network requests")
	f.StringVar(&o.run.model, "model", "", "the `MODEL` to ask (default $YCBOT_MODEL)")
	f.Var(&o.run.provider, "provider", "the model provider `NAME` (default $YCBOT_PROVIDER, else the one whose key is set)")
	f.StringVar(&o.run.baseURL, "base-url", "", "the provider's `URL` (default $YCBOT_BASE_URL, else the provider's own)")
	f.Var(&o.run.sandbox, "sandbox", "the sandbox `TIER` of runs: auto, full, strong, basic, none")
	return cmd
}

// examine does "ycbot doctor".
func (p *program) examine(ctx context.Context, o *doctorOptions) error {
	if err := p.readSettings(""); err != nil {
		return err
	}
	found, err := doctor.Examine(ctx, doctor.Input{
		Machine: p.machine(), Dir: o.run.dir, Sandbox: o.run.sandbox.value, Provider: o.run.provider.value, Model: o.run.model, BaseURL: o.run.baseURL,
		Offline: o.offline, App: p.appHere(),
	})
	if err != nil {
		return err
	}
	for i, f := range found {
		found[i].Text, found[i].Todo = terminal.Printable(f.Text), terminal.Printable(f.Todo)
	}
	if !doctor.Healthy(found) {
		p.code = 1
	}
	out := []byte(doctor.Text(found))
	if o.json {
		if out, err = doctor.JSON(found, version(), p.platform); err != nil {
			return err
		}
	}
	_, err = p.stdout.Write(out)
	return err
}

// appHere is the settings of the App on this machine; nil where there are none.
func (p *program) appHere() *doctor.App {
	set := slices.ContainsFunc([]string{"YCBOT_APP_ID", "YCBOT_APP_PRIVATE_KEY", "YCBOT_APP_PRIVATE_KEY_FILE", "YCBOT_WEBHOOK_SECRET"}, func(name string) bool { return p.getenv(name) != "" })
	if !set {
		return nil
	}
	a := newAppOptions()
	wrong := a.Read(p.getenv)
	if a.Database == "" || p.getenv("YCBOT_WEBHOOK_SECRET") != "" { // else it is a machine of workers, which listen to no one
		wrong = errors.Join(wrong, a.Listening(p.getenv))
	}
	return &doctor.App{
		Wrong: wrong, ID: a.ID, Key: a.Key, Secret: a.Secret, Data: a.Data, Blobs: a.Blobs, Bucket: a.Bucket, Database: a.Database, File: a.File(), GitHubURL: a.GitHubURL, PublicURL: a.PublicURL,
	}
}
