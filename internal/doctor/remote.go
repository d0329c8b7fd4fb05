package doctor

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

	"github.com/ycbot/ycbot/app/setup"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/model/script"
	"github.com/ycbot/ycbot/internal/orchestrator/route"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// askTime is how long someone may take to answer the doctor.
const askTime = 8 * time.Second

// provider asks the model for a word, as a run would.
func (in Input) provider(ctx context.Context, c *area) {
	kind := cmp.Or(in.Provider, in.Machine.Getenv("YCBOT_PROVIDER"), provider.Likely(in.Machine.Getenv))
	name := cmp.Or(in.Model, in.Machine.Getenv("YCBOT_MODEL"))
	if err := route.Check(in.Machine); err != nil {
		c.issue("correct the variable or unset it", "%v", err)
	}
	if kind == script.Provider {
		c.warn("unset YCBOT_PROVIDER to ask a model", "the provider script plays a scenario and asks no model")
		return
	}
	preset, err := provider.Find(kind)
	if err != nil {
		c.issue("set YCBOT_PROVIDER to one of them", "%v", err)
		return
	}
	target, err := preset.Resolve(provider.Overrides{BaseURL: cmp.Or(in.BaseURL, in.Machine.Getenv("YCBOT_BASE_URL")), Key: in.Machine.Getenv("YCBOT_API_KEY")}, in.Machine.Getenv)
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
	if in.Offline {
		c.skip("", "model %s: not asked (--offline)", name)
		return
	}
	in.probe(ctx, c, target, name)
}

