package tool

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/schemas.json")

func every() []Tool { return Declared() }

// What a model is given of the tools changes only on purpose: the snapshot is
// part of what providers cache.
func TestSchemas(t *testing.T) {
	t.Parallel()
	got := map[string]json.RawMessage{}
	for _, tl := range every() {
		got[tl.Name] = tl.Schema
	}
	data, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
	const file = "testdata/schemas.json"
	if *update {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(data)); diff != "" {
		t.Errorf("schemas (-want +got), go test -update rewrites them:\n%s", diff)
	}
}

// Every tool is known by the name and class that it has, refuses what its
// schema does not name, and is described.
func TestEveryTool(t *testing.T) {
	t.Parallel()
	for i, tl := range every() {
		if class, ok := ClassOf(tl.Name); !ok || class != tl.Class {
			t.Errorf("%s: class %q, known as %q", tl.Name, tl.Class, class)
		}
		if !bytes.Contains(tl.Schema, []byte(`"additionalProperties":false`)) {
			t.Errorf("%s: schema lets anything in: %s", tl.Name, tl.Schema)
		}
		if len(tl.Description) < 40 || strings.Contains(tl.Description, "\r") {
			t.Errorf("%s: description %q", tl.Name, tl.Description)
		}
		for _, args := range []string{`{"bogus":1}`, `[]`, `{"path":1,"command":1,"todos":1,"paths":1,"a":1,"from":1,"pattern":1}`} {
			if _, err := every()[i].Run(t.Context(), json.RawMessage(args)); !isBad(err) {
				t.Errorf("%s(%s): error %v, want a BadCall", tl.Name, args, err)
			}
		}
	}
}

// The spellings of all four source systems lead to tools of ours, and what
// changes the project is known without being offered.
func TestNames(t *testing.T) {
	t.Parallel()
	for alias, want := range map[string]string{
		"Read": "read_file", "read_workspace_file": "read_file", "Grep": "grep", "workspace_search": "grep", "Glob": "glob", "LS": "list_dir",
		"ls": "list_dir", "list_workspace_files": "list_dir", "bash": "run_bash", "Bash": "run_bash", "shell_exec": "run_bash", "WebFetch": "fetch_url",
		"TodoWrite": "todo_write", "Task": "Agent", "task": "Agent", "spawn_agent": "Agent", "subagents.run": "subagents_run", "MultiEdit": "edit_file",
		"apply_patch": "apply_diff", "read_file": "read_file", "frobnicate": "frobnicate",
	} {
		if got := Canonical(alias); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", alias, got, want)
		}
	}
	offered := map[string]bool{}
	for _, tl := range every() {
		offered[tl.Name] = true
	}
	for _, m := range []string{"write_file", "edit_file", "apply_diff", "mkdir", "copy_file", "move_file", "delete_file", "git_commit", "git_checkpoint", "rollback", "git_stage_files", "git_unstage_files"} {
		if class, _ := ClassOf(m); class != Write && class != GitWrite || offered[m] {
			t.Errorf("%s: class %s, offered %v", m, class, offered[m])
		}
	}
	for _, n := range Names() {
		if _, ok := Resolve(n); !ok {
			t.Errorf("%s is named and not known", n)
		}
	}
	if _, ok := Resolve("frobnicate"); ok {
		t.Error("frobnicate is known")
	}
}
