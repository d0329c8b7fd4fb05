package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Mirror is a bare repository of the harness's own. It has no remotes, no
// credentials and no configuration but ours, and is safe for concurrent use by
// several processes. Untrusted commands see what [Mirror.Show] takes from it.
type Mirror struct {
	Dir    string
	Format string // object format, "sha1" or "sha256"

	git     *git.Git
	objects *objects.Store

	mu       sync.Mutex
	source   source          // where what a partial mirror lacks comes from; nil: no one brought anything yet
	complete map[string]bool // commits whose whole tree is known to be here, in a partial mirror
	listed   []listing       // the last that were made
	shown    *shown          // what commands see; nil: the mirror itself
	contents bool            // trees get the contents that are kept in place of pointers
}

// Files of ours in a mirror.
const (
	stampFile   = "ycbot-mirror"  // format of the layout and of the objects; do not change
	partialFile = "ycbot-partial" // exists: some history has no file contents
	pinsDir     = "refs/ycbot/pins"
)

// noHead is the file HEAD of a mirror: a branch that there never is.
const noHead = "ref: refs/heads/none\n"

// errDamaged means that a mirror lacks what it should have; it is made again.
var errDamaged = errors.New("mirror is damaged")

// OpenMirror opens the mirror at dir, making it when there is none and making
// it again when it is broken or for another object format ("" means sha1).
func OpenMirror(ctx context.Context, g *git.Git, dir, objectFormat string) (*Mirror, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if objectFormat == "" {
		objectFormat = "sha1"
	}
	m := &Mirror{Dir: abs, Format: objectFormat, git: g, objects: objects.New(abs, objectFormat), complete: map[string]bool{}}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return nil, err
	}
	lock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	why := m.check(ctx)
	if why == nil {
		return m, m.recorded()
	}
	if ctx.Err() != nil {
		return nil, why
	}
	if !errors.Is(why, os.ErrNotExist) {
		g.Log.WarnContext(ctx, "mirror is made again", "dir", abs, "error", why)
	}
	return m, m.create(ctx)
}

// lock keeps everybody else from altering the mirror.
func (m *Mirror) lock(ctx context.Context) (*Lock, error) {
	return acquire(ctx, m.Dir+".lock", syscall.LOCK_EX)
}

// registryLock is what the name of a mirror is followed by in the name of the
// file that is locked while its list of worktrees changes. Git reads the whole
// list when it adds to it, and stumbles over one that another git is at.
const registryLock = ".worktrees.lock"

func (m *Mirror) stamp() string { return "1 " + m.Format + "\n" }

func (m *Mirror) path(name string) string { return filepath.Join(m.Dir, filepath.FromSlash(name)) }

// check says what is wrong with the mirror, nil when nothing is. It puts our
// configuration back first: no other is ever used.
func (m *Mirror) check(ctx context.Context) error {
	stamp, err := os.ReadFile(m.path(stampFile))
	if err != nil {
		return err
	}
	if string(stamp) != m.stamp() {
		return fmt.Errorf("%w: its stamp is %q", errDamaged, stamp)
	}
	want := []byte(git.Config(m.Format, true))
	if have, err := os.ReadFile(m.path("config")); err != nil || !bytes.Equal(have, want) {
		if err := os.WriteFile(m.path("config"), want, 0o600); err != nil {
			return err
		}
	}
	m.removeStale()
	pins := m.pins()
	if m.holds(pins) {
		return nil
	}
	if len(pins) == 0 { // else git says with the pins whether this is a repository
		if _, err := m.run(ctx, "rev-parse", "--is-bare-repository"); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	types, err := m.git.ObjectTypes(ctx, m.Dir, pins)
	if err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	for i, typ := range types {
		if typ != "commit" {
			return fmt.Errorf("%w: %s is gone", errDamaged, pins[i])
		}
	}
	return nil
}

// mostPins is how many pins are looked for in the process; git is faster with more.
const mostPins = 64

// holds reports whether the mirror is seen to be a repository that has all its pins.
// Where it does not, git says what is wrong.
func (m *Mirror) holds(pins []string) bool {
	head, err := os.ReadFile(m.path("HEAD"))
	if err != nil || string(head) != noHead || len(pins) == 0 || len(pins) > mostPins {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Lstat(m.path(name)); err != nil || !info.IsDir() {
			return false
		}
	}
	for _, pin := range pins {
		if _, err := m.objects.Commit(pin); err != nil {
			return false
		}
	}
	return true
}

// removeStale removes what a git command that was killed has left. The lock is
// held, so no one is at it.
func (m *Mirror) removeStale() {
	for _, name := range []string{packedRefs + ".lock", "config.lock", "shallow.lock", "HEAD.lock"} {
		_ = os.Remove(m.path(name))
	}
	_ = filepath.WalkDir(m.path("refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".lock") {
			_ = os.Remove(path)
		}
		return nil // what cannot be read is seen by who needs it
	})
	var stale []string
	if lock, err := tryAcquire(m.Dir+wholeLock, syscall.LOCK_EX); err == nil { // else [Mirror.Whole] is writing packs
		defer lock.Release()
		stale = append(stale, "objects/pack/tmp_*")
	}
	for _, pattern := range stale {
		found, _ := filepath.Glob(filepath.Join(globQuote(m.Dir), filepath.FromSlash(pattern)))
		for _, f := range found {
			_ = os.Remove(f)
		}
	}
}

