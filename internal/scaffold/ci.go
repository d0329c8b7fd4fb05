package scaffold

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/regular"
)

// A setupStep is a step of the project's own workflows that installs a toolchain.
type setupStep struct {
	uses  string            // such as "actions/setup-go@v6"
	with  map[string]string // values without expressions
	from  string            // file of the workflow
	tests bool              // its job runs tests, by its name or a command
}

// runsTests recognises jobs and commands that run tests.
var runsTests = pattern.New(`(?i)(?:^|[\s/:;&|(._-])(?:tests?|testing|pytest|unittest|jest|vitest|mocha|ava|rspec|rake|phpunit|pest|tox|nox|ctest|check|verify)(?:$|[\s/:;&|)._-])|\b(?:npm|pnpm|yarn) t\b`)

// name is the action without its version.
func (s setupStep) name() string {
	name, _, _ := strings.Cut(s.uses, "@")
	return name
}

// expression is one value in an expression of a workflow: ${{ matrix.go }}.
var expression = pattern.New(`^\$\{\{\s*(matrix|env)\.([\w-]+)\s*\}\}$`)

// ciSteps are the steps that install toolchains in the workflows of the project, but for
// ycbot's own. Of the values of a matrix the newest version is taken.
func ciSteps(top string) []setupStep {
	files, _ := filepath.Glob(filepath.Join(top, ".github", "workflows", "*.y*ml"))
	slices.Sort(files)
	var out []setupStep
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "ycbot") {
			continue
		}
		data, err := regular.ReadIn(top, filepath.Join(".github", "workflows", filepath.Base(file)))
		if err != nil || len(data) > 1<<20 {
			continue
		}
		var w struct {
			Env  map[string]any
			Jobs map[string]struct {
				Name     string
				If       any
				Env      map[string]any
				Strategy struct{ Matrix map[string]any }
				Steps    []struct {
					Uses, Run string
					With      map[string]any
				}
			}
		}
		if yaml.Unmarshal(data, &w) != nil {
			continue // it is the project's, and GitHub says what is wrong with it
		}
		var names []string
		for name := range w.Jobs {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			job := w.Jobs[name]
			if never.MatchString(scalar(job.If)) {
				continue
			}
			tests := runsTests.MatchString(name) || runsTests.MatchString(job.Name)
			for _, step := range job.Steps {
				tests = tests || runsTests.MatchString(step.Run)
			}
			for _, step := range job.Steps {
				if !strings.Contains(step.Uses, "/setup-") && !strings.Contains(step.Uses, "-setup@") && !strings.Contains(step.Uses, "/rust-toolchain@") {
					continue
				}
				s := setupStep{uses: step.Uses, with: map[string]string{}, from: ".github/workflows/" + filepath.Base(file), tests: tests}
				for key, value := range step.With {
					text := scalar(value)
					if m := expression.FindStringSubmatch(text); m != nil && m[1] == "matrix" {
						text = newest(job.Strategy.Matrix, m[2])
					} else if m != nil {
						text = cmp.Or(scalar(job.Env[m[2]]), scalar(w.Env[m[2]]))
					}
					if text != "" && !strings.Contains(text, "${{") {
						s.with[key] = text
					}
				}
				out = append(out, s)
			}
		}
	}
	return out
}

// scalar is a value of YAML as text, "" for what is none.
func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// newest is the newest version that a matrix has under a name, in its list or in what it
// includes. Previews count less than any release.
func newest(matrix map[string]any, name string) string {
	var all []string
	add := func(v any) {
		if s := scalar(v); s != "" && !strings.Contains(s, "${{") {
			all = append(all, s)
		}
	}
	if list, ok := matrix[name].([]any); ok {
		for _, v := range list {
			add(v)
		}
	}
	if include, ok := matrix["include"].([]any); ok {
		for _, row := range include {
			if m, ok := row.(map[string]any); ok && !mayFail(m) {
				add(m[name])
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, compareVersions)
}

// never is the condition of a job that is switched off.
var never = pattern.New(`^(?:false|\$\{\{\s*false\s*\}\})$`)

// mayFail reports whether a row of a matrix is one that the project does not rely on.
func mayFail(row map[string]any) bool {
	for _, name := range []string{"experimental", "continue-on-error", "continue_on_error", "allow-failure", "allow_failure"} {
		if scalar(row[name]) == "true" {
			return true
		}
	}
	return false
}

// compareVersions orders versions as workflows write them.
func compareVersions(a, b string) int {
	return cmp.Or(cmp.Compare(rankOfVersion(a), rankOfVersion(b)), slices.Compare(numbers(a), numbers(b)))
}

// aRelease is the version of a release, or a range that has an end.
var aRelease = pattern.New(`^(?:v|go|ruby-|[~^]\s?)?\d+(?:\.(?:\d+|x|\*))*$`)

// rankOfVersion parts releases from all that previews, other interpreters and branches are
// called, and those from words that mean the newest.
func rankOfVersion(v string) int {
	switch {
	case v == "stable" || v == "latest" || v == "lts/*":
		return 2
	case aRelease.MatchString(v):
		return 1
	}
	return 0
}

var digits = pattern.New(`\d+`)

// numbers are the numbers of a version.
func numbers(v string) []int {
	var out []int
	for _, d := range digits.FindAllString(v, -1) {
		n, _ := strconv.Atoi(d)
		out = append(out, n)
	}
	return out
}
