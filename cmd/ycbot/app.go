package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/app/host"
	"github.com/ycbot/ycbot/app/setup"
	"github.com/ycbot/ycbot/internal/disk"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/telemetry"
)

// appOptions are the flags of the App. What has a flag may also be set by a variable;
// secrets have only that.
type appOptions struct {
	host.Options
	drain            timeLimit
	sandbox, network choice
}

func newAppOptions() *appOptions {
	run := newRunOptions()
	return &appOptions{
		Options: host.Options{DiskQuota: host.Unset, DiskFree: host.Unset, RunDisk: host.Unset, Workers: 2, PerRepo: 2},
		drain:   timeLimit{20 * time.Second}, sandbox: run.sandbox, network: run.network,
	}
}

func appCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "The GitHub App: receive webhooks, verify pull requests",
		Long: `The GitHub App. Settings come from flags or the environment; secrets from the
environment alone: YCBOT_WEBHOOK_SECRET, YCBOT_APP_PRIVATE_KEY (or the file that
YCBOT_APP_PRIVATE_KEY_FILE names), YCBOT_CLIENT_SECRET, YCBOT_SESSION_KEY, DATABASE_URL.
"ycbot app manifest" makes an App with all of them. docs/operate.md says how to run it.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(appServeCommand(p), appWorkCommand(p), appMigrateCommand(p), appManifestCommand(p))
	settings := ""
	cmd.PersistentFlags().StringVar(&settings, "settings", "", "read settings from `FILE`; environment variables take precedence ($YCBOT_SETTINGS)")
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return p.readSettings(settings) }
	return cmd
}

func appServeCommand(p *program) *cobra.Command {
	o := newAppOptions()
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Receive webhooks, and work on what they call for",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.appServe(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.Addr, "addr", "", "listen on `HOST:PORT` ($YCBOT_ADDR, default 127.0.0.1:8080)")
	f.BoolVar(&o.NoWork, "no-work", false, "only receive; \"ycbot app work\" does the work (needs PostgreSQL)")
	o.common(cmd)
	o.working(cmd)
	return cmd
}

func appWorkCommand(p *program) *cobra.Command {
	o := newAppOptions()
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Work on the jobs that servers have stored; with PostgreSQL on several machines",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.appWork(cmd.Context(), o) },
	}
	cmd.Flags().SortFlags = false
	o.common(cmd)
	o.working(cmd)
	return cmd
}

func appMigrateCommand(p *program) *cobra.Command {
	o := newAppOptions()
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Migrate the database; serve and work do so too",
		Long: `Migrate the database: the PostgreSQL of DATABASE_URL, else the SQLite in the data
directory. Without --data and YCBOT_DATA that is ./data, where there is one. It prints
which database it was and the version of its tables.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.appMigrate(cmd.Context(), o) },
	}
	cmd.Flags().StringVar(&o.Data, "data", "", "data directory `DIR` ($YCBOT_DATA, default ./data)")
	return cmd
}

// appMigrate does "ycbot app migrate". It makes no database in a folder that no one named:
// who forgot DATABASE_URL would take that for the one that was meant.
func (p *program) appMigrate(ctx context.Context, o *appOptions) error {
	named := o.Data != "" || p.getenv("YCBOT_DATA") != ""
	if err := o.Place(p.getenv); err != nil {
		return err
	}
	if _, err := os.Stat(o.File()); err != nil && o.Database == "" && !named {
		return fmt.Errorf("DATABASE_URL is not set, and there is no SQLite database at %s: set DATABASE_URL for PostgreSQL, or name the data directory with --data DIR or YCBOT_DATA", o.File())
	}
	done, err := host.Migrate(ctx, p.machine(), o.Options)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, "migrated: "+done)
	return err
}

// common are the flags of commands that act as the App.
func (o *appOptions) common(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&o.ID, "app-id", 0, "`ID` of the App ($YCBOT_APP_ID)")
	f.StringVar(&o.KeyFile, "private-key-file", "", "`FILE` with its private key ($YCBOT_APP_PRIVATE_KEY_FILE)")
	f.StringSliceVar(&o.AllowRepos, "allow-repo", nil, "listen only to these repositories, `OWNER/NAME` with * and ? ($YCBOT_ALLOW_REPOS)")
	f.Int64SliceVar(&o.Allow.Installations, "allow-installation", nil, "listen only to these installations, by `ID` ($YCBOT_ALLOW_INSTALLATIONS)")
	f.StringVar(&o.MetricsAddr, "metrics-addr", "", "answer /metrics, /healthz and /readyz on `HOST:PORT`, and /metrics nowhere else ($YCBOT_METRICS_ADDR)")
	f.StringVar(&o.PublicURL, "public-url", "", "`URL` under which people reach the server ($YCBOT_PUBLIC_URL)")
	f.StringVar(&o.Data, "data", "", "data directory `DIR` ($YCBOT_DATA, default ./data)")
	f.StringVar(&o.Blobs, "blobs", "", "`URL` of a bucket for what runs produce, such as file:///srv/ycbot ($YCBOT_BLOB_URL)")
	f.StringVar(&o.GitHubURL, "github-url", "", "`URL` of GitHub's API ($YCBOT_GITHUB_URL, $GITHUB_API_URL, default https://api.github.com)")
	f.StringVar(&o.ConfigFile, "config", "", "`FILE` like .github/ycbot.yml, below that of each repository; its limits cannot be\nraised by one ($YCBOT_CONFIG)")
	f.StringVar(&o.Retention, "retention", "", "how long runs are kept, such as 90d ($YCBOT_RETENTION, default 90d)")
}

