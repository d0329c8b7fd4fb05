package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/app/setup"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/regular"
)

func appManifestCommand(p *program) *cobra.Command {
	o := &setup.Options{}
	cmd := &cobra.Command{
		Use:   "manifest",
		Short: "Make the App on GitHub, and write the settings that serve reads",
		Long: `Make the App on GitHub with the permissions and events that it needs, and write
its settings to a file: number, private key, secrets of webhook and login, and a
key for sessions. A page on this machine takes you to GitHub, which asks you to
confirm; nothing is made before. Over SSH forward the port of the address that is
printed.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.appManifest(cmd.Context(), *o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.PublicURL, "public-url", "", "`URL` under which GitHub and people will reach the server ($YCBOT_PUBLIC_URL)")
	f.StringVar(&o.Organization, "org", "", "make it in the organization `NAME`; else it is yours")
	f.StringVar(&o.Name, "name", "", "`NAME` of the App, 34 characters at most, different from all others on GitHub (default ycbot and the host)")
	f.BoolVar(&o.Public, "public", false, "let others install it too")
	f.StringVar(&o.Out, "out", "ycbot.env", "`FILE` to write")
	f.BoolVar(&o.Force, "force", false, "replace the file if it is there")
	f.StringVar(&o.GitHubURL, "github-url", "", "`URL` of GitHub's API ($YCBOT_GITHUB_URL, $GITHUB_API_URL, default https://api.github.com)")
	f.DurationVar(&o.Wait, "wait", 30*time.Minute, "how long to wait for you")
	return cmd
}

// appManifest does "ycbot app manifest".
func (p *program) appManifest(ctx context.Context, o setup.Options) error {
	o.PublicURL = cmp.Or(o.PublicURL, p.getenv("YCBOT_PUBLIC_URL"))
	o.GitHubURL = cmp.Or(o.GitHubURL, p.getenv("YCBOT_GITHUB_URL"), p.getenv("GITHUB_API_URL"))
	o.Server = github.ServerOf(o.GitHubURL, p.getenv("GITHUB_SERVER_URL"))
	o.Transport, o.Now, o.Stdout, o.Stderr = p.client.Transport, p.now, p.stdout, p.stderr
	return setup.Make(ctx, o)
}

// readSettings takes variables from the file that is named, else from that of
// YCBOT_SETTINGS; what the environment says goes before it.
func (p *program) readSettings(name string) error {
	if name = cmp.Or(name, p.getenv("YCBOT_SETTINGS")); name == "" {
		return nil
	}
	text, err := regular.Read(name)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	have, err := setup.ParseSettings(string(text))
	if err != nil {
		return fmt.Errorf("settings %s: %w", name, err)
	}
	p.env = append(have, p.env...)
	return nil
}
