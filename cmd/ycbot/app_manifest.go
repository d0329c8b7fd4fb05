package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/pattern"
)

// manifestOptions are the flags of "ycbot app manifest".
type manifestOptions struct {
	publicURL, githubURL string
	name, organization   string
	out                  string
	force, public        bool
	wait                 time.Duration
}

func appManifestCommand(p *program) *cobra.Command {
	o := &manifestOptions{}
	cmd := &cobra.Command{
		Use:   "manifest",
		Short: "Make the App on GitHub, and write the settings that serve reads",
		Long: `Make the App on GitHub with the permissions and events that it needs, and write
its settings to a file: number, private key, secrets of webhook and login, and a
key for sessions. A page on this machine takes you to GitHub, which asks you to
confirm; nothing is made before. Over SSH forward the port of the address that is
printed.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.appManifest(cmd.Context(), o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.publicURL, "public-url", "", "`URL` under which GitHub and people will reach the server ($YCBOT_PUBLIC_URL)")
	f.StringVar(&o.organization, "org", "", "make it in the organization `NAME`; else it is yours")
	f.StringVar(&o.name, "name", "", "`NAME` of the App, 34 characters at most, different from all others on GitHub (default ycbot and the host)")
	f.BoolVar(&o.public, "public", false, "let others install it too")
	f.StringVar(&o.out, "out", "ycbot.env", "`FILE` to write")
	f.BoolVar(&o.force, "force", false, "replace the file if it is there")
	f.StringVar(&o.githubURL, "github-url", "", "`URL` of GitHub's API ($YCBOT_GITHUB_URL, $GITHUB_API_URL, default https://api.github.com)")
	f.DurationVar(&o.wait, "wait", 30*time.Minute, "how long to wait for you")
	return cmd
}

// manifestName is how long GitHub lets the name of an App be.
const manifestName = 34

// complete reads what flags leave open, and says what is wrong.
func (o *manifestOptions) complete(p *program) error {
	o.publicURL = strings.TrimRight(cmp.Or(o.publicURL, p.getenv("YCBOT_PUBLIC_URL")), "/")
	o.githubURL = cmp.Or(o.githubURL, p.getenv("YCBOT_GITHUB_URL"), p.getenv("GITHUB_API_URL"))
	u, err := url.Parse(o.publicURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil {
		return errors.New("--public-url: want https://HOST, where GitHub can reach the server")
	}
	if o.name == "" {
		o.name = "ycbot " + u.Hostname()
		o.name = strings.TrimSpace(o.name[:min(len(o.name), manifestName)])
	}
	if len(o.name) > manifestName {
		return fmt.Errorf("--name: GitHub takes %d characters at most", manifestName)
	}
	if o.organization != "" && !organizationPattern.MatchString(o.organization) {
		return fmt.Errorf("--org %q: want the name of an organization", o.organization)
	}
	o.out, err = filepath.Abs(o.out)
	return err
}

var organizationPattern = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,98}$`)

// manifest is what GitHub is asked for.
func (o *manifestOptions) manifest(back string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"name": o.name, "url": o.publicURL, "description": "Verifies pull requests by running them.", "public": o.public,
		"hook_attributes": map[string]any{"url": o.publicURL + "/webhook", "active": true},
		"redirect_url":    back, "callback_urls": []string{o.publicURL + "/login/callback"},
		"request_oauth_on_install": false, "default_permissions": appPermissions(), "default_events": appEvents(),
	})
}

// appManifest does "ycbot app manifest".
func (p *program) appManifest(ctx context.Context, o *manifestOptions) error {
	if err := o.complete(p); err != nil {
		return err
	}
	file, err := makeSettings(o.out, o.force) // before GitHub is asked, which answers once
	if err != nil {
		return err
	}
	defer file.discard()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for GitHub's answer: %w", err)
	}
	d := &door{host: l.Addr().String(), word: rand.Text(), state: rand.Text(), codes: make(chan string, 1), result: make(chan error, 1)}
	if d.manifest, err = o.manifest("http://" + d.host + "/" + d.word + "/back"); err != nil {
		return errors.Join(err, l.Close())
	}
	d.post = p.serverOf(o.githubURL) + "/settings/apps/new"
	if o.organization != "" {
		d.post = p.serverOf(o.githubURL) + "/organizations/" + o.organization + "/settings/apps/new"
	}
	srv := &http.Server{Handler: d.handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go func() { _ = srv.Serve(l) }() // its end is ours
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if srv.Shutdown(end) != nil {
			// Browsers open connections ahead, for which Shutdown waits. The page has its
			// answer, or no one looks at it.
			_ = srv.Close()
		}
	}()
	fmt.Fprintf(p.stderr, "Open this address in a browser on this machine, and confirm on GitHub:\n\n  http://%s/%s/\n\n", d.host, d.word)
	ctx, cancel := context.WithTimeoutCause(ctx, o.wait, errors.New("nobody confirmed in time: start again"))
	defer cancel()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case code := <-d.codes:
		err = p.finishManifest(ctx, o, file, code)
		d.result <- err
		return err
	}
}

