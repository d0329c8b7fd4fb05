package config

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"
)

// docs/ycbot.schema.json, by which editors help, knows the same keys as the
// program, and takes and refuses the same files.
func TestEditorSchema(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/ycbot.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(data, s); err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(Keys(), func(k string) bool { return k == agentPath })
	want = append(want, "agents.run")
	got := keysOf(s, "")
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("its keys (-want +got):\n%s", diff)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{
		full, "version: 1\n", "version: 1\ncommands: {test: make test, lint: []}\n", "version: 1\nlimits: {timeout: 1h30m, cost_usd: 1}\n",
		"version: 2\n", "on: {drafts: true}\n", "version: 1\nallow: read\n", "version: 1\nagent: {run: [review]}\n", "version: 1\nlimits: {timeout: 20}\n",
		"version: 1\nlimits: {timeout: soon}\n", "version: 1\nlimits: {tokens: 0}\n", "version: 1\nlimits: {tokens: 1.5}\n", "version: 1\nlimits: {cost_usd: 0}\n", "version: 1\non: {pull_request: [closed]}\n",
		"version: 1\non: {drafts: maybe}\n", "version: 1\npublish: {comment: loud}\n", "version: 1\npublish: {comments: new}\n", "version: 1\ncommands: {test: 7}\n", "version: 1\ncommands: {deploy: x}\n",
		"version: 1\nenv: {1X: a}\n", "version: 1\nenv: [A]\n", "version: 1\nnetwork: {allow: [localhost]}\n", "version: 1\nagents: {run: [\"a b\"]}\n", "version: 1\nagents: {review: {modell: x}}\n",
		"version: 1\nfail_on: always\n", "version: 1\nrequire_fail_to_pass: 1\n", "version: 1\nsandbox: none\n",
	} {
		var doc any
		if err := yaml.Unmarshal([]byte(file), &doc); err != nil {
			t.Fatal(err)
		}
		_, ours := Parse("f", []byte(file))
		theirs := resolved.Validate(doc)
		if (ours == nil) != (theirs == nil) {
			t.Errorf("%s\nthe program says %v, the schema %v", file, ours, theirs)
		}
	}
}

// keysOf lists the paths of all keys of a schema.
func keysOf(s *jsonschema.Schema, path string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, join(path, key))
		out = append(out, keysOf(s.Properties[key], join(path, key))...)
	}
	if path == "agents" && s.AdditionalProperties != nil {
		out = append(out, keysOf(s.AdditionalProperties, agentPath)...)
	}
	return out
}
