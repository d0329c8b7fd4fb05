// Package workflows reads what workflows of GitHub Actions say of the jobs that test a project
// (https://docs.github.com/actions/reference/workflow-syntax-for-github-actions).
package workflows

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A Job is one of a workflow.
type Job struct {
	File     string         // its workflow, in the repository
	ID       string         // by which the workflow calls it
	Env      map[string]any // of the workflow and of the job
	Services map[string]Service
	Steps    []Step
}

// A Service is a container beside a job.
type Service struct {
	Image string         `yaml:"image"`
	Env   map[string]any `yaml:"env"`
	Ports []any          `yaml:"ports"`
}

// A Step is one of a job.
type Step struct {
	Run   string         `yaml:"run"`
	Dir   string         `yaml:"working-directory"`
	Shell string         `yaml:"shell"`
	Env   map[string]any `yaml:"env"`
}

type defaults struct {
	Run struct {
		Dir   string `yaml:"working-directory"`
		Shell string `yaml:"shell"`
	} `yaml:"run"`
}

type file struct {
	Env      map[string]any `yaml:"env"`
	Defaults defaults       `yaml:"defaults"`
	Jobs     map[string]struct {
		Env      map[string]any     `yaml:"env"`
		Defaults defaults           `yaml:"defaults"`
		Services map[string]Service `yaml:"services"`
		Steps    []Step             `yaml:"steps"`
	} `yaml:"jobs"`
}

// most bounds a workflow file that is read, in bytes.
const most = 1 << 20

// Is says whether a file of a repository is a workflow, by its path.
func Is(name string) bool {
	ok, err := path.Match(".github/workflows/*.y*ml", name)
	return ok && err == nil
}

// Jobs are those of a workflow, in the order of their names. A step has the defaults of its
// job. What cannot be read as a workflow has none.
func Jobs(name string, text []byte) []Job {
	var f file
	if len(text) > most || yaml.Unmarshal(text, &f) != nil {
		return nil
	}
	var out []Job
	for _, id := range slices.Sorted(maps.Keys(f.Jobs)) {
		j := f.Jobs[id]
		job := Job{File: name, ID: id, Env: merged(f.Env, j.Env), Services: j.Services, Steps: j.Steps}
		for i, s := range job.Steps {
			for _, d := range []defaults{j.Defaults, f.Defaults} {
				if s.Dir == "" {
					s.Dir = d.Run.Dir
				}
				if s.Shell == "" {
					s.Shell = d.Run.Shell
				}
			}
			job.Steps[i] = s
		}
		out = append(out, job)
	}
	return out
}

// merged is a set of variables with another one above it.
func merged(below, above map[string]any) map[string]any {
	out := maps.Clone(below)
	if out == nil {
		return above
	}
	maps.Copy(out, above)
	return out
}

// Plain is the value of a variable, if it is one without an expression, of one line.
func Plain(v any) (string, bool) {
	if v == nil {
		return "", false
	}
	s := fmt.Sprint(v)
	return s, !strings.Contains(s, "${{") && !strings.ContainsAny(s, "\x00\n")
}
