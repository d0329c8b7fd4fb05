// Package toolchains says what commands see of the machine's files beside their own: the
// system's directories, the toolchains that its operator set up, and none of the secrets
// that lie in them.
//
// The system's directories are a list ([SystemDirs]). [Machine.Find] finds what the search
// path, variables and links lead to; of a known layout (see layouts) it brings what
// commands need and nothing beside it. [Set.Private] finds what is to be hidden again.
package toolchains

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Machine is one as its operator set it up, on which toolchains are looked for.
type Machine struct {
	PATH, Home string
	Env        []string // the operator's environment ("NAME=value"): toolchain variables such as JAVA_HOME_17_X64
	Installed  []string // installations that are known otherwise; their programs lead the search
	Root       string   // where the machine's file system is; empty: that of this program
}

// A Set is what commands are given of the programs of a machine, outside of
// the system directories.
type Set struct {
	Search []string // directories of programs, in the order of PATH, before those of the system
	Read   []string // directories and files that these programs need, readable
	Env    []string // variables by which they find themselves, because the command's HOME is another one
}

// At are installations that are shown as a whole, each with its bin
// directory, or itself where it has none, in the search path.
func At(dirs ...string) Set {
	t := Set{Read: dirs}
	for _, dir := range dirs {
		if bin := filepath.Join(dir, "bin"); (tree{}).isDir(bin) {
			dir = bin
		}
		t.Search = append(t.Search, dir)
	}
	return t
}

const (
	maxLeads   = 4096 // directories and files that are looked into for toolchains
	maxEntries = 8192 // entries of one directory
	maxScript  = 256  // bytes of a script's first line
)

// A lead is a path that shows where a toolchain is.
type lead int

const (
	searched lead = iota // a directory of the search path
	linked               // a program that a link or the first line of a script leads to
	variable             // an installation that a variable names
)

// Find finds what the search path, the toolchain variables and the links of
// the system's own directories lead to. A directory of the search path brings
// itself alone, and of a known layout (see layouts) what the layout's row names.
func (m Machine) Find() Set {
	f := &finder{Machine: m, tree: tree{m.Root}, taken: map[string]bool{}, looked: map[string]bool{}}
	for _, dir := range m.Installed {
		f.take(filepath.Clean(dir), variable)
		f.search(filepath.Join(dir, "bin"))
	}
	for _, dir := range filepath.SplitList(m.PATH) {
		f.search(filepath.Clean(dir))
	}
	for _, kv := range m.Env {
		name, value, _ := strings.Cut(kv, "=")
		if filepath.IsAbs(value) && toolchainVariable(name) {
			f.take(f.resolve(filepath.Clean(value)), variable)
		}
	}
	// Rustup's programs stand for those of the toolchains that it keeps elsewhere.
	if filepath.IsAbs(m.Home) && f.finds("rustup", "cargo") {
		f.take(filepath.Join(m.Home, ".rustup"), variable)
	}
	for _, dir := range besideSystem {
		f.show(dir)
	}
	for _, dir := range []string{"/usr/local/bin", "/usr/local/sbin"} {
		f.look(dir, true)
	}
	for _, dir := range []string{"/usr/bin", "/etc/alternatives"} {
		f.look(dir, false)
	}
	for len(f.bins) > 0 {
		dir := f.bins[0]
		f.bins = f.bins[1:]
		f.look(dir, true)
	}
	return f.out
}

// A finder collects what leads come to.
type finder struct {
	Machine
	tree
	out    Set
	taken  map[string]bool // leads
	looked map[string]bool // directories of programs
	bins   []string        // those that are still to be looked into
}

// search adds a directory of the search path.
func (f *finder) search(dir string) {
	if !filepath.IsAbs(dir) || systemBinary(dir) || slices.Contains(f.out.Search, dir) || !f.isDir(dir) {
		return
	}
	real := f.resolve(dir)
	if f.boxed(dir) || f.broad(dir) || f.broad(real) {
		return
	}
	f.out.Search = append(f.out.Search, dir)
	f.take(real, searched)
	if real != dir {
		f.show(dir) // as a directory of this name, with what the link leads to
	}
	f.bins = append(f.bins, real)
}

// take adds what a lead brings.
func (f *finder) take(path string, kind lead) {
	if f.taken[path] || len(f.taken) >= maxLeads || f.boxed(path) {
		return
	}
	f.taken[path] = true
	if l, root, ok := f.layoutOf(path); ok {
		f.install(l, root)
		return
	}
	if UnderSystem(path) {
		return
	}
	dir := path
	if kind == linked {
		dir = filepath.Dir(path)
	}
	prefix := dir
	if base := filepath.Base(dir); base == "bin" || base == "sbin" {
		prefix = filepath.Dir(dir)
	}
	if !f.broad(prefix) {
		if l, ok := f.contentOf(prefix); ok {
			f.install(l, prefix)
			return
		}
	}
	if !f.home(prefix) && !f.broad(prefix) && strings.Count(prefix, "/") > 1 && (prefix != dir || kind == variable) {
		for _, name := range installation {
			f.show(filepath.Join(prefix, name))
		}
	}
	switch {
	case kind == searched:
		f.show(path)
	case kind == linked && prefix == dir && Within("/opt", dir) && !f.broad(dir):
		f.show(dir) // programs of their own kind, such as browsers
	case kind == linked:
		f.show(path)
	}
}

