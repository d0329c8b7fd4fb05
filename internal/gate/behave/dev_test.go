package behave

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func TestDev(t *testing.T) {
	for _, name := range strings.Fields(os.Getenv("DEV")) {
		ar, err := txtar.ParseFile("../../../test/eval/testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		lay := func(layers ...string) map[string][]byte {
			out := map[string][]byte{}
			for _, l := range layers {
				for _, f := range ar.Files {
					if n, ok := strings.CutPrefix(f.Name, l+"/"); ok && strings.HasSuffix(n, ".go") && !strings.Contains(n, "/") {
						out[n] = f.Data
					}
				}
			}
			return out
		}
		for _, attempt := range []string{"bad", "good"} {
			list, was, now := compared(t, lay("base"), lay("base", "change", attempt))
			t.Logf("== %s/%s", name, attempt)
			for _, c := range list {
				t.Logf("%s: inputs %d differ %d words %d fixed %d %s tested %v", c.Name, c.Inputs, c.Differing, c.Worded, c.Fixed, c.Unlike, c.Tested)
			}
			for i := range was {
				t.Logf("  %s\n   base %s\n   head %s (stable %v %v)", was[i].Src, was[i].Says(), now[i].Says(), was[i].Stable, now[i].Stable)
				for _, c := range list {
					if c.Name == was[i].Name {
						t.Log(Test(c.Function, was[i]))
					}
				}
			}
		}
	}
}
