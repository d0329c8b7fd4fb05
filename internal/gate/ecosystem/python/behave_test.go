package python

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestPythonOf: functions are called in the environment that the tests have.
func TestPythonOf(t *testing.T) {
	t.Parallel()
	shebang := `"$(p=$(command -p sed -n '1s/^#! *\(.*python[0-9.]*\)$/\1/p' "$(command -v pytest)"); echo "${p:-python3}")"`
	for text, want := range map[string]string{
		`PYTHONPATH=src:. .venv/bin/python -m pytest -o x`: "PYTHONPATH=src:. .venv/bin/python",
		`PYTHONPATH=. python3 -m unittest discover`:        "PYTHONPATH=. python3",
		`python3.12 -m pytest tests`:                       "python3.12",
		`python3 -B -Wdefault -m unittest -q`:              "python3 -B -Wdefault",
		`PYTHONPATH=. pytest -o junit_family=xunit1`:       "PYTHONPATH=. " + shebang,
		`pytest tests/test_python.py`:                      shebang,
		`A=1 uv run pytest -q`:                             "A=1 uv run python",
		`uv run python -m pytest`:                          "uv run python",
		`tox`:                                              "python3",
	} {
		if got := pythonOf(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// Options of Python that change nothing of what runs do not hide a test runner, and what
// keeps it from finding the file that reports results does.
func TestPythonOptions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"python3 -B -m unittest -q": true, "A=1 python3 -Wdefault -u -m pytest tests": true, "python3 -m unittest": true,
		"python3 -I -m unittest": false, "python3 -E -m unittest": false, "python3 -B tests.py": false,
	} {
		if got := ecosystem.CommandOf(results.StageTest, text, New()); (got.Results != nil) != want || want && got.Eco != "Python" {
			t.Errorf("%s: results %v of %q", text, got.Results != nil, got.Eco)
		}
	}
}
