package python

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/ruby"
)

// TestOwnEnvironment holds what a project's own way to run its tests sets for them.
func TestOwnEnvironment(t *testing.T) {
	t.Parallel()
	for tox, want := range map[string]string{
		"[tox]\nenvlist = py3\n[testenv]\ndeps = pytest\nsetenv =\n    SHOP_TAX = 19\n    NAME=two words\n    WHERE = {toxinidir}\n    PYTHONPATH = x\ncommands = pytest\n": "SHOP_TAX=19 NAME='two words'",
		"[testenv]\nset_env = A = 1\n":          "A=1",
		"[testenv:lint]\nsetenv =\n    A = 1\n": "",
		"":                                      "",
	} {
		if got := toxVariables(tox); got != want {
			t.Errorf("%q: %q, want %q", tox, got, want)
		}
	}
	for rake, want := range map[string]string{
		"ENV[\"SHOP_TAX\"] ||= \"19\"\nENV['A'] = '1'\n": "SHOP_TAX=19 A=1",
		"task :x do\n  ENV['A'] = '1'\nend\n":            "",
		"ENV['A'] = `uname`\n":                           "",
	} {
		if got := ruby.rakeVariables([]byte(rake)); got != want {
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
		if got := strings.Join(ruby.rakeBuild([]byte(rake)), " "); got != want {
			t.Errorf("%q: %q, want %q", rake, got, want)
		}
	}
}
