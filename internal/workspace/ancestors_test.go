package workspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// Commits before others and merge bases are found in the process where they can be, and
// are those of git: past merges, with ids replaced, and where the history is cut off.
func TestAncestorsAgreeWithGit(t *testing.T) {
	variants.Only(t) // git is asked for each pair of commits; TestObjectsAgreeWithGit has objects
	t.Parallel()
	dir := t.TempDir()
	user(t, dir, "init", "-q", "-b", "main")
	for i := range 3 {
		write(t, dir, map[string]string{"main.txt": fmt.Sprint(i)})
		commit(t, dir, fmt.Sprintf("main %d", i))
	}
	user(t, dir, "checkout", "-q", "-b", "side", "HEAD~1")
	write(t, dir, map[string]string{"side.txt": "s"})
	commit(t, dir, "side")
	user(t, dir, "merge", "-q", "--no-ff", "-m", "cross", "main")
	user(t, dir, "checkout", "-q", "main")
	user(t, dir, "merge", "-q", "--no-ff", "-m", "merge", "side~1")
	write(t, dir, map[string]string{"main.txt": "last"})
	commit(t, dir, "last")

	cut := t.TempDir() + "/cut"
	user(t, dir, "clone", "-q", "--depth=2", "--no-single-branch", "file://"+dir, cut)
	user(t, cut, "branch", "-q", "side", "origin/side")
	replaced := t.TempDir() + "/replaced"
	user(t, dir, "clone", "-q", dir, replaced)
	user(t, replaced, "branch", "-q", "side", "origin/side")
	user(t, replaced, "replace", "--graft", "main") // nothing before it: the history that others see has it

	g := newGit(t)
	for _, where := range []string{dir, cut, replaced} {
		r, m := open(t, g, where)
		for _, ref := range []string{"HEAD~1", "HEAD^", "HEAD^0", "HEAD~", "HEAD~0", "HEAD~1^2", "HEAD^^2~1", "HEAD^2", "HEAD~3", "refs/heads/main~2", "refs/heads/side^2", "side~1", "HEAD~40", "HEAD^3", "HEAD~99999"} {
			want, fails := userMayFail(where, "--no-replace-objects", "rev-parse", "--verify", "-q", ref+"^{commit}")
			got, err := r.Resolve(t.Context(), ref)
			if (err != nil) != (fails != nil) || err == nil && got != strings.TrimSpace(want) {
				t.Errorf("%s: Resolve(%s) = %s, %v; git says %s, %v", where, ref, got, err, want, fails)
			}
		}
		all := strings.Fields(user(t, where, "--no-replace-objects", "rev-list", "--all"))
		tips := []string{user(t, where, "rev-parse", "main"), user(t, where, "rev-parse", "side")}
		if err := m.Import(t.Context(), r, tips...); err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if _, err := m.TreeOf(t.Context(), a); err != nil {
				continue // of the replacement alone
			}
			for _, b := range tips { // a mirror may have more history than the clone
				want, fails := userMayFail(m.Dir, "--no-replace-objects", "merge-base", a, b)
				got, err := m.MergeBase(t.Context(), a, b)
				if (err != nil) != (fails != nil) || err == nil && got != strings.TrimSpace(want) {
					t.Errorf("%s: merge base of %s and %s is %s, %v; git says %s, %v", where, a, b, got, err, want, fails)
				}
			}
		}
	}
}
