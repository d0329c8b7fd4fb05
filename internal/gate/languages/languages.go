// Package languages is the list of the ecosystems that the gate knows, and what is asked of all of
// them: which projects a tree has, what a command or a file is to whichever knows it, and what
// setup may reach.
//
// To add one is to add a package below internal/gate/ecosystem and a line in [All].
package languages

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/dotnet"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/elixir"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/golang"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/java"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/php"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/python"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/ruby"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// All are the ecosystems that the gate knows, in the order in which their commands are
// run. The list is the same each time, and must not be changed.
func All() []*ecosystem.Ecosystem { return all() }

var all = sync.OnceValue(func() []*ecosystem.Ecosystem {
	return []*ecosystem.Ecosystem{
		golang.New(),
		node.New(),
		python.New(),
		rust.New(),
		java.New(),
		native.New(),
		ruby.New(),
		dotnet.New(),
		php.New(),
		elixir.New(),
		native.NewMake(), // last: where the others have tests, it only calls them
	}
})

// Named returns the ecosystem that a command or a result belongs to, nil for none.
func Named(name string) *ecosystem.Ecosystem {
	for _, e := range All() {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Absent is the name that a message of a language says is not there, "" where it says of none.
func Absent(eco, message string) string {
	by := Named(eco)
	if by == nil || by.Absent == nil {
		return ""
	}
	name, _ := by.Absent(message)
	return name
}

// Of returns the ecosystem whose source a file is, nil for none.
func Of(name string) *ecosystem.Ecosystem {
	for _, e := range All() {
		if e.IsSource != nil && e.IsSource(name) {
			return e
		}
	}
	return nil
}

// Describing is the ecosystem of which a file says how sources and tests are built alike, "" for none.
func Describing(name string) string {
	for _, e := range All() {
		if e.Describes != nil && e.Describes(name) {
			return e.Name
		}
	}
	return ""
}

// KeepsMade says whether a file is of a build that takes what it made before by its time alone.
func KeepsMade(name string) bool {
	return slices.ContainsFunc(All(), func(e *ecosystem.Ecosystem) bool { return e.KeepsMade != nil && e.KeepsMade(name) })
}

// PackagesOf returns how the ecosystem of this name deals with packages, nil where its
// tests belong to files.
func PackagesOf(name string) *ecosystem.Packages {
	if e := Named(name); e != nil {
		return e.Packages
	}
	return nil
}

// ByPackage says whether the tests of an ecosystem belong to packages.
func ByPackage(name string) bool { return PackagesOf(name) != nil }

// Unbuilt returns the import paths of packages that the output of a build names as those
// that do not compile.
func Unbuilt(output string) []string {
	var out []string
	for _, e := range All() {
		if e.Packages == nil {
			continue
		}
		for _, m := range e.Packages.Heading.FindAllStringSubmatch(output, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// WhyUnbuilt is the first error of a package that the output of a build names, or of the
// command where it names none.
func WhyUnbuilt(name, output string) string {
	for _, e := range All() {
		if e.Packages == nil {
			continue
		}
		for _, m := range e.Packages.Heading.FindAllStringSubmatchIndex(output, -1) {
			if output[m[2]:m[3]] != name {
				continue
			}
			_, below, _ := strings.Cut(output[m[3]:], "\n")
			line, _, _ := strings.Cut(below, "\n")
			return results.FailureLine(line)
		}
	}
	return results.FailureLine(output)
}

// Affected returns the import paths of packages, of whatever ecosystems, that changed
// paths can influence.
func Affected(pkgs []ecosystem.Package, changed []string) map[string]bool {
	out := map[string]bool{}
	for _, e := range All() {
		if e.Packages == nil {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(pkgs), func(p ecosystem.Package) bool { return p.Eco != e.Name })
		for p := range e.Packages.Affected(mine, changed) {
			out[p] = true
		}
	}
	return out
}

// Any says whether it holds of an ecosystem.
func Any(is func(*ecosystem.Ecosystem) bool) bool { return slices.ContainsFunc(All(), is) }

// SameCode returns what compares two versions of a source by what they do, nil
// where that is not known of its language.
func SameCode(name string) func(before, after []byte) bool {
	for _, e := range All() {
		if e.IsSource != nil && e.IsSource(name) {
			return e.Same
		}
	}
	return nil
}

// SameLanguage says whether two files are sources of one ecosystem.
func SameLanguage(a, b string) bool {
	return Any(func(e *ecosystem.Ecosystem) bool { return e.IsSource != nil && e.IsSource(a) && e.IsSource(b) })
}

// ShellCommand runs text as a step of GitHub Actions does. A plain call of a
// test runner that is known is asked for machine-readable output, so that each
// test is reported.
func ShellCommand(stage results.Stage, text string) ecosystem.Command {
	return ecosystem.CommandOf(stage, text, All()...)
}

// Provided are the programs of a tree, of whatever ecosystems. files are its paths, and
// pkgs its packages.
func Provided(tree fs.FS, files []string, pkgs []ecosystem.Package) []ecosystem.Program {
	var out []ecosystem.Program
	for _, e := range All() {
		if e.Provided == nil {
			continue
		}
		for _, p := range e.Provided(tree, files, pkgs) {
			if !slices.ContainsFunc(out, func(o ecosystem.Program) bool { return o.Name == p.Name }) {
				p.Eco = e.Name
				out = append(out, p)
			}
		}
	}
	return out
}

// Fingerprint distinguishes the programs by place, size and time, which an update
// changes.
func Fingerprint(t *ecosystem.Toolchains) []string {
	if t == nil {
		return nil
	}
	var out []string
	if t.Go != nil {
		out = append(out, t.Go.Version)
	}
	names := []string{"bash", "git"}
	for _, e := range All() {
		names = append(names, e.Programs...)
	}
	for _, name := range names {
		file, err := filepath.EvalSymlinks(t.LookPath(name))
		if err != nil || t.LookPath(name) == "" {
			continue
		}
		if info, err := os.Stat(file); err == nil {
			out = append(out, fmt.Sprintf("%s %d %d", file, info.Size(), info.ModTime().UnixNano()))
		}
	}
	return out
}
