package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// Of the submodules that are brought: how many inside one another, and how many of a tree,
// of which each may have the history of a large repository.
const (
	moduleDepth = 3
	maxModules  = 256
)

// bringSubmodules fills the submodules of a tree with the commits that its own commit
// names, from the hosts of the base's .gitmodules and of the repository itself. A head that
// is not trusted, and its base, have none. What cannot be brought stays empty, and is said.
func (p *prepared) bringSubmodules(ctx context.Context, t *workspace.Tree, commit string) error {
	if len(t.Submodules()) == 0 {
		return nil
	}
	if p.begun.job.Trust == untrusted {
		t.Unlaid("none is fetched for an untrusted head")
		return nil
	}
	from := moduleSource{mirror: p.mirror, commit: commit}
	if pull := p.begun.job.Pull; pull != nil {
		from.url = pull.From.URL
	} else if repo := p.begun.repo; repo != nil {
		from.clones = filepath.Join(repo.CommonDir, "modules")
	}
	b := &bringing{prepared: p, tree: t, base: modulesAt(ctx, p.mirror, p.source.Change.MergeBase)}
	if err := b.all(ctx, from, "", t.Submodules(), moduleDepth); err != nil {
		if ctx.Err() != nil {
			return err
		}
		t.Unlaid(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// A moduleSource is a repository whose submodules are brought.
type moduleSource struct {
	mirror *workspace.Mirror
	commit string
	url    string // what URLs are relative to; empty: not known
	clones string // where the user's own clone has its submodules; empty: nowhere
}

// bringing is the work on one tree.
type bringing struct {
	*prepared
	tree *workspace.Tree
	base map[string]module // of the merge base
	met  int               // submodules so far
}

// all brings the submodules of a repository that lies at a path of the tree.
func (b *bringing) all(ctx context.Context, from moduleSource, at string, modules []workspace.Submodule, depth int) error {
	if depth == 0 {
		return nil
	}
	entries := modulesAt(ctx, from.mirror, from.commit)
	var failed error
	for _, s := range modules {
		if b.met++; b.met > maxModules {
			return errors.Join(failed, fmt.Errorf("%s and those after it: no more than %d are fetched", s.Path, maxModules))
		}
		m, ok := entries[strings.TrimPrefix(s.Path, at)]
		if !ok {
			failed = errors.Join(failed, fmt.Errorf("%s: .gitmodules does not name it", s.Path))
			continue
		}
		inner, own, err := b.one(ctx, from, s, m)
		if err == nil {
			err = b.all(ctx, own, s.Path+"/", inner, depth-1)
		} else {
			err = fmt.Errorf("%s: %w", s.Path, err)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// A module is a submodule by its entry in .gitmodules.
type module struct{ name, url string }

// modulesAt reads .gitmodules of a commit; what cannot be read has none.
func modulesAt(ctx context.Context, mirror *workspace.Mirror, commit string) map[string]module {
	data, err := mirror.ReadFile(ctx, commit, ".gitmodules")
	if err != nil {
		return nil
	}
	return parseModules(string(data))
}

var moduleHead = pattern.New(`^\[submodule "([^"\\]+)"\]$`)

// parseModules reads a .gitmodules file (gitmodules(5)) as git writes it, by path.
func parseModules(text string) map[string]module {
	out := map[string]module{}
	var m module
	at := ""
	end := func() {
		if at != "" && m.url != "" {
			out[at] = m
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if head := moduleHead.FindStringSubmatch(line); head != nil {
			end()
			m, at = module{name: head[1]}, ""
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		switch value = strings.Trim(strings.TrimSpace(value), `"`); strings.TrimSpace(key) {
		case "path":
			at = value
		case "url":
			m.url = value
		}
	}
	end()
	return out
}

// one fetches a submodule, first from what the user's own clone has of it, and lays it.
func (b *bringing) one(ctx context.Context, from moduleSource, s workspace.Submodule, m module) ([]workspace.Submodule, moduleSource, error) {
	own := moduleSource{commit: s.OID}
	var remotes []git.Remote
	if from.clones != "" && filepath.IsLocal(filepath.FromSlash(m.name)) {
		clone := filepath.Join(from.clones, filepath.FromSlash(m.name))
		own.clones = filepath.Join(clone, "modules")
		remotes = append(remotes, git.Remote{URL: clone})
	}
	remote, refused := b.moduleRemote(from.url, m, b.base)
	if refused == nil {
		own.url, remotes = remote.URL, append(remotes, remote)
	}
	mirror, err := workspace.OpenMirror(ctx, b.runner.Git, filepath.Join(b.begun.layout.Project(), workspace.SubmodulesDir, moduleMirror(from.url, m)), b.mirror.Format)
	if err != nil {
		return nil, own, err
	}
	own.mirror, err = mirror, refused
	for _, r := range remotes {
		if fetched := mirror.Fetch(ctx, r, s.OID); fetched != nil {
			err = cmp.Or(refused, fetched)
			continue
		}
		inner, err := b.tree.LaySubmodule(ctx, mirror, s)
		return inner, own, err
	}
	return nil, own, err
}

// moduleMirror names the mirror of a submodule of the repository at an address. However a
// .gitmodules spells the way to another one, it has one mirror.
func moduleMirror(beside string, m module) string {
	of := beside + " " + m.url
	if where, err := resolveModule(beside, m.url); err == nil {
		of = strings.TrimSuffix(strings.TrimSuffix(where, "/"), ".git")
	}
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:8]) + ".git"
}

// moduleRemote is where a submodule is fetched from: its URL, where that is one of the
// hosts of the base's submodules or of the repository itself.
func (p *prepared) moduleRemote(beside string, m module, base map[string]module) (git.Remote, error) {
	if p.runner.Network == rundir.NetworkNone {
		return git.Remote{}, errors.New("this run has no network")
	}
	origin := git.Remote{}
	if pull := p.begun.job.Pull; pull != nil {
		origin = pull.From
	}
	where, err := resolveModule(beside, m.url)
	if err != nil {
		return git.Remote{}, err
	}
	host := hostOf(where)
	allowed := host == hostOf(origin.URL)
	for _, b := range base {
		if at, err := resolveModule(origin.URL, b.url); err == nil && hostOf(at) == host {
			allowed = true
		}
	}
	if host == "" || !allowed {
		return git.Remote{}, fmt.Errorf("%s is not a host of the base's submodules", m.url)
	}
	r := git.Remote{URL: where}
	if host == hostOf(origin.URL) {
		r.Settings = origin.Settings // of the same host: they may hold its credential
	}
	return r, nil
}

// resolveModule makes a URL of .gitmodules absolute: "../lib.git" is beside the repository.
func resolveModule(origin, raw string) (string, error) {
	if !strings.HasPrefix(raw, "./") && !strings.HasPrefix(raw, "../") {
		return raw, nil
	}
	u, err := url.Parse(strings.TrimSuffix(origin, "/") + "/")
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%s is beside a repository whose address is not known", raw)
	}
	return strings.TrimSuffix(u.JoinPath(raw).String(), "/"), nil
}

// hostOf is the host of an address that is fetched from over a network, "" for any other.
func hostOf(raw string) string {
	if u, err := url.Parse(raw); err == nil && slices.Contains([]string{"https", "http", "ssh", "git"}, u.Scheme) {
		return strings.ToLower(u.Host)
	}
	if at, path, ok := strings.Cut(raw, ":"); ok && !strings.Contains(raw, "://") && !strings.Contains(at, "/") && path != "" { // git@host:path
		_, host, named := strings.Cut(at, "@")
		if named {
			return strings.ToLower(host)
		}
	}
	return ""
}
