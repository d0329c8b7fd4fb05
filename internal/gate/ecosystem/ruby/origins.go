package ruby

import (
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	gemLine     = pattern.New(`(?m)^\s*gem[\s(]+["']([\w.-]+)["']([^\n]*(?:,\s*\n[^\n]*)*)`)
	gemFrom     = pattern.New(`\b(?:path|git|github|gist|bitbucket)(?::|["']?\s*=>)\s*["']([^"']+)["']`)
	gemSection  = pattern.New(`(?m)^(GEM|PATH|GIT)\n(?:  remote: (\S+)\n)?((?:[ \t]+[^\n]*\n?)*)`)
	gemResolved = pattern.New(`(?m)^    ([\w.-]+) \(`)
)

// gemfileOrigins reads a Gemfile (https://bundler.io/man/gemfile.5.html).
func gemfileOrigins(src []byte) ecosystem.Origins {
	out := ecosystem.Origins{Of: map[string]string{}}
	for _, m := range gemLine.FindAllStringSubmatch(string(src), -1) {
		from := ""
		if f := gemFrom.FindStringSubmatch(m[2]); f != nil {
			from = f[1]
		}
		out.Add(m[1], from)
	}
	return out
}

// gemLockOrigins reads a Gemfile.lock.
func gemLockOrigins(src []byte) ecosystem.Origins {
	out := ecosystem.Origins{Of: map[string]string{}}
	for _, section := range gemSection.FindAllStringSubmatch(string(src), -1) {
		from := section[2]
		if section[1] == "GEM" {
			from = ""
		}
		for _, m := range gemResolved.FindAllStringSubmatch(section[3], -1) {
			out.Add(m[1], from)
		}
	}
	return out
}

// gemVersion is a gem of a Gemfile.lock with its version, and not what it needs.
var gemVersion = pattern.New(`(?m)^ {4}([\w.-]+) \(([^)\n]+)\)$`)

// gemVersions reads the versions in a Gemfile.lock.
func gemVersions(src []byte) map[string][]string {
	out := map[string][]string{}
	for _, m := range gemVersion.FindAllStringSubmatch(string(src), -1) {
		out[m[1]] = append(out[m[1]], m[2])
	}
	return out
}
