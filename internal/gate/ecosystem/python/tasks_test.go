package python

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestTasks holds which commands of settings run a project's tests, and the variables that they have.
func TestTasks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[tool.poe.tasks.test]\ncmd = \"pytest\"\nenv = {A = \"1\"}\n[tool.poe.tasks]\nlint = \"ruff\"\n": "pytest map[A:1]",
		"[tool.pdm.scripts]\n_.env = {B = \"2\"}\ntest = {cmd = \"pytest\", env = {A = \"1\"}}\n":         "pytest map[A:1 B:2]",
		"[tool.taskipy.tasks]\ntest = \"pytest -W error\"\n":                                              "pytest -W error map[]",
		"[tool.rye.scripts]\ntest = {cmd = \"pytest\", env = {A = \"1\"}}\nserve = \"flask run\"\n":       "pytest map[A:1]",
		"[tool.hatch.envs.default.scripts]\ncov = \"pytest --cov\"\n":                                     "pytest --cov map[]",
		"[tool.hatch.envs.docs.scripts]\ntest = \"mkdocs build\"\n":                                       "",
	} {
		tasksAre(t, "pyproject.toml", text, want)
	}
	tasksAre(t, "Pipfile", "[scripts]\ntest = \"env A=1 pytest\"\nstart = \"flask run\"\n", "env A=1 pytest map[]")
}

func tasksAre(t *testing.T, file, text, want string) {
	t.Helper()
	var problems strings.Builder
	var got []string
	for _, j := range tasks(trees.Survey(t, map[string]string{"api/" + file: text}, &problems), "api") {
		got = append(got, fmt.Sprint(j.Steps[0].Run, " ", j.Steps[0].Env))
		if j.File != "api/"+file || j.Steps[0].Dir != "api" {
			t.Errorf("%+v", j)
		}
	}
	if strings.Join(got, "; ") != want || problems.Len() > 0 {
		t.Errorf("%s: %q, want %q; %s", text, got, want, &problems)
	}
}
