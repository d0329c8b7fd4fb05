package ecosystem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A GoToolchain is the Go of this machine, as its operator has set it up.
type GoToolchain struct {
	Root    string // GOROOT
	Version string // such as "go1.26.8"
	Race    bool   // the race detector can be linked: cgo is on and its compiler is there
	NoRace  string // why Race is not set, for people
	// Download settings of the operator, for the setup phase only.
	ModCache, Proxy, SumDB, NoSumDB, NoProxy, Private string
}

// findGo asks the go command in the search path of env how it is set up. It
// returns nil without an error where there is none.
func findGo(ctx context.Context, env []string) (*GoToolchain, error) {
	bin := lookPath(env, "go")
	if bin == "" {
		return nil, nil //nolint:nilnil // no Go is an answer, and no fault
	}
	cmd := exec.CommandContext(ctx, bin, "env", "-json", "GOROOT", "GOVERSION", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "CGO_ENABLED", "CC", "GOOS", "GOARCH")
	cmd.Dir = string(filepath.Separator) // outside of any module, whose go.mod could ask for another toolchain
	cmd.Env = append(slices.Clone(env), "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	if err != nil {
		if ended := new(exec.ExitError); errors.As(err, &ended) {
			err = fmt.Errorf("%w: %s", err, FailureLine(string(ended.Stderr)))
		}
		return nil, fmt.Errorf("%s env: %w", bin, err)
	}
	v := map[string]string{}
	if err := json.Unmarshal(out, &v); err != nil {
		return nil, fmt.Errorf("%s env: %w", bin, err)
	}
	cc, _, _ := strings.Cut(v["CC"], " ")
	found := &GoToolchain{
		Root: v["GOROOT"], Version: cmp.Or(v["GOVERSION"], "go1.15"), // it is known from 1.16 on
		Race:     v["CGO_ENABLED"] == "1" && lookPath(env, cc) != "" && raceArch(v["GOOS"], v["GOARCH"]),
		ModCache: v["GOMODCACHE"], Proxy: v["GOPROXY"], SumDB: v["GOSUMDB"],
		NoSumDB: v["GONOSUMDB"], NoProxy: v["GONOPROXY"], Private: v["GOPRIVATE"],
	}
	if !found.Race {
		found.NoRace = "the race detector needs cgo and a C compiler"
	}
	return found, nil
}

// Since says whether the go command is one of a version such as "go1.18" or newer, which
// one that is not known is taken for.
func (t *GoToolchain) Since(first string) bool { return t == nil || goSince(t.Version, first) }

func goSince(have, first string) bool {
	return !version.IsValid(have) || version.Compare(have, first) >= 0
}

// raceArch follows the list in https://go.dev/doc/articles/race_detector.
func raceArch(goos, arch string) bool {
	return goos == "linux" && slices.Contains([]string{"amd64", "arm64", "ppc64le", "s390x", "loong64"}, arch) ||
		goos == "darwin" && (arch == "amd64" || arch == "arm64")
}

// goEcosystem is Go, by its modules.
func goEcosystem() *Ecosystem {
	return &Ecosystem{
		Name: goName, byGit: true, Units: "Go modules",
		Programs: strings.Fields("go"),
		Hosts:    strings.Fields("proxy.golang.org sum.golang.org"),
		find:     findGoProjects,
		classes:  goClasses(),
		Lines:    goLines(),
		IsTest:   func(name string) bool { return strings.HasSuffix(name, "_test.go") },
		IsSource: isGoSource,
		Steers:   steersGo,
		same:     sameTokens,
		adopt:    adoptGoTest,
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
func findGoProjects(s *Survey) []Project {
	mods, problems := findModules(s.file, s.files)
	for _, p := range problems {
		s.note("%s", p)
	}
	var out []Project
	for _, m := range mods {
		p := Project{
			Dir: m.Dir, What: goWhat + m.Path, Why: []string{path.Join(m.Dir, "go.mod")}, uses: m.replaces, always: m.workspace,
		}
		if s.tools.Go == nil {
			p.Missing = cmp.Or(s.tools.goFault, "no go command on this machine")
		} else {
			m.version = s.tools.Go.Version
			p.addGo(m, s.tools.Go.Race)
			p.tagged(s)
		}
		out = append(out, p)
	}
	return out
}

// addGo appends the commands that every Go module gets.
func (p *Project) addGo(m goModule, race bool) {
	p.goModule = m
	if !m.Vendored {
		c := m.Command(StageSetup, "mod", "download")
		c.Network, c.Needed = sandbox.NetworkHost, m.needs
		p.Setup = append(p.Setup, c)
	}
	p.Warm = append(p.Warm, m.warmGo(false, "./..."))
	if race {
		p.Warm = append(p.Warm, m.warmGo(true, "./..."))
	}
	p.Build = append(p.Build, m.Command(StageBuild, "build", "./..."))
	p.Lint = append(p.Lint, m.Command(StageLint, "vet", "./..."))
	t := m.Command(StageTest, "test", "-json", "./...")
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
	testMod   string   // the file that stands for go.mod where its tests are built; empty: none
}

// findModules lists the modules of a tree and the problems met.
func findModules(read func(string) ([]byte, error), files []string) (mods []goModule, problems []string) {
	work, problems := workUses(read, files)
	for _, f := range files {
		if path.Base(f) != "go.mod" || IgnoredDir(path.Dir(f)) {
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
		mods = append(mods, m)
	}
	return mods, problems
}

var testModName = pattern.New(`^[\w.-]+\.mod$`)

// isTestMod says whether a file is called like one that stands for go.mod in tests. Its name
// goes into GOFLAGS, where a space would begin another flag.
func isTestMod(name string) bool {
	return testModName.MatchString(name) && slices.Contains(nameWords(name), "test")
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

// IgnoredDir recognises folders that "./..." does not enter either.
func IgnoredDir(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if part == "testdata" || part == "vendor" || part == "node_modules" || part != "." && strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return true
		}
	}
	return false
}

// ReadInTree reads a file of an untrusted tree: no link leads out of it.
func ReadInTree(root, name string) ([]byte, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadFile(filepath.FromSlash(name))
}
