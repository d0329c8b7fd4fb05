package ruby

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestMiniRunner holds that the tests of both libraries have results, also where bundler
// lets in one of them alone.
func TestMiniRunner(t *testing.T) {
	t.Parallel()
	if err := exec.CommandContext(t.Context(), "ruby", "-e", `require "minitest"; require "test/unit/version"`).Run(); err != nil {
		t.Skip("ruby with minitest and test-unit is needed")
	}
	dir := t.TempDir()
	trees.Lay(t, dir, map[string]string{
		"unit.rb":          "require \"test/unit\"\nclass Unit < Test::Unit::TestCase\n  def test_good = assert(true)\n  def test_bad = assert(false)\n  def test_later = omit(\"later\")\nend\n",
		"mini.rb":          "require \"minitest/autorun\"\nclass Mini < Minitest::Test\n  def test_good = assert(true)\nend\n",
		"gone/minitest.rb": "raise LoadError, \"cannot load such file -- minitest\"\n",
	})
	for _, tt := range []struct{ libraries, files, want string }{
		{"", "unit.rb", "Unit#test_bad fail, Unit#test_good pass, Unit#test_later skip"},
		{"gone", "unit.rb", "Unit#test_bad fail, Unit#test_good pass, Unit#test_later skip"},
		{"", "mini.rb", "Mini#test_good pass"},
		{"", "unit.rb mini.rb", "Mini#test_good pass, Unit#test_bad fail, Unit#test_good pass, Unit#test_later skip"},
	} {
		file := filepath.Join(t.TempDir(), "results")
		cmd := exec.CommandContext(t.Context(), "ruby", append([]string{"-I" + filepath.Join(dir, tt.libraries), "-e", miniRunner, "--"}, strings.Fields(tt.files)...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "RESULTS="+file)
		said, err := cmd.CombinedOutput()
		if failed := strings.Contains(tt.want, "fail"); failed != (err != nil) {
			t.Errorf("%s: %v\n%s", tt.files, err, said)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%s: %v\n%s", tt.files, err, said)
		}
		collector := results.Documented(results.ParseMinitest)(".")
		if _, err := collector.Write(data); err != nil {
			t.Fatal(err)
		}
		var got []string
		for id, o := range collector.Suite("E1", "") {
			if id.Test != "" {
				got = append(got, id.Test+" "+string(o.Status))
			}
		}
		slices.Sort(got)
		if why, _ := collector.Gap(); why != "" || strings.Join(got, ", ") != tt.want {
			t.Errorf("%s without %q: %q, %q; want %q\n%s", tt.files, tt.libraries, got, why, tt.want, said)
		}
	}
}
