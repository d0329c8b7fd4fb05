package python

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
)

func surveyOf(t *testing.T, files map[string]string) *ecosystem.Survey {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return ecosystem.NewSurvey(ecosystem.InTree(root), slices.Sorted(maps.Keys(files)), nil, t.Logf)
}

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
			if d := cmp.Diff(tt.want, pythonRequirements(surveyOf(t, tt.files), ".")); d != "" {
				t.Error(d)
			}
		})
	}
	lock := "version = 1\n[[package]]\nname = \"a\"\nversion = \"1.2\"\nsource = { registry = \"x\" }\n[[package]]\nversion = '2'\nname = 'b'\n"
	if d := cmp.Diff([]string{"a==1.2", "b==2"}, lockedVersions(surveyOf(t, map[string]string{"uv.lock": lock}), ".")); d != "" {
		t.Error(d)
	}
}

// A manifest that is broken is still one of a project: else a change could make its tests
// vanish where they would fail.
func TestBrokenManifests(t *testing.T) {
	t.Parallel()
	good := "[package]\nname = \"x\"\n[target.'cfg(unix)'.dependencies]\nnear = { path = \"../near\" }\n"
	for name, text := range map[string]string{"good": good, "broken": good + "name = = 3\n"} {
		projects := rust.findRustProjects(surveyOf(t, map[string]string{"a/Cargo.toml": text, "a/src/lib.rs": "", "near/Cargo.toml": "[package]\nname = \"near\"\n"}))
		if len(projects) != 2 {
			t.Errorf("%s: %d projects", name, len(projects))
		}
		if name == "good" && !slices.Contains(projects[0].Uses, "near") {
			t.Errorf("uses %q", projects[0].Uses)
		}
	}
	for _, text := range []string{"[tool.pytest.ini_options]\naddopts = \"-q\"\n", "[tool.pytest.ini_options]\naddopts = = 3\n"} {
		s := surveyOf(t, map[string]string{"pyproject.toml": text, "test_a.py": "def test_a(): pass\n"})
		if f := pythonFacts(s, ".", []string{"."}); !f.pytest {
			t.Errorf("%q: no pytest", text)
		}
	}
}
