package rust

import (
	"path"
	"strings"
)

// Forward is the module that declares the one of a source at old, and what it declares for that
// to lead to the one at now, both by their paths in the repository (modules are found as
// https://doc.rust-lang.org/reference/items/modules.html says). Of has says whether the head has a
// file; ok is false where either is no module of one library, or its parent is gone, too.
func Forward(old, now string, has func(string) bool) (parent, declared string, ok bool) {
	root, was, ok := modulePath(old)
	other, is, ok2 := modulePath(now)
	if !ok || !ok2 || root != other || len(was) == 0 || len(is) == 0 {
		return "", "", false
	}
	name, above := was[len(was)-1], path.Join(was[:len(was)-1]...)
	parent = path.Join(root, "lib.rs")
	if above != "" {
		if parent = path.Join(root, above+".rs"); !has(parent) {
			parent = path.Join(root, above, "mod.rs")
		}
	}
	return parent, "\n#[allow(unused_imports)]\npub mod " + name + " {\n    pub use crate::" + strings.Join(is, "::") + "::*;\n}\n", has(parent)
}

// modulePath is the folder of the sources of a library and the names of the modules that lead
// from its root to the one of a file; none for the root itself.
func modulePath(file string) (root string, names []string, ok bool) {
	at := strings.LastIndex("/"+file, "/src/")
	rest, ok := strings.CutSuffix(file, ".rs")
	if at < 0 || !ok {
		return "", nil, false
	}
	names = strings.Split(strings.TrimSuffix(rest[at+len("src/"):], "/mod"), "/")
	if len(names) == 1 && (names[0] == "lib" || names[0] == "main" || names[0] == "mod") {
		names = nil
	}
	return strings.TrimSuffix(file[:at+len("src/")], "/"), names, true
}
