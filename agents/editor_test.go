package agents

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"
)

// docs/agent.schema.json, by which editors help, has the fields that the program
// reads, and the agents that come with it are right by it.
func TestEditorSchema(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/agent.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Values(spellings()))
	want = slices.DeleteFunc(slices.Compact(want), func(name string) bool { return name == "" })
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s.Properties))); diff != "" {
		t.Errorf("its fields (-want +got):\n%s", diff)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no agents", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		head, _, ok := split(string(text))
		if !ok {
			t.Fatalf("%s has no settings", f)
		}
		var doc any
		if err := yaml.Unmarshal([]byte(head), &doc); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(doc); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}
