package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/app/web"
	"github.com/ycbot/ycbot/internal/blobs"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/disk"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/store"
)

// Options are the settings of the App. What is empty is read from the environment; secrets
// are read only from there.
type Options struct {
	ID                                 int64
	KeyFile                            string
	Key                                []byte
	Secret                             string // of webhooks
	SecretBefore, SessionKeyBefore     string // that count as well; empty: none do
	ClientID, ClientSecret, SessionKey string // of the login; empty: there is none
	Addr                               string
	LoginRequired                      bool   // who has not logged in sees no page
	MetricsAddr                        string // where metrics are answered alone; empty: with the rest
	PublicURL                          string
	Data                               string
	Database                           string // of PostgreSQL; empty: SQLite in Data
	Blobs                              string // address of a bucket; empty: in Data, or in PostgreSQL
	Bucket                             blobs.Bucket
	GitHubURL                          string
	ConfigFile                         string
	Operator                           *config.Config // that it holds; nil: none
	Force                              *config.Force  // what it lays over the repositories'; nil: nothing
	Retention                          string
	KeepFor                            time.Duration

	DiskQuota, DiskFree, RunDisk int64 // bytes, or Unset; 0: by free room, none, no bound

	NoWork                            bool
	Workers, PerRepo, PerInstallation int
	Drain                             time.Duration
	Sandbox, Network                  string
	AgentsDir                         string
	AllowRepos                        []string    // globs, in place of those of the file
	Allow                             app.Allowed // whose events are listened to
}

// Unset is a size that no flag names.
const Unset = -1

// Read completes the options from the environment, and says what is missing or
// contradicts itself, all at once.
func (o *Options) Read(getenv func(string) string) error {
	var errs []error
	note := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	errs = append(errs, o.Place(getenv), o.identify(getenv))
	o.Addr = cmp.Or(o.Addr, getenv("YCBOT_ADDR"), "127.0.0.1:8080")
	o.MetricsAddr = cmp.Or(o.MetricsAddr, getenv("YCBOT_METRICS_ADDR"))
	errs = append(errs, address("YCBOT_ADDR", o.Addr))
	if o.MetricsAddr != "" {
		errs = append(errs, address("YCBOT_METRICS_ADDR", o.MetricsAddr))
	}
	o.PublicURL = cmp.Or(o.PublicURL, getenv("YCBOT_PUBLIC_URL"))
	o.AgentsDir = cmp.Or(o.AgentsDir, getenv("YCBOT_AGENTS_DIR"))
	o.GitHubURL = cmp.Or(o.GitHubURL, getenv("YCBOT_GITHUB_URL"), getenv("GITHUB_API_URL"))
	if u, err := url.Parse(o.PublicURL); o.PublicURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil) {
		note("YCBOT_PUBLIC_URL: want http(s)://HOST/…")
	}
	if o.Workers < 0 || o.PerRepo < 0 || o.PerInstallation < 0 {
		note("--workers, --per-repo, --per-installation: want numbers from 0")
	}
	if o.Workers == 0 && !o.NoWork {
		note("--workers 0: there is no one to work; give serve --no-work where other processes do")
	}
	if o.NoWork && o.Database == "" {
		note("--no-work needs PostgreSQL (DATABASE_URL): one process works on the SQLite file")
	}
	errs = append(errs, o.sizes(getenv))
	var err error
	if o.KeepFor, err = parseRetention(cmp.Or(o.Retention, getenv("YCBOT_RETENTION"), "90d")); err != nil {
		note("YCBOT_RETENTION: %w", err)
	}
	if name := cmp.Or(o.ConfigFile, getenv("YCBOT_CONFIG")); name != "" {
		data, err := regular.Read(name)
		if err == nil {
			var file *config.Operator
			if file, err = config.ParseOperator(name, data); err == nil {
				o.Operator, o.Allow.Repositories, o.Force = file.Config, file.Repositories, file.Force
			}
		}
		if err != nil {
			note("YCBOT_CONFIG: %w", err)
		}
	}
	errs = append(errs, o.allowed(getenv)) // in place of what the file says
	return errors.Join(errs...)
}

