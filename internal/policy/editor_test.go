package policy

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// docs/permissions.schema.json, by which editors help, takes the rules that the
// program reads, by all of their names, and no others.
func TestEditorSchema(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/permissions.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{
		`{}`, `{"permissions": {}}`, `{"permissions": {"allow": [], "ask": [], "deny": ["Bash(curl *)"]}}`,
		`{"permissions": {"deny": ["Bash"]}}`, `{"permissions": {"deny": ["Bash()"]}}`, `{"permissions": {"deny": ["Curl(x)"]}}`,
		`{"permissions": {"refuse": []}}`, `{"allow": []}`, `{"permissions": {"deny": "Bash(x)"}}`, `[]`,
	}
	for _, name := range slices.Concat(pathNames, textNames, foreignNames) {
		files = append(files, `{"permissions": {"deny": ["`+name+`(x)"]}}`)
	}
	for _, file := range files {
		var doc any
		if err := json.Unmarshal([]byte(file), &doc); err != nil {
			t.Fatal(err)
		}
		_, ours := ParseFiles(File{Name: "f", Data: []byte(file)})
		theirs := resolved.Validate(doc)
		if (ours == nil) != (theirs == nil) {
			t.Errorf("%s: the program says %v, the schema %v", file, ours, theirs)
		}
	}
}
