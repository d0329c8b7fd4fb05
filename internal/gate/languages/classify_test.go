package languages

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// TestFileKinds holds which files cannot run, and which are tests.
func TestFileKinds(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"README.md": "doc", "docs/a.RST": "doc", "img/logo.svg": "doc", "LICENSE": "doc", "license-MIT": "doc", "CHANGES.txt": "doc",
		".gitignore": "doc", "a/.gitattributes": "doc", ".github/workflows/ci.yml": "doc", "CODEOWNERS": "doc",
		"a.go": "", "Makefile": "", "go.mod": "", "requirements.txt": "", "data.txt": "", "a/githubx/x.yml": "", "Dockerfile": "", "page.html": "", "README": "doc",
		"a_test.go": "test", "a/testdata/x.go": "test", "testdata/deep/x": "test", "web/__snapshots__/a.snap": "test", "tap-snapshots/a.cjs": "test",
		"testdata": "", "test_data/x": "", "latest.go": "",
	} {
		got := ""
		switch {
		case IsTestFile(name):
			got = "test"
		case ecosystem.IsDoc(name):
			got = "doc"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
