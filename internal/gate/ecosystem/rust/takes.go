package rust

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	modulePlace = pattern.New(`\bpath\s*=\s*"([^"]+)"`)
	includeCall = pattern.New(`\binclude(?:_str|_bytes)?!\s*[(\[{]\s*((?:concat!\s*[(\[{]\s*)?(?:(?:env!\s*\([^()]*\)|"[^"]*")\s*,?\s*)+)`)
	ofAPlace    = pattern.New(`env!\s*\([^()]*\)|"([^"]*)"`)
)

// Takes says whether a source in dir takes another file of the tree in: as a module, by its name or
// the path that an attribute has (https://doc.rust-lang.org/reference/items/modules.html), or as
// text (https://doc.rust-lang.org/std/macro.include.html).
func Takes(text, dir, name string) bool {
	if path.Ext(name) == ".rs" {
		in, stem := path.Dir(name), strings.TrimSuffix(path.Base(name), ".rs")
		if stem == "mod" {
			in, stem = path.Dir(in), path.Base(in)
		}
		for _, m := range rustModuleLine.FindAllStringSubmatch(text, -1) {
			if at := modulePlace.FindStringSubmatch(m[1]); at != nil {
				if path.Join(dir, at[1]) == name {
					return true
				}
			} else if m[2] == stem && (in == dir || path.Dir(in) == dir) { // of a source that is no mod.rs it is in a folder of its name
				return true
			}
		}
	}
	return slices.ContainsFunc(includeCall.FindAllStringSubmatch(text, -1), func(m []string) bool {
		at := ""
		for _, part := range ofAPlace.FindAllStringSubmatch(m[1], -1) {
			at += part[1]
		}
		return path.Join(dir, at) == name || strings.HasPrefix(at, "/") && strings.HasSuffix("/"+name, at)
	})
}

// root are folders in which cargo looks for programs by itself, and for the library
// (https://doc.rust-lang.org/cargo/guide/project-layout.html).
var root = []string{"src", "examples", "benches"}

// Beside says whether a source lies where cargo builds nothing of by itself, and no Cargo.toml of
// manifests names it as what a program or a library is made of.
func Beside(name string, manifests []string) bool {
	if path.Ext(name) != ".rs" || path.Base(name) == "build.rs" || slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(in string) bool { return slices.Contains(root, in) }) {
		return false
	}
	return !slices.ContainsFunc(manifests, func(text string) bool {
		return strings.Contains(text, path.Base(name)+`"`) || strings.Contains(text, path.Base(name)+"'")
	})
}

// crateName is the name of a package or a library in a Cargo.toml.
var crateName = pattern.New(`(?m)^\s*name\s*=\s*["']([\w-]+)["']`)

// programRun is how tests start a program of their package.
var programRun = pattern.New(`CARGO_BIN_EXE_|\bcargo_bin\b|\bassert_cmd\b`)

// UsesCrate says whether a source uses a crate of these Cargo.toml, or starts a program of one.
func UsesCrate(text string, manifests []string) bool {
	if programRun.MatchString(text) {
		return true
	}
	for _, manifest := range manifests {
		for _, m := range crateName.FindAllStringSubmatch(manifest, -1) {
			crate := strings.ReplaceAll(m[1], "-", "_")
			if strings.Contains(text, crate+"::") || strings.Contains(text, "use "+crate) || strings.Contains(text, "extern crate "+crate) {
				return true
			}
		}
	}
	return false
}
