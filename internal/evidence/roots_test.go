package evidence_test

import (
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
)

// A record has the folders that its command names and no others, so that the command
// is compared and moved without looking for folders in its text.
func TestRoots(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, err := evidence.Open(dir, "r", evidence.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	here := evidence.Roots{Tree: "/w/agents/a", Home: "/w/scratch/a", Temp: "/tmp/y/a", Base: "/w/prepared base"}
	there := evidence.Roots{Tree: "/v/again/1", Home: "/v/again/1-home", Temp: "/tmp/z/1", Base: "/v/base"}
	for command, want := range map[string]string{
		"diff '/w/prepared base/f' /w/agents/a/f": "diff '/v/base/f' /v/again/1/f",
		"sh /tmp/y/a/probe.sh":                    "sh /tmp/z/1/probe.sh",
		"go test ./...":                           "go test ./...",
	} {
		rec, _, err := log.Run(t.Context(), printing("", ""), evidence.Execution{Agent: "x", Task: "a", Command: command, Roots: here, Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		roots := evidence.Roots{}
		if rec.Roots != nil {
			roots = *rec.Roots
		}
		if got := roots.Move(command, there); got != want {
			t.Errorf("%s: moved to %q, want %q", command, got, want)
		}
		if roots.Symbolic(command) != there.Symbolic(want) {
			t.Errorf("%s: %q is another command than %q", command, roots.Symbolic(command), there.Symbolic(want))
		}
		if rec.Roots != nil && rec.Roots.Home != "" {
			t.Errorf("%s: a folder that it does not name: %+v", command, rec.Roots)
		}
	}
	read, err := evidence.ReadVerified(dir, "r")
	if err != nil || len(read) != 3 {
		t.Fatalf("%d records in %s, %v", len(read), filepath.Base(dir), err)
	}
}
