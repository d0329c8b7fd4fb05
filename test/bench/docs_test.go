package bench_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/test/bench"
)

// text is a file of the repository.
func text(t *testing.T, name string) string {
	t.Helper()
	root, err := bench.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// workflows are those in docs/action.md, word for word, by their names.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n(name: (.*?)\n.*?)^```$").FindAllStringSubmatch(text(t, "docs/action.md"), -1) {
		out[m[2]] = m[1]
	}
	return out
}

// A manifest is action.yml.
type manifest struct {
	Inputs, Outputs map[string]struct{ Description, Default, Value string }
	Runs            struct {
		Steps []struct {
			ID, Run, Uses, If string
			Env, With         map[string]string
		}
	}
}

func readManifest(t *testing.T) manifest {
	t.Helper()
	var m manifest
	if err := yaml.Unmarshal([]byte(text(t, "action.yml")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestManifest holds what people and programs rely on in action.yml: the names,
// that each input reaches ycbot and each output comes from it, and that no input
// becomes part of a shell text.
func TestManifest(t *testing.T) {
	t.Parallel()
	m := readManifest(t)
	var steps []string
	env := map[string]string{}
	for _, s := range m.Runs.Steps {
		steps = append(steps, s.ID)
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %q: the shell text has an expression in it", s.ID)
		}
		if s.ID == "run" {
			env = s.Env
			if !strings.HasSuffix(strings.TrimSpace(s.Run), `exec "$YCBOT" action`) {
				t.Error("the step that verifies does not end in exec: signals would reach the shell")
			}
		}
	}
	for _, name := range []string{"prepare", "install", "run"} {
		if !slices.Contains(steps, name) {
			t.Errorf("there is no step %s among %q", name, steps)
		}
	}
	inputs := strings.Fields("github-token model provider base-url api-key fail-on agents agents-dir task timeout max-tokens max-cost-usd " +
		"sandbox network comment check config working-directory artifact-name upload-artifact publish")
	for _, name := range inputs {
		in, ok := m.Inputs[name]
		if !ok || in.Description == "" {
			t.Errorf("input %s is missing, or says nothing of itself", name)
		}
		if got, want := env["INPUT_"+strings.ToUpper(name)], "${{ inputs."+name+" }}"; got != want {
			t.Errorf("ycbot has %q for the input %s, want %q", got, name, want)
		}
	}
	outputs := strings.Fields("verdict run-id report-dir report-json comment-url check-url tokens cost-usd")
	for _, name := range outputs {
		if got, want := m.Outputs[name].Value, "${{ steps.run.outputs."+name+" }}"; got != want {
			t.Errorf("output %s is %q, want %q", name, got, want)
		}
	}
	if len(m.Inputs) != len(inputs) || len(m.Outputs) != len(outputs) {
		t.Errorf("%d inputs and %d outputs, want %d and %d", len(m.Inputs), len(m.Outputs), len(inputs), len(outputs))
	}
}

// TestDocumented holds that docs/action.md lists what there is: inputs, outputs,
// and each code for which nothing is run.
func TestDocumented(t *testing.T) {
	t.Parallel()
	m, doc := readManifest(t), text(t, "docs/action.md")
	for name, in := range m.Inputs {
		if !strings.Contains(doc, "| `"+name+"` | "+in.Description+" |") {
			t.Errorf("docs/action.md does not have the input %s as action.yml describes it", name)
		}
	}
	for name, out := range m.Outputs {
		if !strings.Contains(doc, "| `"+name+"` | "+out.Description+" |") {
			t.Errorf("docs/action.md does not have the output %s as action.yml describes it", name)
		}
	}
	codes := regexp.MustCompile(`\n\tCode\w+ +Code = "([a-z-]+)"`).FindAllStringSubmatch(text(t, "internal/job/skip.go"), -1)
	if len(codes) < 20 {
		t.Errorf("only %d codes found in internal/job", len(codes))
	}
	for _, code := range codes {
		if !strings.Contains(doc, "| `"+code[1]+"` |") {
			t.Errorf("docs/action.md does not explain the code %s", code[1])
		}
	}
}

// TestWorkflows holds of all workflows in the docs: they are YAML, begin without
// permissions, never run under pull_request_target, name inputs that there are,
// and pin what they use, others' actions by commit.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	m, all := readManifest(t), workflows(t)
	if len(all) != 5 {
		t.Errorf("%d workflows in docs/action.md, want 5", len(all))
	}
	pinned := regexp.MustCompile(`^[\w-]+(/[\w-]+)+@[0-9a-f]{40}$`)
	for name, source := range all {
		var w struct {
			On          map[string]any
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Timeout     int `yaml:"timeout-minutes"`
				Steps       []struct {
					Uses string
					With map[string]any
				}
			}
		}
		if err := yaml.Unmarshal([]byte(source), &w); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w.Permissions == nil || len(w.Permissions) != 0 {
			t.Errorf("%s: does not begin with permissions: {}", name)
		}
		if _, risky := w.On["pull_request_target"]; risky || len(w.On) == 0 {
			t.Errorf("%s: runs on %v", name, w.On)
		}
		for id, job := range w.Jobs {
			if len(job.Permissions) == 0 || job.Timeout == 0 {
				t.Errorf("%s: job %s has no permissions or no time limit of its own", name, id)
			}
			for _, step := range job.Steps {
				ours := strings.HasPrefix(step.Uses, "ycbot/ycbot@")
				if step.Uses != "" && !ours && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned by commit", name, step.Uses)
				}
				for input := range step.With {
					if _, ok := m.Inputs[input]; ours && !ok {
						t.Errorf("%s: there is no input %s", name, input)
					}
				}
			}
		}
	}
	for _, step := range m.Runs.Steps {
		if step.Uses != "" && !pinned.MatchString(step.Uses) {
			t.Errorf("action.yml: %s is not pinned by commit", step.Uses)
		}
	}
}
