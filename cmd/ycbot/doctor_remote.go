package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/workspace"
)

// askTime is how long someone may take to answer the doctor.
const askTime = 8 * time.Second

// examineProvider asks the model for a word, as a run would.
func (p *program) examineProvider(ctx context.Context, c *chart, o *doctorOptions) {
	kind := cmp.Or(o.run.provider.value, p.getenv("YCBOT_PROVIDER"), p.likelyProvider())
	name := cmp.Or(o.run.model, p.getenv("YCBOT_MODEL"))
	if kind == scripted {
		c.warn("unset YCBOT_PROVIDER to ask a model", "the provider script plays a scenario and asks no model")
		return
	}
	preset, err := provider.Find(kind)
	if err != nil {
		c.issue("set YCBOT_PROVIDER to one of them", "%v", err)
		return
	}
	target, err := preset.Resolve(provider.Overrides{BaseURL: cmp.Or(o.run.baseURL, p.getenv("YCBOT_BASE_URL")), Key: p.getenv("YCBOT_API_KEY")}, p.getenv)
	switch {
	case name == "" && err == nil && target.Key != "":
		c.warn("set YCBOT_MODEL (or the input model of the Action) to have agents look at changes", "there is a key for %s, and no model is named: runs are gate only", preset.Name)
		return
	case name == "":
		c.skip("set YCBOT_MODEL and a key to have agents look at changes", "no model is named: runs are gate only")
		return
	case errors.Is(err, provider.ErrNoKey):
		c.issue("set YCBOT_API_KEY or the provider's own variable, or run with --no-model for the gate alone", "model %s: %v", name, err)
		return
	case err != nil:
		c.issue("set YCBOT_BASE_URL to https://HOST/…", "model %s: %v", name, err)
		return
	}
	key := "with a key"
	if target.Key == "" {
		key = "without a key"
	} else {
		key += " from " + cmp.Or(target.KeyFrom, "YCBOT_API_KEY")
	}
	c.ok("%s at %s, by the API %s, %s", preset.Name, urlHost(target.BaseURL), target.API, key)
	if o.offline {
		c.skip("", "model %s: not asked (--offline)", name)
		return
	}
	p.probe(ctx, c, target, name)
}

func (p *program) probe(ctx context.Context, c *chart, target provider.Target, name string) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	m, err := target.Open(provider.Options{
		Model: name, HTTPClient: p.client, Now: p.now, Log: p.log(), Retry: model.Retry{Tries: 1, IdleFor: askTime},
	})
	if err != nil {
		c.issue("", "model %s: %v", name, err)
		return
	}
	f := target.Probe(ctx, m)
	switch f.Trouble {
	case provider.TroubleNone:
		c.ok("%s", f.Text)
	case provider.TroubleStopped:
		c.issue("check the address and the network", "model %s: no answer in %v", name, askTime)
	default:
		c.issue(f.Todo, "%s", f.Text) // which names the model
	}
	prices, err := model.ListPrices()
	if err != nil {
		c.issue("", "prices: %v", err)
	} else if _, known := prices.Cost(name, model.Usage{Input: 1}); !known {
		c.warn("limit runs by tokens instead of cost (limits.tokens, --max-tokens)", "the price of %s is not known: cost limits do not hold for it", name)
	}
}