// finishManifest fetches the App that was made, and writes its settings.
func (p *program) finishManifest(ctx context.Context, o *manifestOptions, file *settingsFile, code string) error {
	made, err := github.Convert(ctx, github.Options{BaseURL: o.githubURL, Transport: p.client.Transport, Now: p.now}, code)
	if err != nil {
		return fmt.Errorf("%w\nIf GitHub lists the App in your settings, delete it there and start again", err)
	}
	session := make([]byte, 32)
	_, _ = rand.Read(session) // it never fails
	settings := [][2]string{
		{"YCBOT_APP_ID", strconv.FormatInt(made.ID, 10)},
		{"YCBOT_APP_PRIVATE_KEY", made.Key},
		{"YCBOT_WEBHOOK_SECRET", made.WebhookSecret},
		{"YCBOT_CLIENT_ID", made.ClientID},
		{"YCBOT_CLIENT_SECRET", made.ClientSecret},
		{"YCBOT_SESSION_KEY", hex.EncodeToString(session)},
		{"YCBOT_PUBLIC_URL", o.publicURL},
	}
	if o.githubURL != "" && strings.TrimRight(o.githubURL, "/") != github.DefaultBaseURL {
		settings = append(settings, [2]string{"YCBOT_GITHUB_URL", o.githubURL})
	}
	if err := file.write(settings); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, `The App %s is made, and its settings are in %s.

Next:
  1. Install it where it shall verify:  %s/installations/new
  2. Start the server:                  ycbot app serve --settings %s
  3. Lead %s to it.
`, made.Name, o.out, strings.TrimRight(made.Page, "/"), shellWord(o.out), o.publicURL)
	return err
}

// shellWord quotes a word for a shell where it needs that.
func shellWord(s string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`).MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// A door is where a browser on this machine goes to GitHub, and comes back.
type door struct {
	host     string // address that it listens on
	word     string // that only the person knows who sees the terminal
	state    string // that only GitHub's answer to this person has
	post     string // where the manifest goes
	manifest []byte
	codes    chan string
	result   chan error // of what became of the code
}

//go:embed app_manifest.html
var doorPage string

func (d *door) handler() http.Handler {
	page := template.Must(template.New("door").Parse(doorPage))
	show := func(w http.ResponseWriter, status int, data map[string]string) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+styleSum(doorPage)+"'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_ = page.Execute(w, data) // the browser may be gone
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+d.word+"/{$}", func(w http.ResponseWriter, _ *http.Request) {
		show(w, http.StatusOK, map[string]string{"Post": d.post + "?state=" + d.state, "Manifest": string(d.manifest)})
	})
	mux.HandleFunc("GET /"+d.word+"/back", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(d.state)) != 1 || q.Get("code") == "" {
			show(w, http.StatusForbidden, map[string]string{"Text": "This is not GitHub's answer to what was asked here. Begin again in the terminal."})
			return
		}
		select {
		case d.codes <- q.Get("code"):
		default:
			show(w, http.StatusConflict, map[string]string{"Text": "This was answered already. See the terminal."})
			return
		}
		if err := <-d.result; err != nil {
			show(w, http.StatusBadGateway, map[string]string{"Text": "The App could not be set up. The terminal says why."})
			return
		}
		show(w, http.StatusOK, map[string]string{"Text": "The App is made, and its settings are written. The terminal says what is next; you can close this page."})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != d.host { // a name that someone led here
			http.NotFound(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// styleSum names the style of a page to its policy.
func styleSum(page string) string {
	_, style, _ := strings.Cut(page, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}
