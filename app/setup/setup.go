// Package setup makes the GitHub App on GitHub, from a manifest, and writes the settings
// that the server reads.
package setup

import (
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
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Options say which App is made.
type Options struct {
	PublicURL      string        // where GitHub and people will reach the server
	GitHubURL      string        // of GitHub's API; "": github.com
	Server         string        // where people find that GitHub, without a slash at the end
	Name           string        // of the App; "": ycbot and the host
	Organization   string        // that it belongs to; "": to the person
	Out            string        // file of settings that is written
	Force          bool          // that replaces one
	Public         bool          // others may install it
	Wait           time.Duration // for the person
	Transport      http.RoundTripper
	Now            func() time.Time
	Stdout, Stderr io.Writer
}

// manifestName is how long GitHub lets the name of an App be.
const manifestName = 34

// LeastSecret is how many bytes a webhook secret has that no one guesses.
const LeastSecret = 16

// complete fills in what was left open, and says what is wrong.
func (o *Options) complete() error {
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	u, err := url.Parse(o.PublicURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.User != nil {
		return errors.New("--public-url: want https://HOST, where GitHub can reach the server")
	}
	if o.Name == "" {
		o.Name = "ycbot " + u.Hostname()
		o.Name = strings.TrimSpace(o.Name[:min(len(o.Name), manifestName)])
	}
	if len(o.Name) > manifestName {
		return fmt.Errorf("--name: GitHub takes %d characters at most", manifestName)
	}
	if o.Organization != "" && !organizationPattern.MatchString(o.Organization) {
		return fmt.Errorf("--org %q: want the name of an organization", o.Organization)
	}
	o.Out, err = filepath.Abs(o.Out)
	return err
}

var organizationPattern = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,98}$`)

// Permissions are what the App needs on GitHub, and [Events] what it listens to
// beside those of its installation, which every App gets.
func Permissions() map[string]string {
	return map[string]string{"checks": "write", "pull_requests": "write", "issues": "write", "contents": "read", "members": "read", "metadata": "read"}
}

// Events are what the App listens to.
func Events() []string {
	return []string{"pull_request", "issue_comment", "check_run", "check_suite", "merge_group"}
}

// manifest is what GitHub is asked for.
func (o *Options) manifest(back string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"name": o.Name, "url": o.PublicURL, "description": "Verifies pull requests by running them.", "public": o.Public,
		"hook_attributes": map[string]any{"url": o.PublicURL + "/webhook", "active": true},
		"redirect_url":    back, "callback_urls": []string{o.PublicURL + "/login/callback"},
		"request_oauth_on_install": false, "default_permissions": Permissions(), "default_events": Events(),
	})
}

// Make makes the App: it leads the person to GitHub, waits until GitHub answers, and
// writes the settings.
func Make(ctx context.Context, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	file, err := makeSettings(o.Out, o.Force) // before GitHub is asked, which answers once
	if err != nil {
		return err
	}
	defer file.discard()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for GitHub's answer: %w", err)
	}
	d := &portal{host: l.Addr().String(), word: rand.Text(), state: rand.Text(), codes: make(chan string, 1), result: make(chan error, 1)}
	if d.manifest, err = o.manifest("http://" + d.host + "/" + d.word + "/back"); err != nil {
		return errors.Join(err, l.Close())
	}
	d.post = o.Server + "/settings/apps/new"
	if o.Organization != "" {
		d.post = o.Server + "/organizations/" + o.Organization + "/settings/apps/new"
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
	fmt.Fprintf(o.Stderr, "Open this address in a browser on this machine, and confirm on GitHub:\n\n  http://%s/%s/\n\n", d.host, d.word)
	ctx, cancel := context.WithTimeoutCause(ctx, o.Wait, errors.New("no one confirmed in time: start again"))
	defer cancel()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case code := <-d.codes:
		err = o.finish(ctx, file, code)
		d.result <- err
		return err
	}
}

// finish fetches the App that was made, and writes its settings.
func (o *Options) finish(ctx context.Context, file *settingsFile, code string) error {
	made, err := github.Convert(ctx, github.Options{BaseURL: o.GitHubURL, Transport: o.Transport, Now: o.Now}, code)
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
		{"YCBOT_PUBLIC_URL", o.PublicURL},
	}
	if o.GitHubURL != "" && strings.TrimRight(o.GitHubURL, "/") != github.DefaultBaseURL {
		settings = append(settings, [2]string{"YCBOT_GITHUB_URL", o.GitHubURL})
	}
	if err := file.write(settings); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Stdout, `The App %s is made, and its settings are in %s.

Next:
  1. Install it on the repositories to verify:  %s/installations/new
  2. Start the server:                          ycbot app serve --settings %s
  3. Route %s to it.
`, made.Name, o.Out, strings.TrimRight(made.Page, "/"), shellWord(o.Out), o.PublicURL)
	return err
}

// shellWord quotes a word for a shell where it needs that.
func shellWord(s string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`).MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// A portal is where a browser on this machine goes to GitHub, and comes back.
type portal struct {
	host     string // address that it listens on
	word     string // that only the person knows who sees the terminal
	state    string // that only GitHub's answer to this person has
	post     string // where the manifest goes
	manifest []byte
	codes    chan string
	result   chan error // of what became of the code
}

//go:embed page.html
var portalPage string

func (d *portal) handler() http.Handler {
	page := template.Must(template.New("portal").Parse(portalPage))
	show := func(w http.ResponseWriter, status int, data map[string]string) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+styleSum(portalPage)+"'; base-uri 'none'; frame-ancestors 'none'")
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
