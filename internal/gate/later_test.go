package gate

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Where nothing can be run the trees are handed over as they came: no one has waited for
// their files. One file that is read has both laid out.
func TestNothingToRunLaysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		base map[string][]byte
		laid bool
	}{
		"text":    {map[string][]byte{"a.txt": []byte("a\n")}, false},
		"project": {map[string][]byte{"go.mod": []byte("module example.com/a\n\ngo 1.20\n"), "a.txt": []byte("a\n")}, true},
	} {
		dir := t.TempDir()
		s := &scenario{base: c.base, head: map[string][]byte{"a.txt": []byte("b\n")}}
		mirror, ch := w.repository(t, s, dir)
		in := Input{Change: ch}
		for side, commit := range map[**workspace.Tree]string{&in.Base: ch.MergeBase, &in.Head: ch.HeadSHA} {
			tree, err := mirror.WorktreeLater(t.Context(), filepath.Join(dir, "trees", commit[:7]), commit)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { tree.Close() })
			*side = tree
		}
		given := map[Side]*workspace.Tree{}
		in.Prepared = func(_ context.Context, side Side, tree *workspace.Tree) error {
			given[side] = tree
			return nil
		}
		log, err := evidence.Open(filepath.Join(dir, "run"), "r", evidence.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		g := &Gate{Machine: Machine{Sandbox: w.box, Log: log, Mirror: mirror, Tools: w.tools, CacheDir: filepath.Join(dir, "cache"), Shared: w.shared, Scratch: filepath.Join(dir, "scratch"), Now: time.Now}}
		if _, err := g.Run(t.Context(), in); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, side := range []Side{Base, Head} {
			if given[side] == nil {
				t.Fatalf("%s: %s was not handed over", name, side)
			}
			_, err := os.Stat(filepath.Join(given[side].Dir, "a.txt"))
			if laid := err == nil; laid != c.laid {
				t.Errorf("%s: %s: laid out %t, want %t", name, side, laid, c.laid)
			}
			if err := given[side].Lay(t.Context()); err != nil {
				t.Errorf("%s: %s: %v", name, side, err)
			}
			if got := slices.Sorted(maps.Keys(c.base)); !folder.Exists(filepath.Join(given[side].Dir, got[0])) {
				t.Errorf("%s: %s lacks %s", name, side, got[0])
			}
		}
	}
}
