package execution

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// TestFetchedBehindLinks holds that what was fetched is put into HOME and nowhere else, where
// commands of a change have put a link in the place of a folder on the way.
func TestFetchedBehindLinks(t *testing.T) {
	t.Parallel()
	const part = ".npm/_cacache"
	node := ecosystem.Command{Eco: "Node.js"}
	takes := map[string]func(*Executor) error{
		"fetched in this run": func(e *Executor) error {
			lay(t, filepath.Join(e.fetchHome(results.Head), part, "f"), "new")
			return e.takeFetched(t.Context(), results.Head, node)
		},
		"fetched before": func(e *Executor) error {
			lay(t, filepath.Join(e.fetched(), part, "f"), "new")
			return e.Fill(t.Context(), results.Head)
		},
	}
	for name, take := range takes {
		for _, link := range []string{".npm", part} {
			e := New(Machine{CacheDir: t.TempDir(), Scratch: t.TempDir()}, Job{Note: t.Logf})
			e.Now = time.Now
			e.Plans = map[results.Side]*sides.Plan{results.Head: {Setup: []ecosystem.Command{node}}}
			victim, home := t.TempDir(), e.HomeOf(results.Head)
			lay(t, filepath.Join(victim, "_cacache", "mine"), "mine")
			lay(t, filepath.Join(victim, "mine"), "mine")
			if err := folder.Make(filepath.Join(home, filepath.Dir(link))); err != nil {
				t.Fatal(err)
			}
			to := victim
			if name == "fetched before" && link == ".npm" { // where there is something it is left
				to = filepath.Join(victim, "other")
			}
			if err := folder.Make(to); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
				t.Fatal(err)
			}
			if err := take(e); err != nil {
				t.Errorf("%s, a link at %s: %v", name, link, err)
			}
			for _, file := range []string{"mine", "_cacache/mine"} {
				if data, err := os.ReadFile(filepath.Join(victim, file)); string(data) != "mine" {
					t.Errorf("%s, a link at %s: %s outside of HOME: %v", name, link, file, err)
				}
			}
			for _, file := range []string{"f", "_cacache/f", "other/_cacache/f"} {
				if folder.Exists(filepath.Join(victim, file)) {
					t.Errorf("%s, a link at %s: %s was written outside of HOME", name, link, file)
				}
			}
			if info, err := os.Lstat(filepath.Join(home, ".npm")); err != nil || !info.IsDir() {
				t.Errorf("%s, a link at %s: .npm is %v, %v", name, link, info, err)
			}
			if data, err := os.ReadFile(filepath.Join(home, part, "f")); string(data) != "new" {
				t.Errorf("%s, a link at %s: what was fetched is not there: %v", name, link, err)
			}
		}
	}
}
