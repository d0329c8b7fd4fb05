package python

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// pytestResults are the options of pytest for results, as they are written in commands.
const pytestResults = " -o junit_family=xunit1 --continue-on-collection-errors --junitxml=" + ecosystem.ResultsVar

// pytestCommand is a call of pytest. An empty python stands for the program of
// that name.
func pytestCommand(c ecosystem.Command, env, python string, args, files []string) ecosystem.Command {
	program := "pytest"
	if python != "" {
		program = python + " -m pytest"
	}
	build := func(c ecosystem.Command, files []string, more ...string) ecosystem.Command {
		words := slices.DeleteFunc([]string{env, program, strings.Join(args, " "), strings.TrimSpace(pytestResults), strings.Join(more, " "), strings.Join(files, " ")},
			func(w string) bool { return w == "" })
		if c.Results != nil {
			r := *c.Results
			r.Collect = results.Pytest(foldersOf(c.Unit, files)...)
			c.Results = &r
		}
		// What settings say of stopping at a failure is taken back: what comes behind it would not be known.
		return c.Reporting(strings.Join(words, " "), `export PYTHONDONTWRITEBYTECODE=1 PYTEST_ADDOPTS="$PYTEST_ADDOPTS --maxfail=0"`)
	}
	c = build(c, files)
	c.Results = &ecosystem.Results{
		Name: "JUnit XML of pytest", Collect: results.Pytest(foldersOf(c.Unit, files)...),
		// Internal errors and errors of its usage (https://docs.pytest.org, "Exit codes").
		Refused: func(exit int) bool { return exit == 3 || exit == 4 },
		Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
			if len(p.Packages) == 0 {
				return c, false
			}
			if p.Only != "" {
				return build(c, ecosystem.FromUnit(c.Unit, []string{p.Packages[0] + "::" + p.Only})), true
			}
			return build(c, ecosystem.FromUnit(c.Unit, p.Packages)), true
		},
		Probe: func(c ecosystem.Command, p ecosystem.Probing) (ecosystem.Command, string) {
			some := files
			if len(p.Packages) > 0 {
				some = ecosystem.FromUnit(c.Unit, p.Packages)
			}
			return build(c, some, pytestOrder(cmp.Or(python, "python3"), p.Seed)), "repeated, in a random order where a plugin of pytest has one"
		},
	}
	c.Results.PlantedBy(ecosystem.Copied(func(_, _, name string) string { return "\n\ndef test_" + name + "():\n    assert 1 == 2\n" }))
	return c
}

// foldersOf are the folders below that of a command which files that it names are in, in the repository.
func foldersOf(unit string, files []string) []string {
	var out []string
	for _, f := range files {
		f, _, _ = strings.Cut(strings.Trim(f, `"'`), "::")
		if path.Ext(f) != "" {
			f = path.Dir(f)
		}
		for dir := path.Clean(f); dir != "." && dir != "/" && !slices.Contains(out, path.Join(unit, dir)); dir = path.Dir(dir) {
			out = append(out, path.Join(unit, dir))
		}
	}
	return out
}

// pytestOrder are the arguments for a random order of tests, which the shell
// finds out: pytest has none of its own, but for two plugins.
func pytestOrder(python string, seed uint32) string {
	return fmt.Sprintf(`$(%[1]s -c 'import pytest_randomly' 2>/dev/null && echo --randomly-seed=%[2]d || { %[1]s -c 'import random_order' 2>/dev/null && echo --random-order --random-order-seed=%[2]d; })`, python, seed)
}

//go:embed unittest.py
var pyUnittest string

// unittestCommand is a call of unittest with a result class of ours, which
// writes a line for each test.
func unittestCommand(c ecosystem.Command, env, python string, args []string) ecosystem.Command {
	build := func(c ecosystem.Command, args []string, only ...string) ecosystem.Command {
		if len(only) > 0 {
			only = append([]string{"--"}, only...)
		}
		text := strings.TrimSpace(fmt.Sprintf(`RESULTS="$RESULTS" %s %s -c "$UNITTEST" %s`, env, python, strings.Join(append(slices.Clone(args), only...), " ")))
		c = c.Reporting(text, "export PYTHONDONTWRITEBYTECODE=1", "UNITTEST="+ecosystem.Quoted(pyUnittest))
		c.Text = strings.TrimSpace(env + " " + python + " -m unittest " + strings.Join(args, " "))
		return c
	}
	c = build(c, args)
	c.Results = &ecosystem.Results{
		Name: "results of unittest", Collect: results.Documented(results.ParseUnittest),
		Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
			if len(p.Packages) == 0 || slices.ContainsFunc(p.Packages, isDocument) {
				return c, false // which module runs the examples of a document is not known
			}
			files, named := ecosystem.FromUnit(c.Unit, p.Packages), []string(nil)
			if p.Only != "" {
				named = []string{"-k", ecosystem.Quoted(p.Only)}
			}
			if discoversBelow(args) {
				return build(c, append(slices.Clone(args), named...), files...), true // modules find each other from there
			}
			return build(c, append(files, named...)), true
		},
	}
	c.Results.PlantedBy(ecosystem.Copied(plantedUnittest))
	return c
}

