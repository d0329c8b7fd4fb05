package workspace

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
)

// A Remote is a repository that git can fetch from.
type Remote struct {
	URL string
	// Settings are git settings for this one fetch, "key=value", such as an
	// http.extraheader that carries a credential. They are passed on in the
	// environment and stored nowhere.
	Settings []string
}

// Import brings commits with their whole history, as far as r has it, and the
// tags of it. Of a partial clone the histories' old file contents are left
// where they are; what the commits themselves hold, and what later calls on
// this Mirror need of others, comes from r or else from r's own remote.
func (m *Mirror) Import(ctx context.Context, r *Repository, commits ...string) (err error) {
	if err := checkOIDs(commits...); err != nil {
		return err
	}
	commits = slices.Compact(slices.Sorted(slices.Values(commits)))
	if r.Format != m.Format {
		return fmt.Errorf("import from %s: its objects are %s, those of the mirror %s", r.Root, r.Format, m.Format)
	}
	done, err := m.alter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	v, err := r.view(ctx)
	if err != nil {
		return err
	}
	defer v.close()
	err = m.importFrom(ctx, r, v, commits)
	if errors.Is(err, errDamaged) {
		m.git.log.WarnContext(ctx, "mirror is made anew", "dir", m.Dir, "error", err)
		if err = m.create(ctx); err == nil {
			err = m.importFrom(ctx, r, v, commits)
		}
	}
	if err != nil {
		return fmt.Errorf("import from %s: %w", r.Root, err)
	}
	m.mu.Lock()
	m.source = r
	m.mu.Unlock()
	return nil
}

func (m *Mirror) importFrom(ctx context.Context, r *Repository, v *view, commits []string) error {
	wants, haves, err := m.negotiate(ctx, r, v, commits)
	if err != nil {
		return err
	}
	if r.Partial {
		if err := os.WriteFile(m.path(partialFile), nil, 0o600); err != nil {
			return err
		}
	}
	if len(wants) > 0 {
		if err := m.transfer(ctx, v, wants, haves); err != nil {
			return err
		}
		if err := m.updateShallow(ctx, v); err != nil {
			return err
		}
	}
	if err := m.fill(ctx, r, v, commits); err != nil {
		return err
	}
	if err := m.pin(ctx, commits); err != nil {
		return err
	}
	if err := m.syncTags(ctx, v); err != nil {
		m.git.log.WarnContext(ctx, "tags are not mirrored", "dir", m.Dir, "error", err)
	}
	if len(wants) > 0 {
		m.tidy(ctx)
	}
	return ctx.Err()
}

