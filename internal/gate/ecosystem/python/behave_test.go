package python

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/trees"
	"github.com/ycbot/ycbot/internal/testing/variants"
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

// A change is what stands in a.py and in test_a.py on both sides.
type change struct {
	Base, Head, Was, Is string
}

// inDriver gives changes to the driver, in place of calls, and says what it prints of each.
func inDriver(t *testing.T, changes []change, last string) []string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is needed")
	}
	var all []map[string][]behave.Source
	for _, c := range changes {
		all = append(all, map[string][]behave.Source{"modules": {{Path: "a.py", Base: c.Base, Head: c.Head}}, "tests": {{Path: "test_a.py", Base: c.Was, Head: c.Is}}})
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "-")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(pyBehave+"\nfor data in json.loads("+strconv.Quote(string(text))+"):\n    "+last+"\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestExpectedExceptions: an exception is expected where a test that the change alters, or a
// helper or table of its file that does, has to do with one.
func TestExpectedExceptions(t *testing.T) {
	t.Parallel()
	const base, head = "def f(s):\n    return s[0] if s else ''\n", "def f(s):\n    return s[0]\n"
	const none = "from a import f\ndef test_f():\n    assert f('ab') == 'a'\n"
	cases := map[string]struct{ was, is, want string }{
		"nothing":        {none, none + "def test_g():\n    f('b')\n", "False"},
		"a call of it":   {none, none + "def test_g():\n    pytest.raises(IndexError, f, '')\n", "True"},
		"unittest":       {none, none + "class T(TestCase):\n    def test_g(self):\n        self.assertRaisesRegex(IndexError, 'x', lambda: f(''))\n", "True"},
		"a try":          {none, none + "def test_g():\n    try:\n        f('')\n    except IndexError:\n        return\n    raise AssertionError\n", "True"},
		"a helper":       {none, none + "def refuses(f, *args):\n    try:\n        f(*args)\n    except IndexError:\n        return\n    assert False\ndef test_g():\n    refuses(f, '')\n", "True"},
		"one of a class": {none, none + "class T(TestCase):\n    def refuses(self, *args):\n        with self.assertRaises(IndexError):\n            f(*args)\n    def test_g(self):\n        self.refuses('')\n        f('b')\n", "True"},
		"elsewhere":      {none, none + "from help import check_raises\ndef test_g():\n    check_raises(f, '')\n", "True"},
		"suppress":       {none, none + "def test_g():\n    with contextlib.suppress(IndexError):\n        f('')\n", "True"},
		"a table":        {none + "BAD = [1]\n@pytest.mark.parametrize('s', BAD)\ndef test_g(s):\n    with pytest.raises(IndexError):\n        f(s)\n", none + "BAD = [1, '']\n@pytest.mark.parametrize('s', BAD)\ndef test_g(s):\n    with pytest.raises(IndexError):\n        f(s)\n", "True"},
		"as before":      {none + "def test_g():\n    pytest.raises(IndexError, f, None)\n", none + "def test_h():\n    f('b')\ndef test_g():\n    pytest.raises(IndexError, f, None)\n", "False"},
		"of another":     {none, none + "def test_g():\n    pytest.raises(IndexError, g, '')\n", "False"},
	}
	names := slices.Sorted(maps.Keys(cases))
	var changes []change
	for _, what := range names {
		changes = append(changes, change{base, head, cases[what].was, cases[what].is})
	}
	for i, got := range inDriver(t, changes, "print(changed(data)[0][0].awaited)") {
		if want := cases[names[i]].want; got != want {
			t.Errorf("%s: %s, want %s", names[i], got, want)
		}
	}
	test := none + "def test_g():\n    assert f('') == ''\n"
	changes = nil
	for _, body := range []string{
		"    try:\n        f('')\n    except IndexError:\n        pass\n", "    pytest.raises(IndexError, lambda: f(''))\n", "    f('')\n",
	} {
		changes = append(changes, change{base, head, test, test + "def test_h():\n" + body})
	}
	for i, got := range inDriver(t, changes, "print([i.text(f) for f in changed(data)[0] for i in given(f) if i.base])") {
		if strings.Contains(got, `"f('')"`) != (i == 2) {
			t.Errorf("%s: inputs of the base: %s", changes[i].Is, got)
		}
	}
}

// TestAsserts: what is printed to be pasted fails for a value that only equals the one that it
// holds. The order of a dict alone is no more than other words.
func TestAsserts(t *testing.T) {
	t.Parallel()
	const values = "import enum\nclass C(str, enum.Enum):\n    R = 'r'\n"
	pairs := []string{"2, 2.0", "1, True", "True, 1", "2.0, 2", "'r', C.R", "[1, 'a'], [1.0, 'a']", "{'a': 1}, {'a': True}", "(1,), (True,)", "0.0, -0.0", "{1, 2}, {1, 3}", "['a'], ['b']"}
	const try = `
def passes(lines, v):
    ns = {"f": lambda: v}
    try:
        exec("\n".join(["def test():"] + lines), ns)
        ns["test"]()
        return True
    except AssertionError:
        return False
`
	var changes []change
	for _, pair := range pairs {
		changes = append(changes, change{Base: pair})
	}
	got := inDriver(t, changes, "exec("+strconv.Quote(values+try)+", globals()); a, b = eval(data['modules'][0]['base']); print(passes(asserts('f()', a), a), passes(asserts('f()', a), b))")
	for i, pair := range pairs {
		if i >= len(got) || got[i] != "True False" {
			t.Errorf("%s: it passes for each: %v", pair, got[i:])
		}
	}
	got = inDriver(t, []change{{}}, "x, y = {'a': 1, 'b': [{'c': 1, 'd': 2}]}, {'b': [{'d': 2, 'c': 1}], 'a': 1}; print(form(x) == form(y), softly(lambda: form(x)) == softly(lambda: form(y)))")
	if got[0] != "False True" {
		t.Errorf("the order of a dict: %v", got)
	}
}

// TestClockOfSeconds: what a clock of whole seconds says differs from itself where a call is made
// again, however slowly the first one begins.
func TestClockOfSeconds(t *testing.T) {
	t.Parallel()
	const text = "import os, time\nif 'SLOW' in os.environ and os.environ['PYTHONHASHSEED'] == '1':\n    time.sleep(1.3)\ndef now():\n    x = VAR\n    return int(time.time())\n"
	calls := trees.PlanCalls(t, "python3", pythonBehaviour(), "a.py", text, [2]string{"1", "2"})
	at := calls.Compare(behave.All(calls.Made(t, 0)), behave.Answers{}).Functions[0].At
	if said := behave.Some(calls.Made(t, 0, "SLOW=1", "CALLS="+behave.Which(time.Second, [][2]int{{at, 0}}))); len(said) != 1 || said[0].Stable {
		t.Errorf("%+v", said)
	}
}

// TestPlacesAreNoDifference: where the tree of a side lies, and where a call was made, differs
// between the sides and is not what a function does. It sees no arguments of what calls it.
func TestPlacesAreNoDifference(t *testing.T) {
	variants.Only(t) // processes by the dozen; that of Go shows the rule
	t.Parallel()
	const text = "import os, pathlib, sys, tempfile\ndef args():\n    VAR = 1\n    return sys.argv[1:]\ndef where():\n    VAR = 1\n    return os.path.abspath(__file__)\ndef real():\n    VAR = 1\n    return pathlib.Path(__file__).resolve().parent\ndef here():\n    VAR = 1\n    return os.getcwd()\ndef home():\n    VAR = 1\n    raise ValueError(os.path.expanduser('~/a'))\n"
	calls := trees.PlanCalls(t, "python3", pythonBehaviour(), "a.py", text, [2]string{"x", "other"})
	all := calls.Compare(behave.All(calls.Made(t, 0, "HOME=/home/x")), behave.All(calls.Made(t, 1, "HOME=/home/other"))).Functions
	for _, f := range all {
		if f.Unlike != "" || f.Differing+f.Worded > 0 || f.Inputs == 0 {
			t.Errorf("%s: %+v", f.Name, f)
		}
	}
	if len(all) != 5 {
		t.Errorf("%d functions", len(all))
	}
}

// TestCallsAreBounded: where all calls take as long as they may, functions that were not begun are
// left out, and one that blocks takes no more of the time.
func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	const text = "import os, time\ndef block(n):\n    time.sleep(3600 + VAR)\ndef last(n):\n    VAR\n    return os.environ.get('" + behave.TimeVar + "')\n"
	calls := trees.PlanCalls(t, "python3", pythonBehaviour(), "a.py", text, [2]string{"1", "2"})
	out := calls.Made(t, 0, behave.TimeVar+"=1s")
	all := behave.All(out)
	found := calls.Compare(all, all).Functions
	if len(found) != 2 || found[1].Name != "last" || found[1].Unlike != behave.NotBegun || strings.Count(all["a.py block"].Calls, "h") > 4 {
		t.Errorf("%+v\n%s", found, out)
	}
}