// working are the flags of commands that work.
func (o *appOptions) working(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.Workers, "workers", o.Workers, "`N` runs at once in this process")
	f.IntVar(&o.PerRepo, "per-repo", o.PerRepo, "at most `N` runs at once of a repository, in all processes, which are given the same; 0: no bound")
	f.IntVar(&o.PerInstallation, "per-installation", 0, "at most `N` runs at once of an installation, in all processes, the same; 0: no bound")
	f.Var(&o.drain, "drain", "how long running jobs may go on after SIGTERM; then they are handed back")
	f.StringVar(&o.AgentsDir, "agents-dir", "", "load agent files from `DIR`; they override those of each repository's base ($YCBOT_AGENTS_DIR)")
	f.Var((*byteSize)(&o.DiskQuota), "disk-quota", "what --data may hold, a `SIZE` such as 50GB; default: four fifths of what it holds and\nwhat is free ($YCBOT_DISK_QUOTA)")
	f.Var((*byteSize)(&o.DiskFree), "disk-free", "begin no run while less than this `SIZE` is free ($YCBOT_DISK_FREE, default 2GB)")
	f.Var((*byteSize)(&o.RunDisk), "run-disk", "what one run may write, a `SIZE`; 0: no bound ($YCBOT_RUN_DISK, default 20GB)")
	f.Var(&o.sandbox, "sandbox", "how commands of trusted heads are contained; auto and full: tier full or not at all.\nWith a lower `TIER`, trusted heads run in it. Untrusted heads always need tier full")
	f.Var(&o.network, "network", "when commands may use the network: none, setup, full")
}

// appServe does "ycbot app serve".
func (p *program) appServe(ctx context.Context, o *appOptions) error {
	m := p.appMachine()
	if err := errors.Join(o.Read(p.getenv), o.Listening(p.getenv)); err != nil {
		if o.ID <= 0 {
			err = fmt.Errorf("%w\n\"ycbot app manifest\" makes an App and a file with its settings, which --settings FILE names", err)
		}
		return err
	}
	if len(strings.TrimSpace(o.Secret)) < setup.LeastSecret {
		p.logger.WarnContext(ctx, "the webhook secret is short: use 32 random bytes, as openssl rand -hex 32 makes them")
	}
	return host.Serve(ctx, m, p.door("app"), o.settings())
}

// appWork does "ycbot app work".
func (p *program) appWork(ctx context.Context, o *appOptions) error {
	m := p.appMachine()
	err := o.Read(p.getenv)
	if o.Database == "" {
		err = errors.Join(err, errors.New("DATABASE_URL is not set: \"app work\" takes jobs from the PostgreSQL that a server stores them in; with SQLite \"app serve\" does the work itself"))
	}
	if err != nil {
		return err
	}
	return host.Work(ctx, m, p.door("app"), o.settings())
}

// settings are the options with those of the flags that have a form of their own.
func (o *appOptions) settings() host.Options {
	s := o.Options
	s.Drain, s.Sandbox, s.Network = o.drain.Duration, o.sandbox.value, o.network.value
	return s
}

// appMachine is the machine, with the log of a process that serves: in JSON. Variables that
// may be misspelled are its first lines.
func (p *program) appMachine() machine.Machine {
	p.logger = slog.New(telemetry.LogHandler(slog.NewJSONHandler(p.stderr, &slog.HandlerOptions{Level: p.logLevel(slog.LevelInfo)})))
	for _, text := range setup.UnknownIn(p.env) {
		p.logger.Warn("unknown variable", "problem", text)
	}
	return p.machine()
}

// A byteSize is a flag such as 20GB.
type byteSize int64

// String implements pflag.Value; there is no default that would be shown.
func (b *byteSize) String() string { return "" }

// Set implements pflag.Value.
func (b *byteSize) Set(s string) error {
	n, err := disk.Parse(s)
	*b = byteSize(n)
	return err
}

// Type implements pflag.Value.
func (*byteSize) Type() string { return "SIZE" }
