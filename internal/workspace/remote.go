package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// largeHistory is the Size from which an empty mirror is first filled without file
// contents. What a diff and two trees need then comes in two more fetches, and the
// rest in one or more. At 20 MB/s and 80 ms for a request, with a history of 10 MB both
// trees stood 0.7 s sooner and the whole history 1.2 s later; with one of 170 MB, 2.5 s
// sooner and about as late. What stands sooner grows with the size; what comes later
// hardly does, and no one waits for it where there is something to set up.
const largeHistory = 32 << 10

// Fetch brings commits with their whole history from a remote, by id, also
// where an import from a shallow clone had cut it off. Of the first large history it
// leaves file contents where they are: what later calls on this Mirror need of them
// comes by itself, and [Mirror.Whole] brings the rest.
func (m *Mirror) Fetch(ctx context.Context, from git.Remote, commits ...string) (err error) {
	if err := objects.CheckIDs(commits...); err != nil {
		return err
	}
	done, err := m.alter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	empty := len(m.pins()) == 0
	if empty && from.Size >= largeHistory {
		if err := os.WriteFile(m.path(partialFile), nil, 0o600); err != nil {
			return err
		}
	}
	var f fetching
	for _, c := range commits {
		f.specs = append(f.specs, "+"+c+":"+pinsDir+"/"+c)
	}
	if len(git.Shallow(m.Dir)) > 0 {
		f.options = append(f.options, "--unshallow")
	}
	if err := m.fetchHistory(ctx, from, f); err != nil {
		if empty {
			err = errors.Join(err, m.unmark())
		}
		return err
	}
	m.setSource(func(ctx context.Context, commits, missing []string) error {
		return m.fetchMissing(ctx, from, commits, missing)
	})
	if !m.partial() { // else [Mirror.Whole] does it
		m.tidy(ctx)
	}
	return nil
}

// fetchHistory fetches into the mirror itself.
func (m *Mirror) fetchHistory(ctx context.Context, from git.Remote, f fetching) error {
	f.dir = m.Dir
	if m.partial() { // all of it: of what the mirror says it has, a server takes everything to be there
		f.options = append(f.options, "--filter="+noContents)
		// Git would write these into the mirror's configuration, where they would let
		// commands in a tree fetch what they lack.
		f.settings = []string{"remote." + remoteName + ".promisor=true", "remote." + remoteName + ".partialclonefilter=" + noContents}
	}
	return m.fetch(ctx, from, f)
}

// FetchTagged is [Mirror.Fetch], and makes the mirror's tags those of the remote that name
// commits which the mirror has. They are listed meanwhile. That tags do not come is no
// error: few commands look at them.
func (m *Mirror) FetchTagged(ctx context.Context, from git.Remote, commits ...string) error {
	listing, stop := context.WithCancel(ctx)
	defer stop()
	var list []byte
	listed := make(chan error, 1)
	go func() {
		var err error
		list, err = m.listTags(listing, from)
		listed <- err
	}()
	err := m.Fetch(ctx, from, commits...)
	if err != nil {
		stop()
	}
	failed := <-listed // git has ended then
	if err != nil {
		return err
	}
	if failed == nil {
		failed = m.fetchTags(ctx, from, string(list))
	}
	if failed != nil && ctx.Err() == nil {
		m.git.Log.WarnContext(ctx, "tags are not mirrored", "dir", m.Dir, "error", failed)
	}
	return ctx.Err()
}

// maxTags is how much a remote may say of its tags, in bytes.
const maxTags = 32 << 20

// listTags asks a remote for its tags.
func (m *Mirror) listTags(ctx context.Context, from git.Remote) ([]byte, error) {
	out, err := m.git.Run(ctx, git.Call{
		GitDir: m.Dir, Env: remoteEnv(from), Protocol: remoteProtocols, Max: maxTags, Args: []string{"ls-remote", "-q", "--tags", remoteName},
	})
	if err != nil {
		return nil, remoteError("list tags", from, err)
	}
	return out, nil
}

// fetchTags brings the tags of a list of [Mirror.listTags]. What an annotated tag names
// has a line of its own, with "^{}" behind the tag's name.
func (m *Mirror) fetchTags(ctx context.Context, from git.Remote, list string) (err error) {
	refs, commits := map[string]string{}, map[string]string{}
	for line := range strings.Lines(list) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !objects.IsID(oid) || !strings.HasPrefix(name, "refs/tags/") || strings.ContainsAny(name, " :*") {
			continue
		}
		name, peeled := strings.CutSuffix(name, "^{}")
		commits[name] = oid
		if !peeled {
			refs[name] = oid
		}
	}
	done, err := m.alter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	want, err := m.tagsHere(ctx, refs, commits)
	if err != nil {
		return err
	}
	return m.setTags(ctx, want, func(missing map[string]string) error {
		return m.fetchHistory(ctx, from, fetching{specs: slices.Compact(slices.Sorted(maps.Values(missing)))})
	})
}

