package ecosystem

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Anywhere says whether there is a program of this name where commands are
// looked for, or where the operator's own are.
func (t *Toolchains) Anywhere(name string, env []string) bool {
	search := "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	return t.Has(name) || lookPath([]string{search}, name) != "" || lookPath(env, name) != ""
}

// Toolchains are the programs of this machine that commands of a change can be
// run with, as its operator's search path names them.
type Toolchains struct {
	Go  *GoToolchain // nil: none
	Env []string     // of this program, in the form of os.Environ

	// Own are folders of the repository that the operator's search path has, by their names in
	// it. They are no part of Env: each side has its own.
	Own []string

	GoFault string // why the go command that is there is of no use
	shims   *shims // nil: every program is taken for one that runs
}

// FindToolchains looks for programs in the search path of env, which is a
// program's environment in the form of os.Environ. An error means that one is
// there and not usable; the others are found all the same.
func FindToolchains(ctx context.Context, env []string) (*Toolchains, error) {
	found, err := findGo(ctx, env)
	t := &Toolchains{Go: found, Env: slices.Clone(env), shims: &shims{env: slices.Clone(env)}}
	if err != nil {
		t.GoFault = "the go command of this machine does not run: " + err.Error()
	}
	return t, err
}

// Versions are those of the programs that are known, by name.
func (t *Toolchains) Versions() map[string]string {
	if t == nil || t.Go == nil {
		return nil
	}
	return map[string]string{"go": t.Go.Version}
}

// NoRace says why Go's race detector cannot be used, "" where it can or where
// there is no Go.
func (t *Toolchains) NoRace() string {
	if t == nil || t.Go == nil || t.Go.Race {
		return ""
	}
	return t.Go.NoRace
}

// WithoutRace is a copy in which Go's race detector is not used.
func (t *Toolchains) WithoutRace(why string) *Toolchains {
	if t == nil || t.Go == nil {
		return t
	}
	out, goTools := *t, *t.Go
	goTools.Race, goTools.NoRace = false, why
	out.Go = &goTools
	return &out
}

// Has says whether there is a program of this name, and it runs: one that a version
// manager has put in place of another may have nothing to call. Nothing has any.
func (t *Toolchains) Has(name string) bool {
	file := t.LookPath(name)
	return file != "" && t.shims.fault(file) == ""
}

// Lack words that a program is missing.
func (t *Toolchains) Lack(name string) string {
	if file := t.LookPath(name); file != "" {
		if why := t.shims.fault(file); why != "" {
			return name + " of this machine does not run: " + why
		}
	}
	switch {
	case name == "bundle":
		name = "bundler"
	case (name == "pnpm" || name == "yarn") && t.Has("corepack"):
		return "no " + name + " on this machine, which \"corepack enable\" puts there"
	}
	return "no " + name + " on this machine"
}

// LookPath finds a program, or returns "".
func (t *Toolchains) LookPath(name string) string {
	if t == nil {
		return ""
	}
	return lookPath(t.Env, name)
}

// Getenv is a variable of the operator's environment.
func (t *Toolchains) Getenv(name string) string {
	for _, e := range slices.Backward(t.Env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// Search is the setting of PATH with which a command in a tree of the repository finds its
// programs, where it finds others in these folders: those of the tree come last, so that none
// stands for a program of the machine. "" where the tree has none.
func (t *Toolchains) Search(others []string, tree string) string {
	if t == nil || len(t.Own) == 0 || len(others) == 0 {
		return ""
	}
	dirs := slices.Clone(others)
	for _, name := range t.Own {
		dirs = append(dirs, filepath.Join(tree, filepath.FromSlash(name)))
	}
	return "PATH=" + strings.Join(dirs, string(filepath.ListSeparator))
}

// lookPath finds a program in env's PATH, or returns "".
func lookPath(env []string, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	search := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			search = v
		}
	}
	for _, dir := range filepath.SplitList(search) {
		p := filepath.Join(dir, name)
		if fi, err := os.Stat(p); filepath.IsAbs(dir) && name != "" && err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return p
		}
	}
	return ""
}

// LackOfCompiler words that a machine has no compiler of C, "" where it has one.
func LackOfCompiler(s *Survey) string {
	for _, cc := range []string{"cc", "gcc", "clang"} {
		if s.Tools.Has(cc) {
			return ""
		}
	}
	return "no C compiler on this machine"
}
