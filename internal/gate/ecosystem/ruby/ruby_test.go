package ruby

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestMiniRunner holds that the tests of both libraries have results, also where bundler
// lets in one of them alone.
func TestMiniRunner(t *testing.T) {
	t.Parallel()
	if err := exec.CommandContext(t.Context(), "ruby", "-e", `require "minitest"; require "test/unit/version"`).Run(); err != nil {
		t.Skip("ruby with minitest and test-unit is needed")
	}
	dir := t.TempDir()
	results.lay(t, dir, map[string][]byte{
		"unit.rb":          []byte("require \"test/unit\"\nclass Unit < Test::Unit::TestCase\n  def test_good = assert(true)\n  def test_bad = assert(false)\n  def test_later = omit(\"later\")\nend\n"),
		"mini.rb":          []byte("require \"minitest/autorun\"\nclass Mini < Minitest::Test\n  def test_good = assert(true)\nend\n"),
		"gone/minitest.rb": []byte("raise LoadError, \"cannot load such file -- minitest\"\n"),
	})
	for _, tt := range []struct{ libraries, files, want string }{
		{"", "unit.rb", "Unit#test_bad fail, Unit#test_good pass, Unit#test_later skip"},
		{"gone", "unit.rb", "Unit#test_bad fail, Unit#test_good pass, Unit#test_later skip"},
		{"", "mini.rb", "Mini#test_good pass"},
		{"", "unit.rb mini.rb", "Unit#test_bad fail, Unit#test_good pass, Unit#test_later skip, Mini#test_good pass"},
	} {
		results := filepath.Join(t.TempDir(), "results")
		cmd := exec.CommandContext(t.Context(), "ruby", append([]string{"-I" + filepath.Join(dir, tt.libraries), "-e", miniRunner, "--"}, strings.Fields(tt.files)...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "RESULTS="+results)
		said, err := cmd.CombinedOutput()
		if failed := strings.Contains(tt.want, "fail"); failed != (err != nil) {
			t.Errorf("%s: %v\n%s", tt.files, err, said)
		}
		data, err := os.ReadFile(results)
		if err != nil {
			t.Fatalf("%s: %v\n%s", tt.files, err, said)
		}
		tests, err := results.ParseMinitest(data)
		var got []string
		for _, o := range tests {
			got = append(got, o.name+" "+string(o.status))
		}
		if text := strings.Join(got, ", "); err != nil || text != tt.want {
			t.Errorf("%s without %q: %q, %v; want %q\n%s", tt.files, tt.libraries, text, err, tt.want, said)
		}
	}
}
