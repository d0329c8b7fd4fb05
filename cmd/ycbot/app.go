package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/app/web"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// appOptions are the settings of the App. What has a flag may also be set by a
// variable; secrets have only that.
type appOptions struct {
	id                                 int64
	keyFile                            string
	key                                []byte
	secret                             string
	secretBefore, sessionKeyBefore     string // that count as well; empty: none do
	clientID, clientSecret, sessionKey string // of the login; empty: there is none
	addr                               string
	metricsAddr                        string // where metrics are answered alone; empty: with the rest
	publicURL                          string
	data                               string
	database                           string // of PostgreSQL; empty: SQLite in data
	githubURL                          string
	configFile                         string
	operator                           *config.Config // that it holds; nil: none
	repositories                       config.Repositories
	retention                          string
	keepFor                            time.Duration

	diskQuota, diskFree, runDisk byteSize // 0: by free room, none, no bound

	noWork                            bool
	workers, perRepo, perInstallation int
	drain                             timeLimit
	sandbox, network                  choice
	agentsDir                         string
	allowRepos                        []string // globs, in place of those of the file
	allowInstallations                []int64
}

func newAppOptions() *appOptions {
	run := newRunOptions()
	return &appOptions{diskQuota: unset, diskFree: unset, runDisk: unset, workers: 2, perRepo: 2, drain: timeLimit{20 * time.Second}, sandbox: run.sandbox, network: run.network}
}

func appCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "The GitHub App: receive webhooks, verify pull requests",
		Long: `The GitHub App. Settings come from flags or the environment; secrets from the
environment alone: YCBOT_WEBHOOK_SECRET, YCBOT_APP_PRIVATE_KEY (or the file that
YCBOT_APP_PRIVATE_KEY_FILE names), YCBOT_CLIENT_SECRET, YCBOT_SESSION_KEY, DATABASE_URL.
"ycbot app manifest" makes an App with all of them. docs/operate.md tells how to run it.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(appServeCommand(p), appWorkCommand(p), appMigrateCommand(p), appManifestCommand(p))
	settings := ""
	cmd.PersistentFlags().StringVar(&settings, "settings", "", "`FILE` with variables, which the environment goes before ($YCBOT_SETTINGS)")
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
	f.StringVar(&o.addr, "addr", "", "listen on `HOST:PORT` ($YCBOT_ADDR, default 127.0.0.1:8080)")
	f.BoolVar(&o.noWork, "no-work", false, "only receive; \"ycbot app work\" does the work (needs PostgreSQL)")
	f.StringSliceVar(&o.allowRepos, "allow-repo", nil, "listen only to these repositories, `OWNER/NAME` with * and ? ($YCBOT_ALLOW_REPOS)")
	f.Int64SliceVar(&o.allowInstallations, "allow-installation", nil, "listen only to these installations, by `ID` ($YCBOT_ALLOW_INSTALLATIONS)")
	o.common(cmd)
	o.working(cmd)
	return cmd
}

func appWorkCommand(p *program) *cobra.Command {
	o := newAppOptions()
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Work on what servers have stored; PostgreSQL lets several machines do so",
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
		Short: "Bring the database to this version; serve and work do so too",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.place(p); err != nil {
				return err
			}
			db, err := p.openStore(cmd.Context(), o)
			if err != nil {
				return err
			}
			return db.Close()
		},
	}
	cmd.Flags().StringVar(&o.data, "data", "", "`DIR` of everything that is kept ($YCBOT_DATA, default ./data)")
	return cmd
}

// common are the flags of whoever acts as the App.
func (o *appOptions) common(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Int64Var(&o.id, "app-id", 0, "`ID` of the App ($YCBOT_APP_ID)")
	f.StringVar(&o.keyFile, "private-key-file", "", "`FILE` with its private key ($YCBOT_APP_PRIVATE_KEY_FILE)")
	f.StringVar(&o.metricsAddr, "metrics-addr", "", "answer /metrics, /healthz and /readyz on `HOST:PORT`, and /metrics nowhere else ($YCBOT_METRICS_ADDR)")
	f.StringVar(&o.publicURL, "public-url", "", "`URL` under which people reach the server ($YCBOT_PUBLIC_URL)")
	f.StringVar(&o.data, "data", "", "`DIR` of everything that is kept ($YCBOT_DATA, default ./data)")
	f.StringVar(&o.githubURL, "github-url", "", "`URL` of GitHub's API ($YCBOT_GITHUB_URL, $GITHUB_API_URL, default https://api.github.com)")
	f.StringVar(&o.configFile, "config", "", "`FILE` like .github/ycbot.yml, below that of each repository; its limits cannot be\nraised by one ($YCBOT_CONFIG)")
	f.StringVar(&o.retention, "retention", "", "how long runs are kept, such as 90d ($YCBOT_RETENTION, default 90d)")
}

// working are the flags of whoever works.
func (o *appOptions) working(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.workers, "workers", o.workers, "`N` runs at once in this process")
	f.IntVar(&o.perRepo, "per-repo", o.perRepo, "at most `N` runs at once of a repository, in all processes; 0: no bound")
	f.IntVar(&o.perInstallation, "per-installation", 0, "at most `N` runs at once of an installation, in all processes; 0: no bound")
	f.Var(&o.drain, "drain", "how long running jobs may go on after SIGTERM; then they are handed back")
	f.StringVar(&o.agentsDir, "agents-dir", "", "`DIR` of agent files, which come before those of each repository's base ($YCBOT_AGENTS_DIR)")
	f.Var(&o.diskQuota, "disk-quota", "what --data may hold, a `SIZE` such as 50GB; default: four fifths of what it holds and\nwhat is free ($YCBOT_DISK_QUOTA)")
	f.Var(&o.diskFree, "disk-free", "begin no run while less than this `SIZE` is free ($YCBOT_DISK_FREE, default 2GB)")
	f.Var(&o.runDisk, "run-disk", "what one run may write, a `SIZE`; 0: no bound ($YCBOT_RUN_DISK, default 20GB)")
	f.Var(&o.sandbox, "sandbox", "how commands of trusted heads are contained; auto and full: tier full or not at all.\nA lower `TIER` executes trusted heads in it. Heads of strangers always need tier full")
	f.Var(&o.network, "network", "when commands may use the network: none, setup, full")
}

// read completes the options from the environment, and says what is missing or
// contradicts itself, all at once.
func (o *appOptions) read(p *program) error {
	var errs []error
	note := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	errs = append(errs, o.place(p), o.identify(p))
	o.addr = cmp.Or(o.addr, p.getenv("YCBOT_ADDR"), "127.0.0.1:8080")
	o.metricsAddr = cmp.Or(o.metricsAddr, p.getenv("YCBOT_METRICS_ADDR"))
	o.publicURL = cmp.Or(o.publicURL, p.getenv("YCBOT_PUBLIC_URL"))
	o.agentsDir = cmp.Or(o.agentsDir, p.getenv("YCBOT_AGENTS_DIR"))
	o.githubURL = cmp.Or(o.githubURL, p.getenv("YCBOT_GITHUB_URL"), p.getenv("GITHUB_API_URL"))
	if u, err := url.Parse(o.publicURL); o.publicURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil) {
		note("YCBOT_PUBLIC_URL: want http(s)://HOST/…")
	}
	if o.workers < 0 || o.perRepo < 0 || o.perInstallation < 0 {
		note("--workers, --per-repo, --per-installation: want numbers from 0")
	}
	if o.workers == 0 && !o.noWork {
		note("--workers 0: there is nobody to work; give serve --no-work where other processes do")
	}
	if o.noWork && o.database == "" {
		note("--no-work needs PostgreSQL (DATABASE_URL): one process works on the SQLite file")
	}
	errs = append(errs, o.sizes(p))
	var err error
	if o.keepFor, err = parseRetention(cmp.Or(o.retention, p.getenv("YCBOT_RETENTION"), "90d")); err != nil {
		note("YCBOT_RETENTION: %w", err)
	}
	if name := cmp.Or(o.configFile, p.getenv("YCBOT_CONFIG")); name != "" {
		data, err := os.ReadFile(name)
		if err == nil {
			var file *config.Operator
			if file, err = config.ParseOperator(name, data); err == nil {
				o.operator, o.repositories = file.Config, file.Repositories
			}
		}
		if err != nil {
			note("YCBOT_CONFIG: %w", err)
		}
	}
	return errors.Join(errs...)
}

// place reads where things are kept.
func (o *appOptions) place(p *program) (err error) {
	o.database = p.getenv("DATABASE_URL")
	if o.database != "" && !strings.HasPrefix(o.database, "postgres://") && !strings.HasPrefix(o.database, "postgresql://") {
		return errors.New("DATABASE_URL: want postgres://…, or leave it unset for SQLite")
	}
	o.data, err = filepath.Abs(cmp.Or(o.data, p.getenv("YCBOT_DATA"), "data"))
	if err != nil {
		return fmt.Errorf("YCBOT_DATA: %w", err)
	}
	return nil
}

// identify reads which App this is.
func (o *appOptions) identify(p *program) error {
	var errs []error
	if text := p.getenv("YCBOT_APP_ID"); o.id == 0 && text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("YCBOT_APP_ID %q: want the number that GitHub shows in the App's settings", text))
		}
		o.id = id
	}
	if o.id <= 0 && len(errs) == 0 {
		errs = append(errs, errors.New("YCBOT_APP_ID is not set: it is the number that GitHub shows in the App's settings"))
	}
	key, file := p.getenv("YCBOT_APP_PRIVATE_KEY"), cmp.Or(o.keyFile, p.getenv("YCBOT_APP_PRIVATE_KEY_FILE"))
	switch {
	case key != "" && file != "":
		errs = append(errs, errors.New("YCBOT_APP_PRIVATE_KEY and YCBOT_APP_PRIVATE_KEY_FILE are both set: set one of them"))
	case key != "":
		o.key = []byte(strings.ReplaceAll(key, `\n`, "\n")) // as files of variables hold it on one line
	case file != "":
		var err error
		if o.key, err = os.ReadFile(file); err != nil {
			errs = append(errs, fmt.Errorf("YCBOT_APP_PRIVATE_KEY_FILE: %w", err))
		}
	default:
		errs = append(errs, errors.New("neither YCBOT_APP_PRIVATE_KEY nor YCBOT_APP_PRIVATE_KEY_FILE is set: make a private key in the App's settings"))
	}
	return errors.Join(errs...)
}

// listening reads what only a server needs.
func (o *appOptions) listening(p *program) error {
	var errs []error
	if o.secret = p.getenv("YCBOT_WEBHOOK_SECRET"); strings.TrimSpace(o.secret) == "" {
		errs = append(errs, errors.New("YCBOT_WEBHOOK_SECRET is not set: without it anybody could send webhooks, so the server does not start"))
	}
	if o.secretBefore = p.getenv("YCBOT_WEBHOOK_SECRET_PREVIOUS"); o.secretBefore != "" && strings.TrimSpace(o.secretBefore) == "" {
		errs = append(errs, errors.New("YCBOT_WEBHOOK_SECRET_PREVIOUS is blank: unset it"))
	}
	errs = append(errs, o.logins(p))
	words := func(name string) []string {
		return strings.FieldsFunc(p.getenv(name), func(r rune) bool { return r == ',' || r == ' ' })
	}
	if len(o.allowRepos) == 0 {
		o.allowRepos = words("YCBOT_ALLOW_REPOS")
	}
	for _, name := range o.allowRepos {
		if wrong := config.RepositoryGlob(name); wrong != "" {
			errs = append(errs, fmt.Errorf("YCBOT_ALLOW_REPOS %q: %s", name, wrong))
		}
	}
	if len(o.allowInstallations) == 0 {
		for _, text := range words("YCBOT_ALLOW_INSTALLATIONS") {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				errs = append(errs, fmt.Errorf("YCBOT_ALLOW_INSTALLATIONS %q: want numbers", text))
			}
			o.allowInstallations = append(o.allowInstallations, id)
		}
	}
	return errors.Join(errs...)
}

// allowed says whose events are listened to.
func (o *appOptions) allowed() app.Allowed {
	a := app.Allowed{Installations: o.allowInstallations, Repositories: o.repositories}
	if len(o.allowRepos) > 0 {
		a.Repositories.Allow = o.allowRepos
	}
	return a
}

// logins reads what people log in with. Without any of it there is no login.
func (o *appOptions) logins(p *program) error {
	o.clientID, o.clientSecret, o.sessionKey = p.getenv("YCBOT_CLIENT_ID"), p.getenv("YCBOT_CLIENT_SECRET"), p.getenv("YCBOT_SESSION_KEY")
	o.sessionKeyBefore = p.getenv("YCBOT_SESSION_KEY_PREVIOUS")
	switch {
	case o.clientID == "" && o.clientSecret == "":
		return nil
	case o.clientID == "" || o.clientSecret == "":
		return errors.New("YCBOT_CLIENT_ID and YCBOT_CLIENT_SECRET: the login needs both, as GitHub shows them in the App's settings")
	case o.sessionKeyBefore != "" && len(o.sessionKeyBefore) < web.MinKey:
		return fmt.Errorf("YCBOT_SESSION_KEY_PREVIOUS: want the key that YCBOT_SESSION_KEY was, of %d characters or more, or unset it", web.MinKey)
	case len(o.sessionKey) < web.MinKey:
		return fmt.Errorf("YCBOT_SESSION_KEY: the login needs a secret of %d characters or more, such as openssl rand -hex 32 makes", web.MinKey)
	}
	return nil
}

// parseRetention reads days, as 90d, beside what Go calls a duration.
func parseRetention(s string) (time.Duration, error) {
	var d time.Duration
	var err error
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
	} else {
		d, err = time.ParseDuration(s)
	}
	if err != nil || d < 24*time.Hour || d > 100*365*24*time.Hour {
		return 0, fmt.Errorf("%q: want days such as 90d, one at least", s)
	}
	return d, nil
}

// file is the SQLite database.
func (o *appOptions) file() string { return filepath.Join(o.data, "ycbot.db") }

// openStore opens and migrates the database.
func (p *program) openStore(ctx context.Context, o *appOptions) (*store.DB, error) {
	if err := os.MkdirAll(o.data, 0o700); err != nil {
		return nil, fmt.Errorf("YCBOT_DATA: %w", err)
	}
	db, err := store.Open(ctx, store.Options{URL: o.database, Path: o.file(), Now: p.now, Log: p.log()})
	if err != nil {
		return nil, err
	}
	if err := queue.Migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
