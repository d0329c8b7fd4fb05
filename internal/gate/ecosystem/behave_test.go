package ecosystem

import "testing"

// TestPythonOf: functions are called in the environment that the tests have.
func TestPythonOf(t *testing.T) {
	t.Parallel()
	shebang := `"$(p=$(command -p sed -n '1s/^#! *\(.*python[0-9.]*\)$/\1/p' "$(command -v pytest)"); echo "${p:-python3}")"`
	for text, want := range map[string]string{
		`PYTHONPATH=src:. .venv/bin/python -m pytest -o x`: "PYTHONPATH=src:. .venv/bin/python",
		`PYTHONPATH=. python3 -m unittest discover`:        "PYTHONPATH=. python3",
		`python3.12 -m pytest tests`:                       "python3.12",
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
