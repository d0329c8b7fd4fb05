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

// A scenario is a testdata file: its comment begins with the rows of the feature
// list that it shows and is the promise then, "setup" is the agent, "want" the
// events, the history and the end; the other sections are what the model says.
// One with a section "coordinator" is played with subagents; see play_test.go.
type scenario struct {
	file  string
	ar    *txtar.Archive
	says  string
	setup string
	want  *txtar.File
	cast  bool
}

func scenarios(t *testing.T) map[string]scenario {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	all := map[string]scenario{}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := scenario{file: file, ar: ar}
		var says txtar.Archive
		for i, f := range ar.Files {
			switch f.Name {
			case "setup":
				s.setup = string(f.Data)
			case "want":
				s.want = &ar.Files[i]
			default:
				says.Files = append(says.Files, f)
				s.cast = s.cast || f.Name == "coordinator"
			}
		}
		if s.want == nil {
			t.Fatalf("%s: no want section", file)
		}
		s.says = string(txtar.Format(&says))
		all[strings.TrimSuffix(filepath.Base(file), ".txtar")] = s
	}
	return all
}

// play plays the scenario with a model that says what it says; it returns what
// came of it and the history that is left.
func (s scenario) play(t *testing.T, m model.Model) (string, []model.Message) {
	t.Helper()
	if s.cast {
		return s.playCast(t, m)
	}
	b := newBench(m)
	b.setup(t, s.setup)
	end, history, err := b.turn(t.Context())
	return render(b.events, history, end, err), history
}

// TestScenario plays each scenario. Whatever happens, the history that is left is
// a valid one.
func TestScenario(t *testing.T) {
	t.Parallel()
	for name, s := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, history := s.play(t, parse(t, s.says))
			if err := model.Validate(history); err != nil {
				t.Error(err)
			}
			if strings.Contains(got, "script: agent ") {
				t.Fatalf("the scenario did not get what it wants:\n%s", got)
			}
			if *update {
				s.want.Data = []byte(got)
				if err := os.WriteFile(s.file, txtar.Format(s.ar), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(s.want.Data), got); diff != "" {
				t.Errorf("want-, got+:\n%s", diff)
			}
		})
	}
}