// address says what keeps a text from being an address that can be listened on.
func address(name, text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%s %q: want HOST:PORT", name, text)
	}
	return nil
}

// Place reads where things are kept.
func (o *Options) Place(getenv func(string) string) (err error) {
	o.Database = getenv("DATABASE_URL")
	if o.Database != "" && !strings.HasPrefix(o.Database, "postgres://") && !strings.HasPrefix(o.Database, "postgresql://") {
		return errors.New("DATABASE_URL: want postgres://…, or leave it unset for SQLite")
	}
	o.Data, err = filepath.Abs(cmp.Or(o.Data, getenv("YCBOT_DATA"), "data"))
	if err != nil {
		return fmt.Errorf("YCBOT_DATA: %w", err)
	}
	// YCBOT_BLOBS is the name that it had before.
	if o.Blobs = cmp.Or(o.Blobs, getenv("YCBOT_BLOB_URL"), getenv("YCBOT_BLOBS")); o.Blobs != "" {
		if o.Bucket, err = blobs.Open(o.Blobs); err != nil {
			return fmt.Errorf("YCBOT_BLOB_URL: %w", err)
		}
	}
	return nil
}

// identify reads which App this is.
func (o *Options) identify(getenv func(string) string) error {
	var errs []error
	if text := getenv("YCBOT_APP_ID"); o.ID == 0 && text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			errs = append(errs, fmt.Errorf("YCBOT_APP_ID %q: want the number that GitHub shows in the App's settings", text))
		}
		o.ID = id
	}
	if o.ID <= 0 && len(errs) == 0 {
		errs = append(errs, errors.New("YCBOT_APP_ID is not set: it is the number that GitHub shows in the App's settings"))
	}
	key, file := getenv("YCBOT_APP_PRIVATE_KEY"), cmp.Or(o.KeyFile, getenv("YCBOT_APP_PRIVATE_KEY_FILE"))
	switch {
	case key != "" && file != "":
		errs = append(errs, errors.New("YCBOT_APP_PRIVATE_KEY and YCBOT_APP_PRIVATE_KEY_FILE are both set: set one of them"))
	case key != "":
		o.Key = []byte(strings.ReplaceAll(key, `\n`, "\n")) // as files of variables hold it on one line
	case file != "":
		var err error
		if o.Key, err = regular.Read(file); err != nil {
			errs = append(errs, fmt.Errorf("YCBOT_APP_PRIVATE_KEY_FILE: %w", err))
		}
	default:
		errs = append(errs, errors.New("neither YCBOT_APP_PRIVATE_KEY nor YCBOT_APP_PRIVATE_KEY_FILE is set: make a private key in the App's settings"))
	}
	return errors.Join(errs...)
}

// Listening reads what only a server needs.
func (o *Options) Listening(getenv func(string) string) error {
	var errs []error
	if o.Secret = getenv("YCBOT_WEBHOOK_SECRET"); strings.TrimSpace(o.Secret) == "" {
		errs = append(errs, errors.New("YCBOT_WEBHOOK_SECRET is not set: without it anyone could send webhooks, so the server does not start"))
	}
	if o.SecretBefore = getenv("YCBOT_WEBHOOK_SECRET_PREVIOUS"); o.SecretBefore != "" && strings.TrimSpace(o.SecretBefore) == "" {
		errs = append(errs, errors.New("YCBOT_WEBHOOK_SECRET_PREVIOUS is blank: unset it"))
	}
	errs = append(errs, o.logins(getenv))
	return errors.Join(errs...)
}

// allowed reads who is listened to. It is for workers too: a job may have been stored before.
func (o *Options) allowed(getenv func(string) string) error {
	var errs []error
	words := func(name string) []string {
		return strings.FieldsFunc(getenv(name), func(r rune) bool { return r == ',' || r == ' ' })
	}
	if len(o.AllowRepos) == 0 {
		o.AllowRepos = words("YCBOT_ALLOW_REPOS")
	}
	for _, name := range o.AllowRepos {
		if wrong := config.RepositoryGlob(name); wrong != "" {
			errs = append(errs, fmt.Errorf("YCBOT_ALLOW_REPOS %q: %s", name, wrong))
		}
	}
	if len(o.AllowRepos) > 0 {
		o.Allow.Repositories.Allow = o.AllowRepos
	}
	if len(o.Allow.Installations) == 0 {
		for _, text := range words("YCBOT_ALLOW_INSTALLATIONS") {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				errs = append(errs, fmt.Errorf("YCBOT_ALLOW_INSTALLATIONS %q: want numbers", text))
			}
			o.Allow.Installations = append(o.Allow.Installations, id)
		}
	}
	return errors.Join(errs...)
}

