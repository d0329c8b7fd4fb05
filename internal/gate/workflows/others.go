package workflows

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// systems are CI systems other than GitHub Actions, by their files; setBy are the variables that
// each sets to say that it is one.
var (
	systems = map[string]string{
		".gitlab-ci.yml": "gitlab", ".gitlab-ci.yaml": "gitlab", ".circleci/config.yml": "circle", ".travis.yml": "travis",
		"azure-pipelines.yml": "azure", ".azure-pipelines.yml": "azure", "bitbucket-pipelines.yml": "bitbucket",
		".cirrus.yml": "cirrus", ".drone.yml": "drone", ".woodpecker.yml": "woodpecker", ".buildkite/pipeline.yml": "buildkite",
		"appveyor.yml": "appveyor", ".appveyor.yml": "appveyor", ".semaphore/semaphore.yml": "semaphore",
	}
	setBy = map[string]string{"actions": "GITHUB_ACTIONS", "gitlab": "GITLAB_CI", "circle": "CIRCLECI", "travis": "TRAVIS"}
)

// system is the CI system that a file is of, empty for none.
func system(name string) string {
	if ofActions(name) {
		return "actions"
	}
	if ok, err := path.Match(".woodpecker/*.y*ml", name); ok && err == nil {
		return "woodpecker"
	}
	return systems[name]
}

// reader reads the jobs of the files of other systems; nil: it is none of theirs.
func reader(name string) func(name string, text []byte, read func(string) []byte) []Job {
	switch system(name) {
	case "", "actions":
		return nil
	case "gitlab":
		return gitlab
	default:
		return plain
	}
}

// plain are the jobs of files that have commands, and variables for all that is below them, under
// keys of the same few names. There is one for each of "jobs", and one of all that is beside them; of
// Travis one for each line of variables.
func plain(name string, text []byte, _ func(string) []byte) []Job {
	var out []Job
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var root map[string]any
		if err := decoder.Decode(&root); err != nil {
			if !errors.Is(err, io.EOF) {
				return nil
			}
			return out
		}
		commands, _ := root["commands"].(map[string]any) // of CircleCI, which steps name
		c := &collector{commands: commands, left: maxParts}
		rest := maps.Clone(root)
		env := variablesIn(root)
		if jobs, ok := root["jobs"].(map[string]any); ok && jobs["include"] == nil {
			delete(rest, "jobs")
			delete(rest, "commands")
			for _, id := range slices.Sorted(maps.Keys(jobs)) {
				out = appendJob(out, Job{File: name, ID: id, Steps: c.steps(jobs[id], env, "", 0)})
			}
		}
		for _, vars := range lines(root["env"]) {
			out = appendJob(out, Job{File: name, Steps: c.steps(rest, merged(env, vars), "", 0)})
		}
	}
}

func appendJob(out []Job, j Job) []Job {
	if len(j.Steps) == 0 {
		return out
	}
	return append(out, j)
}

// lines are the sets of variables of which Travis runs a job each
// (https://docs.travis-ci.com/user/environment-variables/); one without any for other files.
func lines(env any) []map[string]any {
	var out []map[string]any
	if sets, ok := env.(map[string]any); ok {
		for _, key := range []string{"jobs", "matrix"} {
			list, _ := sets[key].([]any)
			for _, line := range list {
				out = append(out, assigned(line))
			}
		}
	}
	if list, ok := env.([]any); ok {
		for _, line := range list {
			out = append(out, assigned(line))
		}
	}
	if len(out) == 0 {
		return []map[string]any{nil}
	}
	return out[:min(len(out), maxVaried)]
}

// assigned are the variables of a map, of a line of assignments, or of a list of such.
func assigned(v any) map[string]any {
	out := map[string]any{}
	switch v := v.(type) {
	case string:
		for _, word := range strings.Fields(v) {
			if name, value, ok := strings.Cut(word, "="); ok {
				out[name] = strings.Trim(value, `"'`)
			}
		}
	case []any:
		for _, line := range v {
			maps.Copy(out, assigned(line))
		}
	case map[string]any:
		if name, ok := v["name"].(string); ok && v["value"] != nil { // of Azure
			return map[string]any{name: v["value"]}
		}
		for name, value := range v {
			if m, ok := value.(map[string]any); ok { // of GitLab, with a description
				value = m["value"]
			}
			out[name] = value
		}
	}
	return out
}

// variablesIn are those that a table sets for what is below it.
func variablesIn(table map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range []string{"variables", "env", "environment"} {
		switch v := table[key].(type) {
		case map[string]any:
			if key == "env" && (v["global"] != nil || v["jobs"] != nil || v["matrix"] != nil) { // of Travis
				maps.Copy(out, assigned(v["global"]))
				continue
			}
			maps.Copy(out, assigned(v))
		case string:
			maps.Copy(out, assigned(v))
		case []any:
			if key != "env" { // else each line is a job of its own
				maps.Copy(out, assigned(v))
			}
		}
	}
	return out
}

// commandKeys are the keys under which commands stand, in the order in which they run.
var commandKeys = strings.Fields("before_install install before_script before_test script test_script run command commands bash sh")