// urlHost is what of an address holds no password.
func urlHost(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "an address that is no URL"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// examineGitHub asks who the token is of, and what it may.
func (p *program) examineGitHub(ctx context.Context, c *chart, o *doctorOptions) {
	token, err := p.token()
	if err != nil {
		c.skip("set GITHUB_TOKEN=$(gh auth token) for run --pr and --publish", "no token: neither GITHUB_TOKEN nor GH_TOKEN is set")
		return
	}
	base := cmp.Or(p.getenv("GITHUB_API_URL"), github.DefaultBaseURL)
	if o.offline {
		c.skip("", "%s: not asked (--offline)", urlHost(base))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	h, err := p.newHub(token)
	if err != nil {
		c.issue("set GITHUB_API_URL to the API's address, or unset it", "%v", err)
		return
	}
	self, err := h.client.Self(ctx)
	switch {
	case github.IsUnauthorized(err):
		c.issue("make a new token, or GITHUB_TOKEN=$(gh auth token)", "%s refuses the token", urlHost(base))
		return
	case err != nil:
		c.issue("check the network, a proxy, and GITHUB_API_URL", "%v", err)
		return
	}
	c.ok("%s: the token is of %s", urlHost(base), self.Login)
	p.examineAccess(ctx, c, h, o.run.dir)
}

// examineAccess asks what the token may do in the repository here.
func (p *program) examineAccess(ctx context.Context, c *chart, h *hub, dir string) {
	repo, ok := p.originOf(ctx, dir)
	if !ok {
		c.skip("", "no repository of GitHub's here to ask about")
		return
	}
	access, err := h.client.Access(ctx, repo)
	switch {
	case github.IsNotFound(err) || github.IsForbidden(err):
		c.warn("give the token access to it (contents: read, pull requests: write, checks or commit statuses: write)", "the token does not see %s", repo)
		return
	case err != nil:
		c.issue("check the network", "%v", err)
		return
	}
	scopes := ""
	if access.Scopes != nil {
		scopes = ", scopes " + strings.Join(access.Scopes, " ")
	}
	switch access.Role {
	case "admin", "maintain", "write":
		c.ok("%s: %s%s", repo, access.Role, scopes)
	case "":
		c.ok("%s can be read; GitHub does not say what else this kind of token may", repo)
	default:
		c.warn("results can be seen here and not posted: --publish needs a token with write", "%s: %s%s", repo, access.Role, scopes)
	}
}

// originOf is the repository of GitHub's that the one in dir was cloned from.
func (p *program) originOf(ctx context.Context, dir string) (github.Repo, bool) {
	git, err := workspace.NewGit("git", p.env, p.log())
	if err != nil {
		return github.Repo{}, false
	}
	r, err := git.Discover(ctx, dir)
	if err != nil {
		return github.Repo{}, false
	}
	owner, name, ok := strings.Cut(r.Name, "/")
	return github.Repo{Owner: owner, Name: name}, ok && !strings.Contains(name, "/")
}

// appPermissions are what the App needs on GitHub, and appEvents what it listens to
// beside those of its installation, which every App gets.
func appPermissions() map[string]string {
	return map[string]string{"checks": "write", "pull_requests": "write", "issues": "write", "contents": "read", "members": "read", "metadata": "read"}
}

func appEvents() []string {
	return []string{"pull_request", "issue_comment", "check_run", "check_suite", "merge_group"}
}

// examineApp looks at the settings of the App, here and on GitHub.
func (p *program) examineApp(ctx context.Context, c *chart, o *doctorOptions) {
	set := slices.ContainsFunc([]string{"YCBOT_APP_ID", "YCBOT_APP_PRIVATE_KEY", "YCBOT_APP_PRIVATE_KEY_FILE", "YCBOT_WEBHOOK_SECRET"}, func(name string) bool { return p.getenv(name) != "" })
	if !set {
		c.skip("docs/operate.md tells how to set one up", "no App is set up here; only \"ycbot app\" needs one")
		return
	}
	a := newAppOptions()
	if err := errors.Join(a.read(p), a.listening(p)); err != nil {
		for line := range strings.Lines(err.Error()) {
			c.issue("docs/operate.md lists the settings", "%s", line)
		}
		return
	}
	c.ok("App %d: id, private key and webhook secret are set", a.id)
	if len(strings.TrimSpace(a.secret)) < 16 {
		c.warn("use 32 random bytes: openssl rand -hex 32", "the webhook secret is short")
	}
	p.examineData(ctx, c, a, o.offline)
	if o.offline {
		c.skip("", "the App on GitHub: not asked (--offline)")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	p.examineInstalled(ctx, c, a)
	p.examineServer(ctx, c, a.publicURL)
}

// examineInstalled compares what GitHub's settings of the App say with what it needs.
func (p *program) examineInstalled(ctx context.Context, c *chart, a *appOptions) {
	client, err := github.New(github.Options{
		BaseURL: a.githubURL, Transport: p.client.Transport, Now: p.now, Log: p.log(), App: &github.App{ID: a.id, Key: a.key},
	})
	if err != nil {
		c.issue("make a new private key in the App's settings", "%v", err)
		return
	}
	info, err := client.AppInfo(ctx)
	switch {
	case github.IsUnauthorized(err) || github.IsNotFound(err):
		c.issue("compare YCBOT_APP_ID with the App's settings, and make a new private key there", "GitHub does not know App %d with this key", a.id)
		return
	case err != nil:
		c.issue("check the network and YCBOT_GITHUB_URL", "%v", err)
		return
	}
	var lacks []string
	for name, want := range appPermissions() {
		if has := info.Permissions[name]; has != want && has != "write" && has != "admin" {
			lacks = append(lacks, fmt.Sprintf("%s: %s", strings.ReplaceAll(name, "_", " "), want))
		}
	}
	for _, event := range appEvents() {
		if !slices.Contains(info.Events, event) {
			lacks = append(lacks, "event "+event)
		}
	}
	if slices.Sort(lacks); len(lacks) > 0 {
		c.issue("set them in the App's settings, Permissions & events, and accept them in each installation", "the App %s lacks %s", info.Slug, strings.Join(lacks, ", "))
		return
	}
	c.ok("GitHub knows it as %s, with the permissions and events that it needs", info.Slug)
}

// examineServer asks the server whether it is there.
func (p *program) examineServer(ctx context.Context, c *chart, public string) {
	if public == "" {
		c.warn("set YCBOT_PUBLIC_URL to where people reach the server", "check runs link to no page")
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(public, "/")+"/healthz", nil)
	if err != nil {
		c.issue("set YCBOT_PUBLIC_URL to https://HOST", "YCBOT_PUBLIC_URL: %v", err)
		return
	}
	resp, err := p.client.Do(req)
	if err != nil {
		c.warn("start it with \"ycbot app serve\"; if it runs, check its proxy and certificate", "no server answers at %s: %v", urlHost(public), err)
		return
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16)) // so that the connection can end well
	if resp.StatusCode != http.StatusOK {
		c.warn("check what answers there, and its proxy", "%s/healthz answers %s", urlHost(public), resp.Status)
		return
	}
	c.ok("a server answers at %s", urlHost(public))
}