// logins reads what people log in with. Without any of it there is no login.
func (o *Options) logins(getenv func(string) string) error {
	o.ClientID, o.ClientSecret, o.SessionKey = getenv("YCBOT_CLIENT_ID"), getenv("YCBOT_CLIENT_SECRET"), getenv("YCBOT_SESSION_KEY")
	o.SessionKeyBefore = getenv("YCBOT_SESSION_KEY_PREVIOUS")
	wanted := getenv("YCBOT_LOGIN")
	o.LoginRequired = wanted == "required"
	switch {
	case wanted != "" && wanted != "required" && wanted != "optional":
		return fmt.Errorf("YCBOT_LOGIN: want required or optional, have %q", wanted)
	case o.LoginRequired && o.ClientID == "":
		return errors.New("YCBOT_LOGIN: a required login needs YCBOT_CLIENT_ID and YCBOT_CLIENT_SECRET")
	case o.ClientID == "" && o.ClientSecret == "":
		return nil
	case o.ClientID == "" || o.ClientSecret == "":
		return errors.New("YCBOT_CLIENT_ID and YCBOT_CLIENT_SECRET: the login needs both, as GitHub shows them in the App's settings")
	case o.SessionKeyBefore != "" && len(o.SessionKeyBefore) < web.MinKey:
		return fmt.Errorf("YCBOT_SESSION_KEY_PREVIOUS: want the key that YCBOT_SESSION_KEY was, of %d characters or more, or unset it", web.MinKey)
	case len(o.SessionKey) < web.MinKey:
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

// File is the SQLite database.
func (o *Options) File() string { return filepath.Join(o.Data, "ycbot.db") }

const (
	defaultDiskFree = 2e9
	defaultRunDisk  = 20e9
)

// sizes reads from the environment what no flag says.
func (o *Options) sizes(getenv func(string) string) error {
	var errs []error
	for _, size := range []struct {
		name  string
		value *int64
		other int64
	}{
		{"YCBOT_DISK_QUOTA", &o.DiskQuota, 0}, {"YCBOT_DISK_FREE", &o.DiskFree, defaultDiskFree}, {"YCBOT_RUN_DISK", &o.RunDisk, defaultRunDisk},
	} {
		text := getenv(size.name)
		switch {
		case *size.value != Unset:
		case text == "":
			*size.value = size.other
		default:
			n, err := disk.Parse(text)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", size.name, err))
			}
			*size.value = n
		}
	}
	return errors.Join(errs...)
}

// openStore opens and migrates the database.
func openStore(ctx context.Context, m machine.Machine, o *Options) (*store.DB, error) {
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return nil, fmt.Errorf("YCBOT_DATA: %w", err)
	}
	db, err := store.Open(ctx, store.Options{URL: o.Database, Path: o.File(), Now: m.Now, Log: m.Log, Bucket: o.Bucket})
	if err != nil {
		return nil, err
	}
	if err := queue.Migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Migrate brings the database to this version, and says which database and version that is.
func Migrate(ctx context.Context, m machine.Machine, o Options) (string, error) {
	db, err := openStore(ctx, m, &o)
	if err != nil {
		return "", err
	}
	version, err := db.Version(ctx)
	if err = errors.Join(err, db.Close()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is at version %d", o.databaseName(), version), nil
}

// databaseName is which database it is, without the password in its address.
func (o *Options) databaseName() string {
	if o.Database == "" {
		return "SQLite at " + o.File()
	}
	u, err := url.Parse(o.Database)
	if err != nil { // the driver has another form of it
		return "PostgreSQL"
	}
	return "PostgreSQL at " + u.Host + u.Path
}
