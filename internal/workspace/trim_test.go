package workspace

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Mirrors and caches go, that of the project that was used least recently first, but for
// those of a project in which a run is at work; then the shared cache stays as well. What
// goes is made again.
func TestTrim(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	home := filepath.Dir(filepath.Dir(filepath.Dir(m.Dir)))
	log := slog.New(slog.DiscardHandler)
	project := func(name string, age time.Duration) string {
		dir := filepath.Join(home, "projects", name)
		write(t, dir, map[string]string{"cache/go-build/x": string(make([]byte, 100<<10)), "mirror.git/HEAD": "x", "submodules/0a.git/HEAD": "x"})
		when := time.Now().Add(-age)
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	old, older := project("old-1", time.Hour), project("older-1", 2*time.Hour)
	write(t, home, map[string]string{"cache/go-mod/m@v1/x.go": "x"})
	if err := os.Chmod(filepath.Join(home, "cache/go-mod/m@v1"), 0o500); err != nil { // as Go has it
		t.Fatal(err)
	}
	there := func(names ...string) (out []bool) {
		for _, name := range names {
			_, err := os.Stat(name)
			out = append(out, err == nil)
		}
		return out
	}
	live := must[*Lock](t)(LockRun(t.Context(), runDir(m, "live")))

	if freed := must[int64](t)(Trim(t.Context(), home, 1, log)); freed < 100<<10 {
		t.Errorf("%d bytes were freed", freed)
	}
	if got := there(filepath.Join(older, "cache"), filepath.Join(older, "mirror.git"), filepath.Join(older, SubmodulesDir), filepath.Join(old, "cache"), m.Dir); got[0] || got[1] || got[2] || !got[3] || !got[4] {
		t.Errorf("one byte was wanted: cache, mirror and mirrors of submodules of the oldest, cache of the other, mirror of the live one are there: %v", got)
	}
	must[int64](t)(Trim(t.Context(), home, 1<<40, log))
	if got := there(filepath.Join(old, "cache"), m.Dir, filepath.Join(home, "cache")); got[0] || !got[1] || !got[2] {
		t.Errorf("while a run is at work: cache of another project, its mirror, the shared cache are there: %v", got)
	}
	live.Release()
	must[int64](t)(Trim(t.Context(), home, 1<<40, log))
	if got := there(m.Dir, filepath.Join(home, "cache")); got[0] || got[1] {
		t.Errorf("at last: mirror and shared cache are there: %v", got)
	}
	if left := must[[]string](t)(filepath.Glob(filepath.Join(home, "projects/*/"+trash+"*"))); len(left) > 0 {
		t.Errorf("left lie %q", left)
	}
	again := must[*Mirror](t)(OpenMirror(t.Context(), m.git, m.Dir, m.Format))
	if _, err := again.Describe(t.Context(), head); err == nil {
		t.Error("the mirror is not a new one")
	}
	if freed := must[int64](t)(Trim(t.Context(), t.TempDir(), 1, log)); freed != 0 {
		t.Errorf("%d bytes were freed where nothing is", freed)
	}
}
