// Package golang is Go, by its modules.
//
// Go is the one ecosystem whose tests belong to packages: packages.go lists them and names some in
// commands. Beside each capability (race.go, fuzz.go, coverage.go, variants.go, behave.go) stands
// how the go command does it.
package golang

import (
	"bytes"
	"cmp"
	"fmt"
	"go/build"
	"go/version"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// New is Go, by its modules.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: goName, ByGit: true, Units: "Go modules",
		Programs: strings.Fields("go"),
		Runners:  strings.Fields("gotestsum"),
		Hosts:    strings.Fields("proxy.golang.org sum.golang.org"),
		Find:     findGoProjects,
		Classes:  goClasses(),
		Lines:    goLines(),
		IsTest:   func(name string) bool { return strings.HasSuffix(name, "_test.go") },
		IsSource: isGoSource,
		Generates: func(name string, s *ecosystem.Survey) string {
			if !isGoSource(name) || !goGenerate.Match(s.Read(".", name)) {
				return ""
			}
			return "go generate ./..."
		},
		Steers:   steersGo,
		Older:    olderModules,
		Same:     sameTokens,
		Adopt:    adoptGoTest,
		Caches:   true,
		Packages: goPackages(),
		Race:     goRace(),
		Fuzz:     goFuzz(),
		Coverage: goCoverage(),

		Behaviour: goBehaviour(),
		Provided:  providedByGo,
	}
}

// isGoSource recognises what the go command compiles, or hands to other compilers.
func isGoSource(name string) bool {
	switch path.Ext(name) {
	case ".go", ".s", ".S", ".syso", ".swig":
		return true
	}
	return false
}

// goWhat is what the name of a module follows in the name of its project.
const goWhat = "Go module "

// findGoProjects makes a project of every module.
func findGoProjects(s *ecosystem.Survey) []ecosystem.Project {
	mods, problems := findModules(s.File, s.Files)
	for _, p := range problems {
		s.Note("%s", p)
	}
	var out []ecosystem.Project
	for _, m := range mods {
		found := hasPackage(s, mods, m.Dir)
		if !found && m.Path == "" { // an empty go.mod, which keeps a folder apart
			continue
		}
		p := ecosystem.Project{
			Dir: m.Dir, What: goWhat + m.Path, Why: []string{path.Join(m.Dir, "go.mod")}, Uses: m.replaces, Always: m.workspace,
		}
		if s.Tools.Go == nil {
			p.Missing = cmp.Or(s.Tools.GoFault, "no go command on this machine")
		} else {
			m.version = s.Tools.Go.Version
			addGo(&p, m, s.Tools.Go.Race)
			tagged(&p, s)
			if !found { // "go test" and "go vet" fail for want of one
				p.Warm, p.Lint, p.Test = nil, nil, nil
			}
		}
		out = append(out, p)
	}
	return out
}

// hasPackage says whether the go command finds a package in a module: some have only a go.mod, such as
// one that names tools or keeps a folder apart, or files behind a constraint.
func hasPackage(s *ecosystem.Survey, mods []goModule, dir string) bool {
	c := build.Default
	c.OpenFile = func(name string) (io.ReadCloser, error) {
		data, err := s.File(filepath.ToSlash(name))
		return io.NopCloser(bytes.NewReader(data)), err
	}
	return slices.ContainsFunc(s.Files, func(f string) bool {
		if path.Ext(f) != ".go" || !ecosystem.Inside(dir, f) || ecosystem.IgnoredDir(path.Dir(f)) ||
			slices.ContainsFunc(mods, func(m goModule) bool {
				return m.Dir != dir && ecosystem.Inside(dir, m.Dir) && ecosystem.Inside(m.Dir, f)
			}) {
			return false
		}
		built, err := c.MatchFile(filepath.FromSlash(path.Dir(f)), path.Base(f))
		return built || err != nil // of which the go command says what is wrong
	})
}