// install adds what a layout names of the installation at root.
func (f *finder) install(l layout, root string) {
	for _, pattern := range l.show {
		for _, path := range f.glob(filepath.Join(root, pattern)) {
			f.show(path)
			if base := filepath.Base(path); base == "bin" || base == "shims" {
				f.bins = append(f.bins, path)
			}
		}
		if pattern == "." {
			f.bins = append(f.bins, filepath.Join(root, "bin"))
		}
	}
	if l.set != "" && f.exists(filepath.Join(root, l.show[0])) {
		if kv := l.set + "=" + root; !slices.Contains(f.out.Env, kv) {
			f.out.Env = append(f.out.Env, kv)
		}
	}
	for _, file := range l.files {
		f.setFile(file)
	}
	for _, path := range l.leads {
		if path = f.resolve(filepath.Join(root, path)); f.exists(path) {
			f.take(path, variable)
		}
	}
}

// setFile adds settings that a layout names, and the variable by which they are found.
func (f *finder) setFile(file string) {
	name, below, _ := strings.Cut(file, "=")
	path := filepath.Join(f.Home, below)
	for _, kv := range f.Env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok && value != "" {
			path = filepath.Clean(value)
		}
	}
	if kv := name + "=" + path; filepath.IsAbs(path) && f.exists(path) && !slices.Contains(f.out.Env, kv) {
		f.show(path)
		f.out.Env = append(f.out.Env, kv)
	}
}

// show makes a path readable, if it is there and not so already.
func (f *finder) show(path string) {
	if UnderSystem(path) || !f.exists(path) {
		return
	}
	if !slices.Contains(f.out.Read, path) {
		f.out.Read = append(f.out.Read, path)
	}
	// What is shown by a link is found by its real name, too.
	if real := f.resolve(path); real != path && !f.taken[real] && !f.shown(real) {
		kind := linked
		if f.isDir(real) {
			kind = variable
		}
		f.take(real, kind)
	}
}

func (f *finder) shown(path string) bool {
	return UnderSystem(path) || slices.ContainsFunc(f.out.Read, func(dir string) bool { return Within(dir, path) })
}

// look follows the links of a directory of programs that lead out of what is
// shown and, where scripts is set, the first lines of its scripts.
func (f *finder) look(dir string, scripts bool) {
	if f.looked[dir] || len(f.looked) >= maxLeads {
		return
	}
	f.looked[dir] = true
	real := f.resolve(dir)
	for _, e := range f.entries(real) {
		path := filepath.Join(real, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
			f.follow(path)
		case scripts && e.Type().IsRegular():
			if program := f.interpreter(path); program != "" {
				if !f.shown(program) && f.exists(program) {
					// An environment of Python is found by this name of its interpreter.
					f.take(program, linked)
				}
				f.follow(program)
			}
		}
	}
}

// follow takes what a chain of links ends in, and each link on the way that
// commands would not find.
func (f *finder) follow(path string) {
	for range 40 {
		target, err := os.Readlink(f.at(path))
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = filepath.Clean(target)
		if UnderSystem(path) && !Within("/etc/alternatives", path) {
			return // another link there is looked at in its own directory
		}
		path = filepath.Join(f.resolve(filepath.Dir(path)), filepath.Base(path))
		if f.isDir(path) || !f.exists(path) {
			return
		}
		for _, name := range []string{filepath.Clean(target), path} { // also by the name that the link has
			if !f.shown(name) {
				f.take(name, linked)
			}
		}
	}
}

// interpreter is the program that a script's first line names, with its full
// path; "" for other files.
func (f *finder) interpreter(path string) string {
	file, err := os.Open(f.at(path))
	if err != nil {
		return ""
	}
	defer file.Close()
	b := make([]byte, maxScript)
	n, _ := file.Read(b) // what cannot be read names nothing
	line, ok := strings.CutPrefix(string(b[:n]), "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if len(words) == 0 || !filepath.IsAbs(words[0]) || UnderSystem(filepath.Clean(words[0])) && !f.isLink(words[0]) {
		return ""
	}
	return filepath.Clean(words[0])
}

// finds says whether one of the programs is in the search path.
func (f *finder) finds(programs ...string) bool {
	for _, dir := range slices.Concat(f.out.Search, SystemBin()) {
		for _, program := range programs {
			if f.exists(filepath.Join(dir, program)) {
				return true
			}
		}
	}
	return false
}

// home says whether a path is in someone's home directory, or in a directory
// that is not for everybody to look at by its name.
func (f *finder) home(path string) bool {
	for _, top := range []string{"/home", "/root", "/Users", "/var/lib"} {
		if Within(top, path) {
			return true
		}
	}
	return filepath.IsAbs(f.Home) && f.Home != "/" && Within(f.Home, path) || strings.Contains(path, "/.")
}

// broad says whether a directory has much more in it than one installation.
func (f *finder) broad(dir string) bool {
	if dir == "/" || filepath.IsAbs(f.Home) && Within(dir, f.Home) || filepath.Base(dir) == ".local" {
		return true
	}
	parent := filepath.Dir(dir)
	if parent == "/home" || parent == "/Users" || parent == "/var" || dir == "/var" ||
		slices.Contains([]string{"/opt", "/srv", "/home", "/mnt", "/data", "/media", "/run", "/root", "/Users", "/tmp"}, dir) {
		return true
	}
	// A runner's own directory has its credentials and its work in it.
	return f.exists(filepath.Join(dir, ".runner")) || f.exists(filepath.Join(dir, "_work"))
}

// boxed says whether commands have a directory of their own in this place.
func (f *finder) boxed(path string) bool {
	return Within(Temp, path) && (!Within(Temp, f.Home) || !Within(f.Home, path))
}

// systemBinary says whether a directory of the search path is one of the system.
func systemBinary(dir string) bool {
	return slices.Contains(SystemBin(), dir) || slices.Contains([]string{"/usr/games", "/usr/local/games", "/snap/bin"}, dir) || strings.HasPrefix(dir, "/usr/lib/")
}
