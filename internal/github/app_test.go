package github_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
)

// A client of an App lists its deliveries over all pages and no further back than asked, and
// asks for one again; its installation's token is for the one repository that was named; a
// client with a token has no deliveries.
func TestAppItself(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	var calls []string
	var url string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls = append(calls, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		one := func(id int, ago time.Duration) {
			fmt.Fprintf(w, `[{"id": %d, "guid": "g%d", "delivered_at": %q, "status_code": 502}]`, id, id, now.Add(-ago).Format(time.RFC3339))
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/attempts"):
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{}`)
		case strings.HasSuffix(r.URL.Path, "/access_tokens"):
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"token": "ghs_narrow", "expires_at": "2099-01-01T00:00:00Z"}`)
		case r.URL.Query().Get("cursor") == "":
			w.Header().Set("Link", "<"+url+"/app/hook/deliveries?per_page=100&cursor=b>; rel=\"next\"")
			one(3, time.Hour)
		case r.URL.Query().Get("cursor") == "b":
			w.Header().Set("Link", "<"+url+"/app/hook/deliveries?per_page=100&cursor=c>; rel=\"next\"")
			one(2, 2*time.Hour)
		default:
			one(1, 4*time.Hour)
		}
	}))
	t.Cleanup(server.Close)
	url = server.URL
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	clock := func() time.Time { return now }
	c, err := github.New(github.Options{BaseURL: url, Now: clock, App: &github.App{ID: 7, Key: key, Installation: 9, Repository: "sums"}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.HookDeliveries(t.Context(), now.Add(-3*time.Hour))
	if err != nil || len(all) != 2 || all[0].ID != 3 || all[1].GUID != "g2" || all[1].Status != 502 {
		t.Errorf("deliveries %+v, %v; want 3 and 2", all, err)
	}
	if err := c.Redeliver(t.Context(), 3); err != nil {
		t.Error(err)
	}
	if token, err := c.Token(t.Context()); err != nil || token != "ghs_narrow" {
		t.Errorf("token %q, %v", token, err)
	}
	numbered, err := github.New(github.Options{BaseURL: url, Now: clock, App: &github.App{ID: 7, Key: key, Installation: 9, Repository: "sums", RepositoryID: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := numbered.Token(t.Context()); err != nil {
		t.Error(err)
	}
	want := []string{
		"GET /app/hook/deliveries?per_page=100", "GET /app/hook/deliveries?cursor=b&per_page=100", "GET /app/hook/deliveries?cursor=c&per_page=100",
		"POST /app/hook/deliveries/3/attempts", `POST /app/installations/9/access_tokens {"repositories":["sums"]}`,
		`POST /app/installations/9/access_tokens {"repository_ids":[5]}`,
	}
	if got := strings.Join(calls, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("calls\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	plain, err := github.New(github.Options{BaseURL: url, Now: clock, Token: "t0ken"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plain.HookDeliveries(t.Context(), now); err == nil {
		t.Error("a client with a token lists deliveries")
	}
	if token, err := plain.Token(t.Context()); err != nil || token != "t0ken" {
		t.Errorf("token %q, %v", token, err)
	}
}

// A token that was made a moment ago may be unknown to some of GitHub's servers: that is waited for, a few
// seconds and also with what writes, and not where the token is given back or nothing made it.
func TestNewTokenIsNotKnownYet(t *testing.T) {
	t.Parallel()
	unknown := 0 // answers that say so
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/access_tokens"):
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"token": "ghs_new", "expires_at": "2099-01-01T00:00:00Z"}`)
		case unknown > 0:
			unknown--
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"message": "Bad credentials"}`)
		default:
			fmt.Fprint(w, `{"id": 1, "number": 3}`)
		}
	}))
	t.Cleanup(server.Close)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	var waited time.Duration
	opts := github.Options{BaseURL: server.URL, Now: time.Now, App: &github.App{ID: 7, Key: key, Installation: 9}, Wait: func(_ context.Context, d time.Duration) error {
		waited += d
		return nil
	}}
	c, err := github.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	repo := github.Repo{Owner: "acme", Name: "sums"}
	comment := func() error { _, err := c.CreateComment(t.Context(), repo, 3, "x"); return err }
	for _, tt := range []struct {
		unknown int
		waits   time.Duration
		refused bool
	}{{0, 0, false}, {1, time.Second, false}, {3, 7 * time.Second, false}, {4, 7 * time.Second, true}} {
		unknown, waited = tt.unknown, 0
		if err := comment(); github.IsUnauthorized(err) != tt.refused || !tt.refused && err != nil || waited != tt.waits {
			t.Errorf("unknown %d times: %v after %v", tt.unknown, err, waited)
		}
	}
	unknown, waited = 1, 0
	if err := c.Revoke(t.Context()); err != nil || waited != 0 {
		t.Errorf("given back: %v after %v", err, waited)
	}
	opts.App, opts.Token, unknown = nil, "t0ken", 1
	if c, err = github.New(opts); err != nil {
		t.Fatal(err)
	}
	if err := comment(); !github.IsUnauthorized(err) || waited != 0 {
		t.Errorf("a token of the operator's: %v after %v", err, waited)
	}
}

// A repository is looked for by its number, and by its name where GitHub does not know the number
// or none is known.
func TestInstallationOf(t *testing.T) {
	t.Parallel()
	s, _ := world(t)
	app := s.AddApp(7, "ycbot")
	number := s.AddRepo("acme", "gears").ID
	id := s.Install(app, map[string]string{"contents": "read"}, widgets)
	c, err := github.New(github.Options{BaseURL: s.URL, Now: s.Now, App: &github.App{ID: 7, Key: app.Key}})
	if err != nil {
		t.Fatal(err)
	}
	gone := github.Repo{Owner: "acme", Name: "gone"}
	for _, tt := range []struct {
		what   string
		repo   github.Repo
		number int64
		want   int64
	}{
		{"by its name", widgets, 0, id},
		{"by its name, of a number that is not known", widgets, number + 1000, id},
		{"of neither", gone, number + 1000, 0},
		{"of another, that the App does not see", gone, number, 0},
	} {
		if got, err := c.InstallationOf(t.Context(), tt.repo, tt.number); err != nil || got != tt.want {
			t.Errorf("%s: %d, %v, want %d", tt.what, got, err, tt.want)
		}
	}
}