// addGo appends the commands that every Go module gets.
func addGo(p *ecosystem.Project, m goModule, race bool) {
	p.Own = m
	if !m.Vendored {
		c := m.Command(results.StageSetup, "mod", "download")
		c.Network, c.Needed = sandbox.NetworkHost, m.needs
		p.Setup = append(p.Setup, c)
	}
	p.Warm = append(p.Warm, m.warmGo(false, "./..."))
	if race {
		p.Warm = append(p.Warm, m.warmGo(true, "./..."))
	}
	build := []string{"build", "./..."}
	if m.program {
		build = []string{"build", "-o", os.DevNull, "./..."}
	}
	p.Build = append(p.Build, m.Command(results.StageBuild, build...))
	p.Lint = append(p.Lint, m.Command(results.StageLint, "vet", "./..."))
	t := m.Command(results.StageTest, "test", "-json", "./...")
	t.Results = goResults()
	p.Test = append(p.Test, t)
}

// A goModule is one go.mod of a tree.
type goModule struct {
	Dir       string   // in the repository, "." for its top
	Path      string   // module path
	Vendored  bool     // what it is built with lies in a vendor folder
	modVendor bool     // the go command uses that folder only where it is asked to
	version   string   // of the go command, such as "go1.16.15"; empty: not known
	workspace bool     // named by the go.work at the top
	replaces  []string // folders in the repository that it is built with
	NoWork    bool     // there is a go.work that does not name it
	needs     bool     // it requires others
	program   bool     // its only sources lie in one folder of it, under whose name "go build" would write a program
	testMod   string   // the file that stands for go.mod where its tests are built; empty: none
}

// findModules lists the modules of a tree and the problems met.
func findModules(read func(string) ([]byte, error), files []string) (mods []goModule, problems []string) {
	work, problems := workUses(read, files)
	for _, f := range files {
		if path.Base(f) != "go.mod" || ecosystem.IgnoredDir(path.Dir(f)) {
			continue
		}
		data, err := read(f)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", f, err))
			continue
		}
		m := goModule{Dir: path.Dir(f), Path: modfile.ModulePath(data)}
		// ParseLax would leave replacements out. What cannot be parsed has none; the go command says why.
		if mod, err := modfile.Parse(f, data, nil); err == nil {
			m.needs = len(mod.Require) > 0
			for _, r := range mod.Replace {
				if strings.HasPrefix(r.New.Path, ".") {
					m.replaces = append(m.replaces, path.Join(m.Dir, r.New.Path))
				}
			}
		}
		m.workspace = slices.Contains(work, m.Dir)
		switch vendored := slices.Contains(files, path.Join(m.Dir, "vendor/modules.txt")); {
		case m.workspace: // whose modules' own vendor folders the go command leaves out
			m.Vendored = workVendored(read)
		case vendored:
			m.Vendored, m.modVendor = true, before114(data)
		}
		m.NoWork = work != nil && !m.workspace
		if !m.workspace && !m.Vendored { // where the go command takes no other file
			m.testMod = testMod(read, files, m)
		}
		m.needs = m.needs || m.testMod != ""
		m.program = oneProgram(read, files, m.Dir)
		mods = append(mods, m)
	}
	return mods, problems
}

// oneProgram says whether the only Go sources of a module are those of a program in a folder of
// it: "go build ./..." writes it into the module, where that folder stands in its way
// (https://pkg.go.dev/cmd/go#hdr-Compile_packages_and_dependencies).
func oneProgram(read func(string) ([]byte, error), files []string, dir string) bool {
	in, main := "", false
	for _, f := range files {
		rest, inside := strings.CutPrefix(f, dir+"/")
		if dir == "." {
			rest, inside = f, true
		}
		if !inside || path.Ext(f) != ".go" || strings.HasSuffix(f, "_test.go") || ecosystem.IgnoredDir(path.Dir(rest)) {
			continue
		}
		at := path.Dir(rest)
		if at == "." || strings.Contains(at, "/") || in != "" && at != in {
			return false
		}
		in = at
		if !main {
			src, err := read(f)
			main = err == nil && mainClause.Match(src)
		}
	}
	return main
}