func (in Input) probe(ctx context.Context, c *area, target provider.Target, name string) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	m, err := target.Open(provider.Options{
		Model: name, HTTPClient: in.Machine.Client, Now: in.Machine.Now, Log: in.Machine.Log, Retry: model.Retry{Tries: 1, IdleFor: askTime},
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

// github asks who the token is of, and what it may.
func (in Input) github(ctx context.Context, c *area) {
	token, err := github.TokenOf(in.Machine.Getenv)
	if err != nil {
		c.skip("set GITHUB_TOKEN=$(gh auth token) for run --pr and --publish", "no token: neither GITHUB_TOKEN nor GH_TOKEN is set")
		return
	}
	base := cmp.Or(in.Machine.Getenv("GITHUB_API_URL"), github.DefaultBaseURL)
	if in.Offline {
		c.skip("", "%s: not asked (--offline)", urlHost(base))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	client, err := github.New(github.Options{
		BaseURL: in.Machine.Getenv("GITHUB_API_URL"), Token: token, Transport: in.Machine.Client.Transport, Now: in.Machine.Now, Log: in.Machine.Log,
	})
	if err != nil {
		c.issue("set GITHUB_API_URL to the API's address, or unset it", "%v", err)
		return
	}
	self, err := client.Self(ctx)
	switch {
	case github.IsUnauthorized(err):
		c.issue("make a new token, or GITHUB_TOKEN=$(gh auth token)", "%s refuses the token", urlHost(base))
		return
	case github.IsNotFound(err):
		c.issue("set GITHUB_API_URL to the API's address (https://HOST/api/v3 for GitHub Enterprise), or unset it", "%s is not the API of a GitHub: %v", urlHost(base), err)
		return
	case err != nil:
		c.issue("check the network, a proxy, and GITHUB_API_URL", "%v", err)
		return
	}
	c.ok("%s: the token is of %s", urlHost(base), self.Login)
	in.access(ctx, c, client)
}

// access asks what the token may do in the repository here.
func (in Input) access(ctx context.Context, c *area, client *github.Client) {
	repo, host, ok := in.origin(ctx)
	if !ok {
		c.skip("", "no repository of GitHub's here to ask about")
		return
	}
	if !github.Serves(in.Machine.Getenv, host) {
		c.warn("have GITHUB_API_URL name the API of that host, as https://HOST/api/v3, where it is a GitHub; else name the repository: ycbot run --pr N --repo OWNER/NAME",
			"origin is on %s, which is not asked", host)
		return
	}
	access, err := client.Access(ctx, repo)
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

// origin is the hosted repository that the one in dir was cloned from, and its host.
func (in Input) origin(ctx context.Context) (repo github.Repo, host string, ok bool) {
	g, err := git.New("git", in.Machine.Env, in.Machine.Log)
	if err != nil {
		return github.Repo{}, "", false
	}
	r, err := repository.Discover(ctx, g, in.Dir)
	if err != nil {
		return github.Repo{}, "", false
	}
	owner, name, ok := strings.Cut(r.Name, "/")
	return github.Repo{Owner: owner, Name: name}, r.Host, ok
}

// app looks at the settings of the App, here and on GitHub.
func (in Input) app(ctx context.Context, c *area) {
	for _, text := range setup.UnknownIn(in.Machine.Env) {
		c.warn("docs/operate.md and \"ycbot help environment\" list the variables", "%s", text)
	}
	if in.App == nil {
		c.skip("docs/operate.md says how to set one up", "no App is set up here; only \"ycbot app\" needs one")
		return
	}
	a := in.App
	if a.Wrong != nil {
		for line := range strings.Lines(a.Wrong.Error()) {
			c.issue("docs/operate.md lists the settings", "%s", line)
		}
		return
	}
	switch secret := strings.TrimSpace(a.Secret); {
	case secret == "":
		c.ok("App %d: id and private key are set", a.ID)
		c.warn("set YCBOT_WEBHOOK_SECRET where \"ycbot app serve\" is to run", "there is no webhook secret: this machine can work (\"ycbot app work\") and not serve")
	case len(secret) < setup.LeastSecret:
		c.ok("App %d: id, private key and webhook secret are set", a.ID)
		c.warn("use 32 random bytes: openssl rand -hex 32", "the webhook secret is short")
	default:
		c.ok("App %d: id, private key and webhook secret are set", a.ID)
	}
	in.data(ctx, c)
	if in.Offline {
		c.skip("", "the App on GitHub: not asked (--offline)")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	in.installed(ctx, c)
	in.server(ctx, c, a.PublicURL)
}

// installed compares what GitHub's settings of the App say with what it needs.
func (in Input) installed(ctx context.Context, c *area) {
	a := in.App
	client, err := github.New(github.Options{
		BaseURL: a.GitHubURL, Transport: in.Machine.Client.Transport, Now: in.Machine.Now, Log: in.Machine.Log, App: &github.App{ID: a.ID, Key: a.Key},
	})
	if err != nil {
		c.issue("make a new private key in the App's settings", "%v", err)
		return
	}
	info, err := client.AppInfo(ctx)
	switch {
	case github.IsUnauthorized(err) || github.IsNotFound(err):
		c.issue("compare YCBOT_APP_ID with the App's settings, and make a new private key there", "GitHub does not know App %d with this key", a.ID)
		return
	case err != nil:
		c.issue("check the network and YCBOT_GITHUB_URL", "%v", err)
		return
	}
	var lacks []string
	for name, want := range setup.Permissions() {
		if has := info.Permissions[name]; has != want && has != "write" && has != "admin" {
			lacks = append(lacks, fmt.Sprintf("%s: %s", strings.ReplaceAll(name, "_", " "), want))
		}
	}
	for _, event := range setup.Events() {
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

// server asks the server whether it is there.
func (in Input) server(ctx context.Context, c *area, public string) {
	if public == "" {
		c.warn("set YCBOT_PUBLIC_URL to where people reach the server", "check runs link to no page")
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(public, "/")+"/healthz", nil)
	if err != nil {
		c.issue("set YCBOT_PUBLIC_URL to https://HOST", "YCBOT_PUBLIC_URL: %v", err)
		return
	}
	resp, err := in.Machine.Client.Do(req)
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
