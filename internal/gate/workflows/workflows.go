// Package workflows reads what the files of CI systems say of the jobs that test a project: those of
// GitHub Actions (https://docs.github.com/actions/reference/workflow-syntax-for-github-actions), with
// the actions of the repository itself, and of others.
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
	Matrix   map[string]any // of the job's strategy
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
	Uses  string         `yaml:"uses"` // an action in place of a command
	With  map[string]any `yaml:"with"`
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
		Strategy struct {
			Matrix any `yaml:"matrix"`
		} `yaml:"strategy"`
	} `yaml:"jobs"`
}

// most bounds a workflow file that is read, in bytes.
const most = 1 << 20

// Is says whether a file of a repository is one of a CI system that is known, by its path.
func Is(name string) bool { return ofActions(name) || reader(name) != nil }

// ofActions says whether it is a workflow of GitHub Actions.
func ofActions(name string) bool {
	ok, err := path.Match(".github/workflows/*.y*ml", name)
	return ok && err == nil
}

// AlwaysSet are the variables that the CI system of a file sets for all commands.
func AlwaysSet(name string) [][2]string {
	if variable := setBy[system(name)]; variable != "" {
		return [][2]string{{variable, "true"}}
	}
	return nil
}

// Jobs are those of a file of a CI system, in the order of their names. A step has the defaults of
// its job; read gives what the repository has in another file, nil for nothing. What cannot be read
// as such a file has none.
func Jobs(name string, text []byte, read func(name string) []byte) []Job {
	if len(text) > most {
		return nil
	}
	if r := reader(name); r != nil {
		return r(name, text, read)
	}
	var f file
	if yaml.Unmarshal(text, &f) != nil {
		return nil
	}
	own := actions{read: read, known: map[string]action{}, left: maxParts}
	var out []Job
	for _, id := range slices.Sorted(maps.Keys(f.Jobs)) {
		j := f.Jobs[id]
		job := Job{File: name, ID: id, Env: merged(f.Env, j.Env), Services: j.Services}
		job.Matrix, _ = j.Strategy.Matrix.(map[string]any)
		for _, s := range j.Steps {
			for _, d := range []defaults{j.Defaults, f.Defaults} {
				if s.Dir == "" {
					s.Dir = d.Run.Dir
				}
				if s.Shell == "" {
					s.Shell = d.Run.Shell
				}
			}
			job.Steps = append(job.Steps, own.resolved(s, 0)...)
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
