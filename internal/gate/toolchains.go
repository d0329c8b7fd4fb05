package gate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Toolchains are the programs of this machine that commands of a change can be
// run with, as its operator's search path names them.
type Toolchains struct {
	Go  *GoToolchain // nil: none
	env []string     // of this program, in the form of os.Environ
}

// FindToolchains looks for programs in the search path of env, which is a
// program's environment in the form of os.Environ. An error means that one is
// there and not usable; the others are found all the same.
func FindToolchains(ctx context.Context, env []string) (*Toolchains, error) {
	found, err := findGo(ctx, env)
	return &Toolchains{Go: found, env: slices.Clone(env)}, err
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

// has says whether there is a program of this name. Nothing has any.
func (t *Toolchains) has(name string) bool { return t.path(name) != "" }

// path finds a program, or returns "".
func (t *Toolchains) path(name string) string {
	if t == nil {
		return ""
	}
	return lookPath(t.env, name)
}

// getenv is a variable of the operator's environment.
func (t *Toolchains) getenv(name string) string {
	for _, e := range slices.Backward(t.env) {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// goTools are those of Go, nil where there are none.
func (g *Gate) goTools() *GoToolchain {
	if g.Tools == nil {
		return nil
	}
	return g.Tools.Go
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
