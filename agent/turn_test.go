package agent_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/internal/model"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// TestScenario plays each testdata file. Its comment is the promise, "setup" the
// agent, "want" the events, the history and the end; the other sections are what
// the model says. Whatever happens, the history that is left is a valid one.
func TestScenario(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var says txtar.Archive
			var setup string
			var want *txtar.File
			for i, f := range ar.Files {
				switch f.Name {
				case "setup":
					setup = string(f.Data)
				case "want":
					want = &ar.Files[i]
				default:
					says.Files = append(says.Files, f)
				}
			}
			if want == nil {
				t.Fatal("no want section")
			}
			b := newBench(parse(t, string(txtar.Format(&says))))
			b.setup(t, setup)
			end, history, err := b.turn(t.Context())
			if err := model.Validate(history); err != nil {
				t.Error(err)
			}
			got := render(b.events, history, end, err)
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("want-, got+:\n%s", diff)
			}
		})
	}
}
