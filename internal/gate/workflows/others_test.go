package workflows

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestOthers holds what is read of the files of CI systems: commands, and the variables that they have.
func TestOthers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, text, want string }{
		"gitlab": {".gitlab-ci.yml", `
variables: {A: 1}
default: {before_script: [make deps]}
include: [{local: /ci/more.yml}, {template: x.yml}]
.base: {variables: {B: "2"}, script: [never]}
test: {extends: .base, script: [go test, {a: b}], variables: {C: {value: 3, description: x}}}
`, "make deps; go test [A=1 B=2 C=3] | make deps; pytest [A=1]"},
		"circle": {".circleci/config.yml", `
version: 2.1
commands: {check: {steps: [{run: make check}]}}
jobs:
  test:
    environment: {A: 1}
    steps: [checkout, check, {run: go test}, {run: {command: go vet, environment: {B: 2}, working_directory: web}}, {when: {condition: true, steps: [{run: make more}]}}]
`, "make check [A=1] | go test [A=1] | go vet [A=1 B=2] in web | make more [A=1]"},
		"travis":                      {".travis.yml", "language: go\nenv: {global: [A=1], jobs: [B=2, B=3 C=4]}\nscript: [make, go test]\n", "make; go test [A=1 B=2] | make; go test [A=1 B=3 C=4]"},
		"travis, a list":              {".travis.yml", "env:\n- B=2\nscript: go test\n", "go test [B=2]"},
		"azure":                       {"azure-pipelines.yml", "variables:\n- {name: A, value: 1}\nsteps:\n- script: go test\n  env: {B: 2}\n  workingDirectory: web\n", "go test [A=1 B=2] in web"},
		"bitbucket":                   {"bitbucket-pipelines.yml", "pipelines: {default: [{step: {script: [go test]}}]}\n", "go test []"},
		"drone":                       {".drone.yml", "steps: [{commands: [go test], environment: {A: 1}}]\n---\nsteps: [{commands: [make]}]\n", "go test [A=1] | make []"},
		"cirrus":                      {".cirrus.yml", "env: {A: 1}\ntest_task:\n  test_script: go test\n", "go test [A=1]"},
		"woodpecker":                  {".woodpecker.yml", "steps:\n- {commands: [go test], environment: {A: 1}}\n", "go test [A=1]"},
		"woodpecker, one of a folder": {".woodpecker/check.yaml", "steps: {test: {commands: [go test], environment: [A=1]}}\n", "go test [A=1]"},
		"buildkite":                   {".buildkite/pipeline.yml", "env: {A: 1}\nsteps: [{command: go test, env: {B: 2}}]\n", "go test [A=1 B=2]"},
		"appveyor":                    {"appveyor.yml", "environment: {A: 1}\ntest_script: [go test]\n", "go test [A=1]"},
		"semaphore":                   {".semaphore/semaphore.yml", "version: v1.0\nblocks: [{task: {jobs: [{commands: [checkout, go test]}]}}]\n", "checkout; go test []"},
		"broken":                      {".drone.yml", "steps: [", ""},
		"none":                        {".github/x.yml", "jobs: 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out []string
			for _, j := range Jobs(tt.file, []byte(tt.text), func(name string) []byte {
				if name == "ci/more.yml" {
					return []byte("unit: {script: pytest}\n")
				}
				return nil
			}) {
				for _, s := range j.Steps {
					var vars []string
					for k, v := range merged(j.Env, s.Env) {
						vars = append(vars, fmt.Sprint(k, "=", v))
					}
					slices.Sort(vars)
					text := strings.ReplaceAll(s.Run, "\n", "; ") + " " + fmt.Sprint(vars)
					if s.Dir != "" {
						text += " in " + s.Dir
					}
					out = append(out, text)
				}
			}
			if got := strings.Join(out, " | "); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestVaried holds what a matrix makes of a job.
func TestVaried(t *testing.T) {
	t.Parallel()
	const text = `
jobs:
  test:
    strategy: {matrix: {mode: [a, b], os: [linux], include: [{mode: c, more: x}]}}
    steps: [{run: "go test ${{ matrix.more }}", env: {MODE: "${{ matrix.mode }}"}}]
`
	var out []string
	for _, j := range Jobs(".github/workflows/ci.yml", []byte(text), nil) {
		for _, v := range Varied(j) {
			out = append(out, fmt.Sprint(v.Steps[0].Env["MODE"], " ", v.Steps[0].Run))
		}
	}
	want := "a go test ${{ matrix.more }}; b go test ${{ matrix.more }}; c go test x"
	if got := strings.Join(out, "; "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}