// globQuote quotes a path for a pattern of [filepath.Glob].
func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// create makes the mirror in one step, so that no one sees half of one.
func (m *Mirror) create(ctx context.Context) error {
	tmp, err := os.MkdirTemp(filepath.Dir(m.Dir), ".new-mirror-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	made := filepath.Join(tmp, "git")
	if _, err := m.git.Run(ctx, git.Call{Args: []string{"init", "-q", "--bare", "--template=", "--object-format=" + m.Format, made}}); err != nil {
		return fmt.Errorf("make mirror: %w", err)
	}
	for name, text := range map[string]string{"config": git.Config(m.Format, true), stampFile: m.stamp(), "HEAD": noHead} {
		if err := os.WriteFile(filepath.Join(made, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := os.Rename(m.Dir, filepath.Join(tmp, "old")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	m.objects.Reopen()
	m.mu.Lock()
	clear(m.complete)
	m.listed = nil
	m.mu.Unlock()
	if err := os.Rename(made, m.Dir); err != nil {
		return err
	}
	if err := os.Remove(m.Dir + recordName); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return m.recorded()
}

// Git runs a git command that reads the mirror and returns its standard output.
// Path arguments are taken literally. It is for fixed commands of the harness:
// nothing that a model or a change wrote may stand where git takes options.
func (m *Mirror) Git(ctx context.Context, args ...string) ([]byte, error) {
	return m.run(ctx, append([]string{"--literal-pathspecs"}, args...)...)
}

// run runs a git command in the mirror.
func (m *Mirror) run(ctx context.Context, args ...string) ([]byte, error) {
	return m.git.Run(ctx, git.Call{GitDir: m.Dir, Args: args})
}

// pins returns the commits that the mirror keeps.
func (m *Mirror) pins() []string {
	entries, err := os.ReadDir(m.path(pinsDir))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if objects.IsID(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

// pin keeps commits from ever being cleaned away.
func (m *Mirror) pin(ctx context.Context, commits []string) error {
	var in strings.Builder
	for _, c := range commits {
		if have, err := os.ReadFile(m.path(pinsDir + "/" + c)); err != nil || string(have) != c+"\n" {
			fmt.Fprintf(&in, "update %s/%s %s\n", pinsDir, c, c)
		}
	}
	if in.Len() > 0 {
		if _, err := m.git.Run(ctx, git.Call{GitDir: m.Dir, Stdin: strings.NewReader(in.String()), Args: []string{"update-ref", "--stdin"}}); err != nil {
			return err
		}
	}
	for _, c := range commits {
		if err := touch(m.path(pinsDir + "/" + c)); err != nil { // Sweep goes by the time of last use
			return err
		}
	}
	return nil
}

// keep pins a commit that was made in the mirror.
func (m *Mirror) keep(ctx context.Context, commit string) (err error) {
	done, err := m.alter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return m.pin(ctx, []string{commit})
}

// maxPacks is how many packs a mirror may have before they are put together.
const maxPacks = 40

// tidy keeps a mirror that is used for years fast. Nothing is ever dropped.
func (m *Mirror) tidy(ctx context.Context) {
	packs, _ := filepath.Glob(filepath.Join(globQuote(m.Dir), "objects", "pack", "*.pack"))
	if len(packs) <= maxPacks {
		return
	}
	if _, err := m.run(ctx, "repack", "-q", "-d", "--geometric=2"); err != nil {
		m.git.Log.WarnContext(ctx, "mirror was not repacked", "dir", m.Dir, "error", err)
	}
}

var notSlug = pattern.New(`[^A-Za-z0-9._-]+`)

// slugSum writes a digest in letters and digits that keep apart where case does not count.
var slugSum = base32.HexEncoding.WithPadding(base32.NoPadding)

// Slug names the folder that a repository's mirror, caches and worktrees lie in: its
// own folder's name, and 80 bits of a hash of its path or address: so many that no one can
// search for an account whose repository has the folder of another's, and so few that the
// names of sockets in worktrees stay short.
func Slug(root string) string {
	sum := sha256.Sum256([]byte(root))
	name := strings.Trim(notSlug.ReplaceAllString(filepath.Base(root), "-"), "-.")
	if len(name) > 64 {
		name = name[:64]
	}
	if name == "" {
		name = "repository"
	}
	return name + "-" + strings.ToLower(slugSum.EncodeToString(sum[:10]))
}
