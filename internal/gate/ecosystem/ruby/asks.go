package ruby

import (
	"path"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// asks are the tools of which a Gemfile or the description of a gem asks for a version.
func asks() []ecosystem.Asking {
	return []ecosystem.Asking{{
		Tool: "Ruby", Program: "ruby", In: func(name string) bool { return ecosystem.Named("Gemfile")(name) || path.Ext(name) == ".gemspec" },
		Version: ecosystem.WrittenAs(pattern.New(`(?m)^\s*ruby\s+["']([^"']+)|^[^#\n]*\brequired_ruby_version\s*=\s*(?:Gem::Requirement\.new\(?)?\s*["']([^"']+)`)),
		Refuses: pattern.New(`Your Ruby version is \S+, but your Gemfile specified|which is incompatible with the current version, |requires Ruby version|SyntaxError|syntax error`),
	}}
}
