package reproduce

import (
	"context"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// trees are the files of commits, by commit and path.
type trees map[string]map[string]string

func (t trees) Files(_ context.Context, commit string) ([]objects.Entry, error) {
	var out []objects.Entry
	for name, text := range t[commit] {
		out = append(out, objects.Entry{Path: name, Size: int64(len(text))})
	}
	slices.SortFunc(out, func(a, b objects.Entry) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func (t trees) ReadFile(_ context.Context, commit, path string) ([]byte, error) {
	text, ok := t[commit][path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (t trees) Occurrences(_ context.Context, commit string, texts ...string) (map[string][]string, error) {
	found := map[string][]string{}
	for name, text := range t[commit] {
		for _, w := range texts {
			if regexp.MustCompile(`(^|\W|\b)` + regexp.QuoteMeta(w) + `($|\W|\b)`).MatchString(text) {
				found[w] = append(found[w], name)
			}
		}
	}
	return found, nil
}

// What a check is about is found in its command and its code, and kept apart from
// what the base has as well, and from words that mean nothing.
func TestGround(t *testing.T) {
	t.Parallel()
	both := map[string]string{"app.py": "def total(a, b):\n    return a + b\n", "server.js": "app.get('/items', list)\n", "main.go": "flag.Bool(\"plain\", false, \"\")\n"}
	head := map[string]string{
		"app.py":    "def total(a, b):\n    return a + b\n\n# Twice the sum, also of negative numbers.\ndef doubled(a, b):\n    negative = a\n    return 2 * (a + b)\n",
		"server.js": "app.get('/items', list)\napp.get('/items/:id/archive', archive)\n", "main.go": "flag.Bool(\"plain\", false, \"\")\nflag.Int(\"twice\", 1, \"\")\ncase \"double\":\n",
		"cmd/new.sh": "echo\n", "README.md": "The archive\nis sorted by date.\n",
	}
	o := trees{"b": both, "h": head}
	c := change.Change{BaseSHA: "b", HeadSHA: "h", Files: []change.File{{Path: "app.py", Status: change.Modified}, {Path: "cmd/new.sh", Status: change.Added}}}
	for _, tc := range []struct {
		name string
		s    Subject
		want Grounds
	}{
		{"a function, called", Subject{Command: `python3 -c 'import app; assert app.doubled(1, 2) == 7'`}, Grounds{Words: []string{"doubled"}, Probe: true}},
		{"a function of both", Subject{Command: `python3 -c 'import app; assert app.total(1, 2) == 7'`}, Grounds{Probe: true}},
		{"a word in the probe", Subject{Command: `python3 -c 'import app; print("negative", app.total(-1, 2)); exit(1)'`}, Grounds{Words: []string{"negative"}, Probe: true}},
		{"in a file of the check", Subject{Command: "python3 $TMPDIR/p.py", Probes: []string{"from app import doubled\nassert doubled(1, 2) == 7\n"}}, Grounds{Words: []string{"doubled"}, Probe: true}},
		{"as the base says", Subject{Command: "make probe", OnBase: "AttributeError: module 'app' has no attribute 'doubled'\n"}, Grounds{Words: []string{"doubled"}}},
		{"a route", Subject{Command: "curl -sf http://127.0.0.1:8080/items/3/archive?x=1"}, Grounds{HeadOnly: []string{"/archive"}}},
		{"a route of both", Subject{Command: "curl -sf http://127.0.0.1:8080/items/3"}, Grounds{}},
		{"a flag", Subject{Command: "go run . -twice 3 1 2"}, Grounds{HeadOnly: []string{"--twice"}}},
		{"a flag of both, and one of neither", Subject{Command: "go run . --plain --thrice 1 2"}, Grounds{}},
		{"flags of other programs", Subject{Command: "go test -twice 1 -run double ./... && grep --twice x app.py"}, Grounds{}},
		{"after a file", Subject{Command: "sh cmd/new.sh double"}, Grounds{HeadOnly: []string{"cmd/new.sh", "double"}}},
		{"a command", Subject{Command: "./tool double 3"}, Grounds{HeadOnly: []string{"double"}}},
		{"words that are printed", Subject{Command: "echo double archive doubled; ./tool 3"}, Grounds{}},
		{"a file", Subject{Command: "sh cmd/new.sh 3"}, Grounds{HeadOnly: []string{"cmd/new.sh"}}},
		{"files in a stack", Subject{Command: "./tool", Output: "  File \"/x/worktrees/r/again/E1-head/app.py\", line 3\n  File \"/tmp/E1-head/p.py\", line 1\n"}, Grounds{Files: []string{"app.py"}}},
		{"a sentence of the documentation", Subject{Claim: report.AgentCheck{Expected: `README.md: "the archive is sorted by date."`}}, Grounds{Quote: "the archive is sorted by date", QuoteAt: "README.md"}},
		{"a comment", Subject{Claim: report.AgentCheck{Expected: `"Twice the sum, also of negative numbers"`}}, Grounds{Quote: "twice the sum, also of negative numbers", QuoteAt: "app.py"}},
		{"code is no sentence", Subject{Claim: report.AgentCheck{Expected: `"return 2 * (a + b)"`}}, Grounds{}},
		{"what stands nowhere", Subject{Claim: report.AgentCheck{Expected: `"the archive is never sorted"`}}, Grounds{}},
	} {
		got, err := Ground(t.Context(), o, c, tc.s)
		if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tc.name, err, diff)
		}
	}
}