var mainClause = pattern.New(`(?m)^package main\b`)

var testModName = pattern.New(`^[\w.-]+\.mod$`)

// isTestMod says whether a file is called like one that stands for go.mod in tests. Its name
// goes into GOFLAGS, where a space would begin another flag.
func isTestMod(name string) bool {
	return testModName.MatchString(name) && slices.Contains(ecosystem.NameWords(name), "test")
}

// testMod is the one file beside a go.mod that is of the same module and called after tests,
// such as go_test.mod: with it modules keep what only their tests need out of their go.mod
// (https://go.dev/ref/mod#build-commands, -modfile).
func testMod(read func(string) ([]byte, error), files []string, m goModule) string {
	var out []string
	for _, f := range files {
		name := path.Base(f)
		if path.Dir(f) != m.Dir || !isTestMod(name) {
			continue
		}
		if data, err := read(f); err == nil && modfile.ModulePath(data) == m.Path {
			out = append(out, name)
		}
	}
	if len(out) != 1 {
		return ""
	}
	return out[0]
}

// before114 says whether a go.mod is one for which the go command uses a vendor folder only
// under -mod=vendor (https://go.dev/ref/mod#vendoring).
func before114(mod []byte) bool {
	f, err := modfile.ParseLax("go.mod", mod, nil)
	return err == nil && (f.Go == nil || version.Compare("go"+f.Go.Version, "go1.14") < 0)
}

// workVendored says whether the folder at the top is that of "go work vendor".
func workVendored(read func(string) ([]byte, error)) bool {
	data, err := read("vendor/modules.txt")
	return err == nil && strings.HasPrefix(string(data), "## workspace\n")
}

// workUses returns the folders that the go.work at the top names; nil for none.
func workUses(read func(string) ([]byte, error), files []string) ([]string, []string) {
	if !slices.Contains(files, "go.work") {
		return nil, nil
	}
	data, err := read("go.work")
	if err != nil {
		return nil, []string{fmt.Sprintf("go.work: %v", err)}
	}
	work, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return nil, []string{err.Error()}
	}
	uses := []string{}
	for _, u := range work.Use {
		uses = append(uses, path.Clean(u.Path))
	}
	return uses, nil
}

// Command is one call of the go command in a module.
func (m goModule) Command(stage results.Stage, args ...string) ecosystem.Command {
	c := ecosystem.Command{Stage: stage, Unit: m.Dir, Text: "go " + strings.Join(args, " "), Argv: append([]string{"go"}, args...), Go: m.version}
	var flags []string
	if m.modVendor && args[0] != "mod" {
		flags = append(flags, "-mod=vendor")
		c.Text = "GOFLAGS=-mod=vendor " + c.Text
	}
	if m.testMod != "" {
		flags = append(flags, "-modfile="+m.testMod)
		c.Text = "GOFLAGS=-modfile=" + m.testMod + " " + c.Text
	}
	if m.NoWork {
		c.Env = append(c.Env, "GOWORK=off")
		c.Text = "GOWORK=off " + c.Text
	}
	if slices.Contains([]string{"build", "vet", "list"}, args[0]) && ecosystem.GoSince(m.version, "go1.18") {
		flags = append(flags, "-buildvcs=false") // a stamp of the harness's own clone is of no use
	}
	if len(flags) > 0 {
		c.Env = append(c.Env, "GOFLAGS="+strings.Join(flags, " "))
	}
	return c
}

// moduleOf is the module that a project was made of.
func moduleOf(p ecosystem.Project) goModule {
	m, _ := p.Own.(goModule) // none: of another ecosystem
	return m
}

// goGenerate is a line by which a source asks for a command
// (https://pkg.go.dev/cmd/go#hdr-Generate_Go_files_by_processing_source).
var goGenerate = pattern.New(`(?m)^//go:generate \S`)
