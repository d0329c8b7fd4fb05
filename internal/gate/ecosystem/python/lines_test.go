package python

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestCountingPython holds how calls of pytest and unittest are made to count.
func TestCountingPython(t *testing.T) {
	t.Parallel()
	q := ecosystem.Counting{Unit: ".", Files: []ecosystem.ChangedFile{{Path: "calc.py"}}}
	const path, plugin = `export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$COUNTS_DIR"`, " -p " + pyPlugin + " -o "
	for text, want := range map[string][]string{ // none: it cannot count
		"pytest":                             {path, "\npytest" + plugin},
		"PYTHONPATH=. pytest -v tests":       {"\nPYTHONPATH=.:\"$COUNTS_DIR\" pytest -v" + plugin},
		"A=1 PYTHONPATH=src:. B= pytest":     {"\nA=1 PYTHONPATH=src:.:\"$COUNTS_DIR\" B= pytest" + plugin},
		"PYTHONPATH= pytest":                 {"\nPYTHONPATH=\"$COUNTS_DIR\" pytest" + plugin},
		"python3 -m pytest":                  {path, "\npython3 -m pytest" + plugin},
		"py.test":                            {path, "\npytest" + plugin},
		"uv run pytest":                      {path, "\nuv run pytest" + plugin},
		"poetry run python -m pytest":        {path, "\npoetry run python -m pytest" + plugin},
		"PYTHONPATH=. poetry run pytest":     {"\nPYTHONPATH=.:\"$COUNTS_DIR\" poetry run pytest" + plugin},
		"python -m unittest":                 {`RESULTS="$RESULTS"  python -c "$COUNT_LINES$UNITTEST"`},
		"A=1 uv run python -m unittest -v x": {`RESULTS="$RESULTS" A=1 uv run python -c "$COUNT_LINES$UNITTEST" -v x`},
		"tox":                                nil,
		"nox -s tests":                       nil,
		"coverage run -m pytest":             nil,
		"make test":                          nil,
	} {
		c, why := pythonLines().Command(ecosystem.CommandOf(results.StageTest, text, New()), q)
		if (why == "") != (len(want) > 0) {
			t.Errorf("%s: %q", text, why)
		}
		for _, w := range want {
			if !strings.Contains(ecosystem.ShellWords(c), w) {
				t.Errorf("%s: no %q in\n%s", text, w, ecosystem.ShellWords(c))
			}
		}
		if len(want) == 0 && !strings.Contains(why, text) {
			t.Errorf("%s: %q does not name it", text, why)
		}
	}
}
