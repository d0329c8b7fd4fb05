package ruby

import (
	"strings"
	"testing"
)

// TestOwnEnvironment holds what a Rakefile sets for the tests of a project, and has made for them.
func TestOwnEnvironment(t *testing.T) {
	t.Parallel()
	for rake, want := range map[string]string{
		"ENV[\"SHOP_TAX\"] ||= \"19\"\nENV['A'] = '1'\n": "SHOP_TAX=19 A=1",
		"task :x do\n  ENV['A'] = '1'\nend\n":            "",
		"ENV['A'] = `uname`\n":                           "",
	} {
		if got := rakeVariables([]byte(rake)); got != want {
			t.Errorf("%q: %q, want %q", rake, got, want)
		}
	}
	for rake, want := range map[string]string{
		"Rake::TestTask.new(test: :generate) do |t|\nend\n": "generate",
		"task test: [:compile, :rubocop]\n":                 "compile",
		"task :test => :compile\n":                          "compile",
		"task spec: %i[compile lint]\n":                     "compile",
		"task default: :test\n":                             "",
	} {
		if got := strings.Join(rakeBuild([]byte(rake)), " "); got != want {
			t.Errorf("%q: %q, want %q", rake, got, want)
		}
	}
	for rake, want := range map[string]string{
		"Rake::TestTask.new(test: \"test/gen_test.rb\") do |t|\nend\n": "Rake::TestTask.new(test: \"test/gen_test.rb\") do |t|",
		"Rake::TestTask.new\nRake::Task[:test].enhance([:gen])\n":      "Rake::Task[:test].enhance([:gen])",
		"Rake::TestTask.new(:test) do |t|\nend\n":                      "",
	} {
		if task, differs := rakeTask([]byte(rake)); task != "test" || differs != want {
			t.Errorf("%q: %q differs by %q, want %q", rake, task, differs, want)
		}
	}
}
