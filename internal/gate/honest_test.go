package gate

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// given takes out what a sample repository has from a registry: the runners of the
// tests are installed beside it.
var given = regexp.MustCompile(`, "devDependencies": \{[^}]*\}`)

// honestPartial are the sample edits that are PARTIAL from outside: docs/gate.md
// publishes their share by class.
var honestPartial = []string{
	"regenerated_mock", // its package's only test needs the mock
}

// TestHonest holds what honest edits of tests come to, by any author: the sample
// repositories of the backtest's arm of that name. None is FAIL.
func TestHonest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	t.Parallel()
	files, err := filepath.Glob("../backtest/honest/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	w := newWorld(t)
	for _, file := range files {
		for _, who := range []string{"trusted", "untrusted"} {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			if name == "jest_to_vitest" {
				continue // its tests import a package of a registry: see kept_runner_replaced
			}
			// What passes from outside passes with an author who is trusted. make test has one.
			variant := name != "table_row" || who == "trusted"
			variants.Run(t, name+" "+who, variant, func(t *testing.T) {
				t.Parallel()
				s := honestSample(t, file)
				want := Pass
				if who == "untrusted" {
					if slices.Contains(honestPartial, name) {
						want = Partial
					}
					s.input["untrusted"] = []string{"yes"}
				}
				res := w.run(t, s)
				if res.Verdict != want {
					t.Errorf("%s, want %s\n%s", res.Verdict, want, facts(res))
				}
			})
		}
	}
}

// honestSample reads a sample repository of the backtest.
func honestSample(t *testing.T, file string) *scenario {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{base: map[string][]byte{}, head: map[string][]byte{}, input: map[string][]string{}}
	for _, f := range ar.Files {
		side, name, _ := strings.Cut(f.Name, "/")
		text := given.ReplaceAllString(string(f.Data), "")
		if strings.HasSuffix(name, "package.json") {
			s.input["runners"] = []string{"yes"}
		}
		switch {
		case strings.TrimSpace(text) == "(deleted)":
			s.removed = append(s.removed, name)
		case side == "before":
			s.base[name] = []byte(text)
		default:
			s.head[name] = []byte(text)
		}
	}
	return s
}