// plantedUnittest is a test of unittest that must fail.
func plantedUnittest(_, _, name string) string {
	module := name + "_unittest"
	return "\n\nimport unittest as " + module + "\n\n\nclass Test" + ecosystem.Capital(name) + "(" + module + ".TestCase):\n    def test_" + name + "(self):\n        self.assertEqual(1, 2)\n"
}

// discoversBelow says whether discovery begins in a folder that is the top of what it loads.
func discoversBelow(args []string) bool {
	if len(args) < 2 || args[0] != "discover" {
		return false
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return slices.Contains(names, name)
		})
	}
	return !has("-t", "--top-level-directory") && (has("-s", "--start-directory") || !strings.HasPrefix(args[1], "-"))
}

// isDocument says whether a file can be one with examples, and is no source.
func isDocument(name string) bool {
	return ecosystem.IsDoc(name) || slices.Contains([]string{".txt", ".doctest", ""}, path.Ext(name))
}

// pyManagers run a command in the environment of a project: "uv run pytest".
var pyManagers = strings.Fields("uv poetry pdm hatch pipenv rye")

// adoptPython asks a plain call of pytest or unittest for machine-readable output, also
// behind variables and a manager of environments.
func adoptPython(c ecosystem.Command, words []string) (ecosystem.Command, bool) {
	var before []string
	for len(words) > 0 && ecosystem.IsAssignment(words[0]) {
		before, words = append(before, words[0]), words[1:]
	}
	if len(words) > 2 && slices.Contains(pyManagers, words[0]) && words[1] == "run" {
		before, words = append(before, words[0], words[1]), words[2:]
	}
	env, python := strings.Join(before, " "), ""
	if len(words) > 0 && strings.HasPrefix(path.Base(words[0]), "python") {
		n := 1
		for n < len(words) && pyFlags.MatchString(words[n]) {
			n++
		}
		if n+1 < len(words) && words[n] == "-m" {
			python, words = strings.Join(words[:n], " "), words[n+1:]
		}
	}
	switch {
	case len(words) == 0:
		return c, false
	case words[0] == "pytest" || words[0] == "py.test":
		var args, files []string
		for i, w := range words[1:] {
			name := strings.Trim(w, `"'`)
			switch {
			case strings.HasPrefix(name, "--junit"):
				return c, false
			case slices.Contains([]string{"--exitfirst", "--maxfail", "--sw", "--stepwise"}, name), strings.HasPrefix(name, "--maxfail="), words[i] == "--maxfail":
				// it would stop at a failure
			case pytestFlags.MatchString(name):
				if name = strings.ReplaceAll(name, "x", ""); name != "-" {
					args = append(args, name)
				}
			case !strings.HasPrefix(name, "-") && !pytestValued(words[i]) && (strings.Contains(name, "/") || strings.HasSuffix(name, ".py") || isPythonTest(name+"/x.py")):
				files = append(files, w)
			default:
				args = append(args, w)
			}
		}
		return pytestCommand(c, env, python, args, files), true
	case words[0] == "unittest" && python != "":
		args := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return w == "-f" || w == "--failfast" })
		return unittestCommand(c, env, python, args), true
	}
	return c, false
}

// pyFlags are options of Python itself that change nothing of what runs: see
// https://docs.python.org/3/using/cmdline.html.
var pyFlags = pattern.New(`^-(?:[Bbdsu]+|[WX]\S+)$`)

// pytestFlags are short options of pytest without values, with -x among them, by which it
// would stop at a failure.
var pytestFlags = pattern.New(`^-[vqsl]*x[vqslx]*$`)

// pytestValued says whether a word of a call of pytest is an option that takes the next.
func pytestValued(word string) bool {
	return slices.Contains(strings.Fields("-c --config-file -k -m -p -n -o --override-ini -r --rootdir --confcutdir --basetemp --ignore --ignore-glob --deselect --cov-config --cov-report --durations --maxfail --tb --dist --timeout --log-file --import-mode -W"), word)
}
