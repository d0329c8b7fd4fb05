package python

import (
	"maps"
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/workflows"
	"github.com/ycbot/ycbot/internal/pattern"
)

// taskTables are where tools keep commands by their names, of a pyproject.toml: poethepoet, PDM,
// taskipy, Rye and Hatch.
var taskTables = [][]string{
	{"tool", "poe", "tasks"},
	{"tool", "pdm", "scripts"},
	{"tool", "taskipy", "tasks"},
	{"tool", "rye", "scripts"},
	{"tool", "hatch", "envs", "default", "scripts"},
	{"tool", "hatch", "envs", "test", "scripts"},
}

// testTask is the name of a task that runs tests.
var testTask = pattern.New(`(?i)^(?:tests?|unit|check|ci|cov|coverage|pytest|all)\b|\btests?\b`)

// tasks are the commands of settings of a project that run its tests, by their names.
func tasks(s *ecosystem.Survey, dir string) []workflows.Job {
	var out []workflows.Job
	for _, file := range []string{"pyproject.toml", "Pipfile"} {
		settings, _ := ecosystem.ParseTOML(s.Read(dir, file))
		tables := taskTables
		if file == "Pipfile" {
			tables = [][]string{{"scripts"}}
		}
		for _, t := range tables {
			table := settings.Table(t...)
			for _, name := range slices.Sorted(maps.Keys(table)) {
				if !testTask.MatchString(name) {
					continue
				}
				if step := task(table, name); step.Run != "" {
					step.Dir = dir
					out = append(out, workflows.Job{File: path.Join(dir, file), ID: name, Steps: []workflows.Step{step}})
				}
			}
		}
	}
	return out
}

// task is the command of a task: a text, or a table with one and with variables, which may be those of
// all tasks ("_" of PDM).
func task(table ecosystem.TOML, name string) workflows.Step {
	out := workflows.Step{Run: table.Text(name), Env: map[string]any{}}
	one := table.Table(name)
	for _, key := range []string{"cmd", "shell"} {
		if text := one.Text(key); text != "" {
			out.Run = text
		}
	}
	for _, vars := range []ecosystem.TOML{table.Table("_", "env"), one.Table("env")} {
		maps.Copy(out.Env, vars)
	}
	return out
}