// negotiate says which commits must be brought, and which ones need not be
// because the mirror has them with all that they build on.
func (m *Mirror) negotiate(ctx context.Context, r *Repository, v *view, commits []string) (wants, haves []string, err error) {
	pins := m.pins()
	deeper, err := m.canDeepen(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range commits {
		if deeper || !slices.Contains(pins, c) {
			wants = append(wants, c)
		}
	}
	types, err := m.git.objectTypes(ctx, v.dir, wants)
	if err != nil {
		return nil, nil, err
	}
	for i, typ := range slices.Backward(types) {
		switch {
		case typ == "commit":
		case slices.Contains(pins, wants[i]): // a snapshot, which the mirror alone has
			wants = slices.Delete(wants, i, i+1)
		default:
			return nil, nil, fmt.Errorf("no commit %s: %s", change.Short(wants[i]), r.missingHint(v, wants[i]))
		}
	}
	if deeper || len(wants) == 0 {
		return wants, nil, nil
	}
	types, err = m.git.objectTypes(ctx, v.dir, pins)
	for i, typ := range types {
		if typ == "commit" {
			haves = append(haves, pins[i])
		}
	}
	return wants, haves, err
}

func (m *Mirror) partial() bool {
	_, err := os.Stat(m.path(partialFile))
	return err == nil
}

// transfer copies history from a view. It is what fetching does, without a
// server process in the user's repository.
func (m *Mirror) transfer(ctx context.Context, v *view, wants, haves []string) error {
	in := strings.Join(wants, "\n") + "\n"
	for _, have := range haves {
		in += "^" + have + "\n"
	}
	pack := call{gitDir: v.dir, stdin: strings.NewReader(in), args: []string{"pack-objects", "--revs", "--thin", "--stdout", "-q", "--delta-base-offset"}}
	store := call{gitDir: m.Dir, args: []string{"index-pack", "--stdin", "--fix-thin"}}
	if !m.partial() {
		return m.git.pump(ctx, pack, store)
	}
	// pack-objects by itself does not get over missing folders.
	list := call{gitDir: v.dir, stdin: pack.stdin, args: []string{"rev-list", "--objects", "--missing=allow-any", "--stdin"}}
	pack.args = []string{"pack-objects", "--stdout", "-q", "--delta-base-offset"}
	return m.git.pump(ctx, list, pack, store)
}

// copyObjects copies single objects from a view.
func (m *Mirror) copyObjects(ctx context.Context, v *view, oids []string) error {
	if len(oids) == 0 {
		return nil
	}
	from := call{
		gitDir: v.dir,
		stdin:  strings.NewReader(strings.Join(oids, "\n") + "\n"),
		args:   []string{"pack-objects", "--stdout", "-q", "--delta-base-offset", "--window=0"},
	}
	return m.git.pump(ctx, from, call{gitDir: m.Dir, args: []string{"index-pack", "--stdin"}})
}

// fill makes sure that the trees of commits are here whole.
func (m *Mirror) fill(ctx context.Context, r *Repository, v *view, commits []string) error {
	for before := -1; ; {
		missing, err := m.missing(ctx, commits)
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		if len(missing) == 0 {
			return nil
		}
		if !m.partial() {
			return fmt.Errorf("%w: %d objects are missing, such as %s", errDamaged, len(missing), missing[0])
		}
		if len(missing) == before {
			return fmt.Errorf("%d objects of a partial clone cannot be had, such as %s", len(missing), missing[0])
		}
		before = len(missing)
		types, err := m.git.objectTypes(ctx, v.dir, missing)
		if err != nil {
			return err
		}
		var here, there []string
		for i, oid := range missing {
			if types[i] != "" {
				here = append(here, oid)
			} else {
				there = append(there, oid)
			}
		}
		if err := m.copyObjects(ctx, v, here); err != nil {
			return err
		}
		if err := m.fetchObjects(ctx, r.remote, there); err != nil {
			return fmt.Errorf("%s is a partial clone and lacks %d objects: %w", r.Root, len(there), err)
		}
	}
}

// missing returns the objects of the commits' trees that the mirror lacks and
// that nothing else missing leads to.
func (m *Mirror) missing(ctx context.Context, commits []string) ([]string, error) {
	out, err := m.git.run(ctx, call{
		gitDir: m.Dir,
		stdin:  strings.NewReader(strings.Join(commits, "\n") + "\n"),
		args:   []string{"rev-list", "--objects", "--quiet", "--missing=print", "--no-walk=unsorted", "--stdin"},
	})
	if err != nil {
		return nil, err
	}
	var oids []string
	for l := range strings.SplitSeq(string(out), "\n") {
		if oid, ok := strings.CutPrefix(l, "?"); ok {
			oids = append(oids, oid)
		}
	}
	return oids, nil
}

// need makes sure, in a partial mirror, that the whole tree of each commit is
// here. It does nothing in any other.
func (m *Mirror) need(ctx context.Context, commits ...string) error {
	if err := checkOIDs(commits...); err != nil {
		return err
	}
	if !m.partial() {
		return nil
	}
	m.mu.Lock()
	source := m.source
	var todo []string
	for _, c := range commits {
		if !m.complete[c] {
			todo = append(todo, c)
		}
	}
	m.mu.Unlock()
	if source == nil || len(todo) == 0 {
		return nil
	}
	lock, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	v, err := source.view(ctx)
	if err != nil {
		return err
	}
	defer v.close()
	if err := m.fill(ctx, source, v, todo); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range todo {
		m.complete[c] = true
	}
	return nil
}

// Fetch brings commits with their whole history from a remote, by id, also
// where an import from a shallow clone had cut it off.
func (m *Mirror) Fetch(ctx context.Context, from Remote, commits ...string) (err error) {
	if err := checkOIDs(commits...); err != nil {
		return err
	}
	done, err := m.alter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	specs := make([]string, len(commits))
	for i, c := range commits {
		specs[i] = "+" + c + ":" + pinsDir + "/" + c
	}
	if len(readLines(m.path("shallow"))) > 0 {
		return m.fetch(ctx, from, specs, nil, []string{"--unshallow"})
	}
	return m.fetch(ctx, from, specs, nil, nil)
}

// fetchObjects brings single objects from a partial clone's remote.
func (m *Mirror) fetchObjects(ctx context.Context, from Remote, oids []string) error {
	if len(oids) == 0 {
		return nil
	}
	if from.URL == "" {
		return errors.New("and it names no remote to get them from")
	}
	return m.fetch(ctx, from, oids, []string{"-c", "fetch.negotiationAlgorithm=noop"}, nil)
}

// remoteName is what a remote is called while it is fetched from. That it is a
// name keeps the URL, which may hold a password, off the command line.
const remoteName = "ycbot-source"

func (m *Mirror) fetch(ctx context.Context, from Remote, specs, settings, options []string) error {
	config := append([]string{"remote." + remoteName + ".url=" + from.URL}, from.Settings...)
	var env []string
	for i, kv := range config {
		key, value, _ := strings.Cut(kv, "=")
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
	var err error
	for range 3 {
		_, err = m.git.run(ctx, call{
			gitDir:   m.Dir,
			env:      env,
			protocol: "file:git:http:https:ssh",
			stdin:    strings.NewReader(strings.Join(specs, "\n") + "\n"),
			args: slices.Concat(settings, []string{
				"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
				"--recurse-submodules=no", "--stdin",
			}, options, []string{remoteName}),
		})
		if err == nil || !strings.Contains(err.Error(), m.path("worktrees")) {
			break // otherwise it stumbled over a worktree just being made: see registryLock
		}
	}
	if err != nil {
		return fmt.Errorf("fetch from %s: %s", withoutPassword(from.URL), strings.ReplaceAll(err.Error(), from.URL, withoutPassword(from.URL)))
	}
	return nil
}

// withoutPassword returns a URL that may be shown.
func withoutPassword(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return raw
	}
	u.User = nil
	return u.String()
}