// noContents is the filter that leaves out the contents of files.
const noContents = "blob:none"

// manyObjects is how many objects of trees are rather fetched with the trees, as a
// shallow clone does: what is asked for object by object a server compresses again.
const manyObjects = 1000

// fetchMissing is the [source] that a remote is.
func (m *Mirror) fetchMissing(ctx context.Context, from git.Remote, commits, missing []string) error {
	if len(commits) > 0 && len(missing) >= manyObjects {
		err := m.fetchApart(ctx, from, commits, "--depth=1")
		if err == nil || ctx.Err() != nil {
			return err
		}
		// One of them may be the harness's own, such as a merge.
		m.git.Log.InfoContext(ctx, "trees are not to be had whole", "dir", m.Dir, "error", err)
	}
	return m.fetchObjects(ctx, from, missing)
}

// fetchObjects brings single objects from a remote.
func (m *Mirror) fetchObjects(ctx context.Context, from git.Remote, oids []string) error {
	if len(oids) == 0 {
		return nil
	}
	if from.URL == "" {
		return errors.New("and it names no remote to get them from")
	}
	return m.fetchApart(ctx, from, oids)
}

// fetchApart brings objects into the mirror through a git directory of its own: no ref
// of the mirror is read or written, and the server does not learn what the mirror has,
// because it does not have all that belongs to that.
func (m *Mirror) fetchApart(ctx context.Context, from git.Remote, oids []string, options ...string) error {
	dir, err := os.MkdirTemp(m.git.Temp, "ycbot-fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, d := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"config": git.Config(m.Format, true), "HEAD": "ref: refs/heads/none\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return m.fetch(ctx, from, fetching{dir: dir, specs: oids, options: options, env: []string{"GIT_OBJECT_DIRECTORY=" + m.path("objects")}})
}

// remoteName is what a remote is called while it is fetched from. That it is a
// name keeps the URL, which may hold a password, off the command line.
const remoteName = "ycbot-source"

// postBuffer is how many bytes of a request git holds to send them in one piece, which
// every server and proxy takes. [wholeBatch] object ids need less.
const postBuffer = "8388608"

// A fetching is one git fetch.
type fetching struct {
	dir      string // git directory
	env      []string
	specs    []string
	settings []string // besides those of the remote
	options  []string
}

func (m *Mirror) fetch(ctx context.Context, from git.Remote, f fetching) error {
	// What is fetched stays a pack, however small: see tidy.
	env := slices.Concat(f.env, remoteEnv(from, slices.Concat([]string{"fetch.unpackLimit=1"}, f.settings)...))
	var err error
	for range 3 {
		_, err = m.git.Run(ctx, git.Call{
			GitDir:   f.dir,
			Env:      env,
			Protocol: remoteProtocols,
			Stdin:    strings.NewReader(strings.Join(f.specs, "\n") + "\n"),
			Args: slices.Concat([]string{
				"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
				"--recurse-submodules=no", "--stdin",
			}, f.options, []string{remoteName}),
		})
		if err == nil || !strings.Contains(err.Error(), m.path("worktrees")) {
			break // otherwise it stumbled over a worktree just being made: see registryLock
		}
	}
	if err != nil {
		return remoteError("fetch", from, err)
	}
	return nil
}

// remoteProtocols are the transports by which a remote is reached.
const remoteProtocols = "file:git:http:https:ssh"

// remoteEnv is the environment in which git knows a remote by [remoteName].
func remoteEnv(from git.Remote, more ...string) []string {
	config := slices.Concat([]string{"remote." + remoteName + ".url=" + from.URL, "http.postBuffer=" + postBuffer}, from.Settings, more)
	var env []string
	for i, kv := range config {
		key, value, _ := strings.Cut(kv, "=")
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value)
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
}

// remoteError says what could not be done with a remote, without its password.
func remoteError(what string, from git.Remote, err error) error {
	return fmt.Errorf("%s from %s: %s", what, withoutPassword(from.URL), strings.ReplaceAll(err.Error(), from.URL, withoutPassword(from.URL)))
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
