package sides

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// takenByTests names the ecosystem of a source of the base that stands beside all that is built by
// itself, and that only tests take in: these are of something else, too, so that it is none of what
// they test. Empty: it is no such source.
func (r *Reader) takenByTests(name string) string {
	if path.Ext(name) != ".rs" || r.Plans[results.Base] == nil || r.readBase(name) == nil || languages.IsTestSource(name) || !rust.Beside(name, nil) {
		return ""
	}
	var manifests []string
	for _, f := range r.Plans[results.Base].Files {
		if path.Base(f) == "Cargo.toml" && !ecosystem.IgnoredDir(path.Dir(f)) && len(manifests) < maxRead {
			manifests = append(manifests, string(r.readBase(f)))
		}
	}
	if tests, others := r.takers(name, manifests, map[string]bool{}); !tests || others {
		return ""
	}
	return languages.Of(name).Name
}

// takers says whether tests of Rust take a source in, also by way of one that only they take in, and
// whether others may.
func (r *Reader) takers(name string, manifests []string, seen map[string]bool) (tests, others bool) {
	if seen[name] {
		return false, false
	}
	seen[name] = true
	if !rust.Beside(name, manifests) {
		return false, true
	}
	read := 0
	for _, f := range r.sourcesOfBase() {
		if f.name == name || f.apart || path.Ext(f.name) != ".rs" || ecosystem.InFolder(f.name, "benches") {
			continue
		}
		if read++; read > maxRead {
			return tests, true
		}
		dir, own, rest := path.Dir(f.name), "", r.textOf(f)
		inside := classes.PartsOf(f.name) != nil && !f.test
		if inside {
			own, rest = classes.PartsOf(f.name)(rest)
		}
		tests = tests || own != "" && rust.Takes(own, dir, name)
		if !rust.Takes(rest, dir, name) {
			others = others || inside && strings.Contains(rest, path.Base(name)+`"`) // as build.rs does
			continue
		}
		switch {
		case f.test && strings.Contains(rest, "#[test]") && !rust.UsesCrate(rest, manifests):
			return false, true
		case f.test:
			tests = true
		default:
			t, o := r.takers(f.name, manifests, seen)
			tests, others = tests || t, others || o
		}
	}
	return tests, others
}