// A collector finds the steps of a job, at any depth of it.
type collector struct {
	commands map[string]any // that have names, as those of CircleCI
	left     int            // parts that may still be looked at
}

func (c *collector) steps(node any, env map[string]any, dir string, depth int) []Step {
	var out []Step
	if c.left--; c.left < 0 {
		return nil
	}
	switch node := node.(type) {
	case []any:
		for _, n := range node {
			out = append(out, c.steps(n, env, dir, depth)...)
		}
	case string:
		if named := c.commands[node]; named != nil && depth < maxDepth {
			return c.steps(named, env, dir, depth+1)
		}
	case map[string]any:
		env = merged(env, variablesIn(node))
		for _, key := range []string{"working_directory", "workingDirectory"} {
			if text, ok := node[key].(string); ok && !strings.HasPrefix(text, "~") && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "$") {
				dir = text
			}
		}
		shell, _ := node["shell"].(string)
		for _, key := range commandKeys {
			if text := commandText(node[key]); text != "" {
				out = append(out, Step{Run: text, Dir: dir, Env: env, Shell: shellName(shell)})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(node)) {
			if _, is := node[key].(map[string]any); (is || !slices.Contains(commandKeys, key)) && !slices.Contains([]string{"env", "environment", "variables"}, key) {
				out = append(out, c.steps(node[key], env, dir, depth)...)
			}
			if named := c.commands[key]; named != nil && depth < maxDepth {
				out = append(out, c.steps(named, env, dir, depth+1)...)
			}
		}
	}
	return out
}

// shellName is the name of a shell without its folder and options; empty: that of the system.
func shellName(shell string) string {
	words := strings.Fields(shell)
	if len(words) == 0 {
		return ""
	}
	return path.Base(words[0])
}

// commandText is a command, or several of them in one shell.
func commandText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var out []string
		for _, line := range v {
			switch line := line.(type) {
			case string:
				out = append(out, line)
			case []any: // by an alias
				out = append(out, commandText(line))
			}
		}
		return strings.Join(out, "\n")
	}
	return ""
}

// gitlab are the jobs of a file of GitLab (https://docs.gitlab.com/ci/yaml/), with those that it
// includes from the repository. What its jobs say together is in one shell.
func gitlab(name string, text []byte, read func(string) []byte) []Job {
	files := maxIncluded
	root := included(text, read, &files, 0)
	if len(root) == 0 {
		return nil
	}
	left := maxParts
	defaults, _ := root["default"].(map[string]any)
	env := variablesIn(map[string]any{"variables": root["variables"]})
	var out []Job
	for _, id := range slices.Sorted(maps.Keys(root)) {
		job, ok := root[id].(map[string]any)
		if !ok || strings.HasPrefix(id, ".") || slices.Contains(strings.Fields("default variables include workflow image cache pages:deploy"), id) {
			continue
		}
		job = extended(root, job, &left, 0)
		before := job["before_script"]
		for _, other := range []any{defaults["before_script"], root["before_script"]} {
			if before == nil {
				before = other
			}
		}
		run := strings.TrimSpace(commandText(before) + "\n" + commandText(job["script"]))
		if commandText(job["script"]) == "" {
			continue
		}
		out = append(out, Job{File: name, ID: id, Env: merged(env, variablesIn(map[string]any{"variables": job["variables"]})), Steps: []Step{{Run: run}}})
	}
	return out
}

// maxIncluded bounds how many files are read for one of GitLab.
const maxIncluded = 32

// included is what a file has, above what others have that it includes. left is how many files may
// still be read.
func included(text []byte, read func(string) []byte, left *int, depth int) map[string]any {
	var own map[string]any
	if *left--; *left < 0 || len(text) > most || yaml.Unmarshal(text, &own) != nil || depth > maxDepth {
		return nil
	}
	list, ok := own["include"].([]any)
	if !ok {
		list = []any{own["include"]}
	}
	root := map[string]any{}
	for _, one := range list {
		file, _ := one.(string)
		if m, ok := one.(map[string]any); ok {
			file, _ = m["local"].(string)
		}
		if file != "" && !strings.Contains(file, "://") && read != nil && *left > 0 {
			maps.Copy(root, included(read(strings.TrimPrefix(path.Clean("/"+file), "/")), read, left, depth+1))
		}
	}
	maps.Copy(root, own)
	return root
}

// extended is a job of GitLab with what it has from those that it extends, the last of which are
// above the others. left is how many of them may still be looked at.
func extended(root, job map[string]any, left *int, depth int) map[string]any {
	parents, ok := job["extends"].([]any)
	if !ok {
		parents = []any{job["extends"]}
	}
	out := map[string]any{}
	for _, one := range parents {
		name, _ := one.(string)
		parent, ok := root[name].(map[string]any)
		if *left--; !ok || depth >= maxDepth || *left < 0 {
			continue
		}
		maps.Copy(out, extended(root, parent, left, depth+1))
	}
	vars := merged(variablesIn(map[string]any{"variables": out["variables"]}), variablesIn(map[string]any{"variables": job["variables"]}))
	maps.Copy(out, job)
	if len(vars) > 0 {
		out["variables"] = vars
	}
	return out
}
