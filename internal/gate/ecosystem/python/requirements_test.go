package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// Manifests are read as TOML: dotted keys, inline tables, comments and arrays over several
// lines mean what they mean to the tools.
func TestPythonRequirementsOfManifests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"project", map[string]string{"pyproject.toml": "[project]\nname = 'own' # the name\ndependencies = [\n  \"a>=1\", # why ] it is\n  'b', \"own\",\n]\n[project.optional-dependencies]\ntest = [\"c\"]\ndocs = [\"d\"]\n[build-system]\nrequires = [\"hatchling\"]\n"}, []string{"a>=1", "b", "c", "hatchling"}},
		{"dotted keys", map[string]string{"pyproject.toml": "project.name = \"own\"\nproject.dependencies = [\"a\"]\nbuild-system.requires = []\n"}, []string{"a"}},
		{"poetry", map[string]string{"poetry.lock": "", "pyproject.toml": "[tool.poetry]\nname = \"own\"\n[tool.poetry.dependencies]\npython = \"^3.11\"\na = \"^1\"\nhere = { path = \"../here\" }\nthere = {git = \"https://example.org/x\"}\n[tool.poetry.group.dev.dependencies.b]\nversion = \"1\"\n"}, []string{"a", "b"}},
		{"groups", map[string]string{"uv.lock": "", "pyproject.toml": "[dependency-groups]\ndev = [\"a\", {include-group = \"x\"}]\nx = [\"b\"]\n"}, []string{"a", "b"}},
		{"Pipfile", map[string]string{"Pipfile": "[packages]\na = '*'\n[dev-packages]\nb = {version = '*'}\nc = {path = '.'}\n"}, []string{"a", "b"}},
		{"other types", map[string]string{"pyproject.toml": "[project]\ndependencies = 3\noptional-dependencies = []\n[tool]\npoetry = 1\n[build-system]\nrequires = {}\n"}, nil},
		{"no TOML", map[string]string{"pyproject.toml": "[project\ndependencies = [\"a\"]\n"}, nil},
		{"arrays in arrays", map[string]string{"pyproject.toml": "x = " + strings.Repeat("[", 1<<20)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, pythonRequirements(trees.Survey(t, tt.files, t.Output()), ".")); d != "" {
				t.Error(d)
			}
		})
	}
	lock := "version = 1\n[[package]]\nname = \"a\"\nversion = \"1.2\"\nsource = { registry = \"x\" }\n[[package]]\nversion = '2'\nname = 'b'\n"
	if d := cmp.Diff([]string{"a==1.2", "b==2"}, lockedVersions(trees.Survey(t, map[string]string{"uv.lock": lock}, t.Output()), ".")); d != "" {
		t.Error(d)
	}
}

// A manifest that is broken is still one of a project: else a change could make its tests
// vanish where they would fail.
func TestBrokenManifests(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[tool.pytest.ini_options]\naddopts = \"-q\"\n", "[tool.pytest.ini_options]\naddopts = = 3\n"} {
		s := trees.Survey(t, map[string]string{"pyproject.toml": text, "test_a.py": "def test_a(): pass\n"}, t.Output())
		if f := pythonFacts(s, ".", candidatesIn(".")); !f.pytest {
			t.Errorf("%q: no pytest", text)
		}
	}
}
