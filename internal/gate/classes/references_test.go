package classes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/testing/spent"
)

// TestNamesSetup holds which files settings name as loaded before tests.
func TestNamesSetup(t *testing.T) {
	t.Parallel()
	const mocha = `{"scripts": {"test": "mocha --require test/support/env --reporter spec --check-leaks test/", "ci": "nyc npm test"}}`
	for name, want := range map[string]bool{"test/support/env.js": true, "test/test.js": false, "test/index.js": false} {
		if got := NamesSetup(mocha, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !NamesSetup(`{"jest": {"setupFiles": ["./test/index.js"]}}`, "test/index.js") {
		t.Error("a file called index is not found by its folder")
	}
}

// TestRunnerSettings: settings of Vite are those of a runner where they speak of tests; else what they load
// belongs to the build.
func TestRunnerSettings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"export default { plugins: [banner()] }\n": 0, "export default { test: { globals: true } }\n": 1} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "vite.config.js"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := RunnerSettings(root, "."); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestNamesByPattern holds which patterns with stars a file of data fits, and that they are found in time
// in a long source.
func TestNamesByPattern(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		src, file string
		want      bool
	}{
		{`glob("../data/*.svg")`, "data/a.svg", true},
		{`glob('tests/data/**/*.svg')`, "tests/data/x/y/a.svg", true},
		{`glob("*.svg")`, "tests/a.svg", true},
		{`glob("*.svg")`, "img/a.svg", false},
		{`glob("*.golden")`, "img/a.golden", true},
		{`glob("data/*.svgz")`, "data/a.svg", false},
		{`x = a * b; y = "data/a.svg"; z = "data/b.svg"`, "data/c.svg", false},
		{`x = a * "data/b*.svg".svg"`, "data/c.svg", false},
		{`x = a * "b.svg", "data/c*.svg"`, "data/c.svg", true},
		{`glob("data/*.tar.gz")`, "data/a.tar.gz", true},
		{`glob(data/*.svg")`, "data/a.svg", false},
		{`glob("data/* and.svg")`, "data/a.svg", false},
	} {
		if got := namesByPattern(tt.src, "tests", tt.file); got != tt.want {
			t.Errorf("%s in %s: %v", tt.file, tt.src, got)
		}
	}
	src := strings.Repeat("x = a * b\ny = glob('assets/*.svg')\n", 300_000)
	took := spent.On(t, func() {
		for i := range 50 {
			namesByPattern(src, "tests", fmt.Sprintf("img/%d.png", i))
		}
	})
	if took > 5*time.Second { // half a second each by a regular expression over all of it
		t.Errorf("fifty files took %s", took)
	}
}
