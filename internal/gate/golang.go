package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// A GoToolchain is the Go of this machine, as its operator has set it up.
type GoToolchain struct {
	Root    string // GOROOT
	Version string // such as "go1.26.8"
	Race    bool   // the race detector can be linked: cgo is on and its compiler is there
	NoRace  string // why Race is not set, for people
	// Download settings of the operator, for the setup phase only.
	modCache, proxy, sumDB, noSumDB, noProxy, private string
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
		return nil, fmt.Errorf("%s env: %w", bin, err)
	}
	v := map[string]string{}
	if err := json.Unmarshal(out, &v); err != nil {
		return nil, fmt.Errorf("%s env: %w", bin, err)
	}
	cc, _, _ := strings.Cut(v["CC"], " ")
	found := &GoToolchain{
		Root: v["GOROOT"], Version: v["GOVERSION"],
		Race:     v["CGO_ENABLED"] == "1" && lookPath(env, cc) != "" && raceArch(v["GOOS"], v["GOARCH"]),
		modCache: v["GOMODCACHE"], proxy: v["GOPROXY"], sumDB: v["GOSUMDB"],
		noSumDB: v["GONOSUMDB"], noProxy: v["GONOPROXY"], private: v["GOPRIVATE"],
	}
	if !found.Race {
		found.NoRace = "the race detector needs cgo and a C compiler"
	}
	return found, nil
}

// raceArch follows the list in https://go.dev/doc/articles/race_detector.
func raceArch(goos, arch string) bool {
	return goos == "linux" && slices.Contains([]string{"amd64", "arm64", "ppc64le", "s390x", "loong64"}, arch) ||
		goos == "darwin" && (arch == "amd64" || arch == "arm64")
}

// hostModCache is the operator's own module cache, a source for downloads.
func (g *Gate) hostModCache() []string {
	tools := g.goTools()
	if tools == nil || tools.modCache == "" {
		return nil
	}
	dir := filepath.Join(tools.modCache, "cache", "download")
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return []string{dir}
}

// fillsModCache tells the command by which the module cache of all projects is
// filled: it runs no code of the change, and checks what it fetches.
func (c command) fillsModCache() bool {
	return c.stage == StageSetup && slices.Equal(c.argv, []string{"go", "mod", "download"})
}

// setupModCache gives a setup command its module cache. Commands that run code of
// the change get one of their side, which ends with the run: what they write there,
// later runs would build with.
func (g *Gate) setupModCache(side Side, c command, run *sandbox.Command) error {
	if c.fillsModCache() {
		run.Writable = append(run.Writable, g.modCache())
		run.ReadOnly = append(run.ReadOnly, g.hostModCache()...)
		return nil
	}
	own := filepath.Join(g.Scratch, string(side), "go-mod")
	run.Writable, run.ReadOnly = append(run.Writable, own), append(run.ReadOnly, g.modCache())
	if g.Network != NetworkRegistries {
		run.ReadOnly = append(run.ReadOnly, g.hostModCache()...)
	}
	if g.goTools() != nil {
		run.Env = append(run.Env, "GOMODCACHE="+own, "GOFLAGS=-modcacherw")
	}
	return mkdirs(own)
}

// goEnv is the little that Go commands need to know; it is harmless to others.
func (g *Gate) goEnv(cache string, c command) []string {
	tools := g.goTools()
	if tools == nil {
		return c.env
	}
	env := []string{"GOCACHE=" + cache, "GOMODCACHE=" + g.modCache(), "GOENV=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off"}
	if c.stage == StageSetup {
		proxy := withoutUser(tools.proxy) // install scripts could read it
		for _, dir := range g.hostModCache() {
			proxy = "file://" + filepath.ToSlash(dir) + "," + proxy
		}
		env = append(env, "GOPROXY="+proxy, "GOSUMDB="+tools.sumDB, "GONOSUMDB="+tools.noSumDB, "GONOPROXY="+tools.noProxy, "GOPRIVATE="+tools.private)
		if c.fillsModCache() { // whatever commands before it have written into HOME
			env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull)
		}
	} else {
		env = append(env, "GOPROXY=off")
	}
	return append(env, c.env...)
}

// goEcosystem is Go, by its modules.
func goEcosystem() *ecosystem {
	return &ecosystem{
		name: "Go", byGit: true, units: "Go modules",
		hosts:    strings.Fields("proxy.golang.org sum.golang.org"),
		find:     findGoProjects,
		classes:  goClasses(),
		isTest:   func(name string) bool { return strings.HasSuffix(name, "_test.go") },
		isSource: isGoSource,
		steers:   steersGo,
		same:     sameTokens,
		adopt:    adoptGoTest,
	}
}

// isGoSource tells what the go command compiles, or hands to other compilers.
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
func findGoProjects(s *survey) []project {
	mods, problems := findModules(s.file, s.files)
	for _, p := range problems {
		s.note("%s", p)
	}
	var out []project
	for _, m := range mods {
		p := project{
			dir: m.dir, what: goWhat + m.path, why: []string{path.Join(m.dir, "go.mod")}, uses: m.replaces, always: m.workspace,
		}
		if m.noWork {
			p.env = []string{"GOWORK=off"}
		}
		if s.tools.Go == nil {
			p.missing = "no go command on this machine"
		} else {
			p.addGo(m, s.tools.Go.Race)
		}
		out = append(out, p)
	}
	return out
}

// addGo appends the commands that every Go module gets.
func (p *project) addGo(m goModule, race bool) {
	if !m.vendored {
		c := m.command(StageSetup, "mod", "download")
		c.network, c.needed = sandbox.NetworkHost, m.needs
		p.setup = append(p.setup, c)
	}
	// Compiling all dependencies and tests, also for the race detector, and
	// running nothing, puts them into the project's cache.
	modes := [][]string{nil}
	if race {
		modes = append(modes, []string{"-race"})
	}
	for _, mode := range modes {
		args := slices.Concat([]string{"list", "-e", "-export", "-test", "-deps", "-f={{with .Error}}{{.}}{{end}}"}, mode, []string{"./..."})
		c := m.command(StageWarm, args...)
		c.race = mode != nil
		p.warm = append(p.warm, c)
	}
	p.build = append(p.build, m.command(StageBuild, "build", "./..."))
	p.lint = append(p.lint, m.command(StageLint, "vet", "./..."))
	t := m.command(StageTest, "test", "-json", "./...")
	t.results = goResults()
	p.test = append(p.test, t)
}

// module is the module that a project of Go was made from, as far as its
// commands depend on it.
func (p project) module() goModule {
	return goModule{dir: p.dir, path: strings.TrimPrefix(p.what, goWhat), noWork: slices.Contains(p.env, "GOWORK=off")}
}

// A goModule is one go.mod of a tree.
type goModule struct {
	dir       string // in the repository, "." for its top
	path      string // module path
	vendored  bool
	workspace bool     // named by the go.work at the top
	replaces  []string // folders in the repository that it is built with
	noWork    bool     // there is a go.work that does not name it
	needs     bool     // it requires others
}

// findModules lists the modules of a tree and the problems met.
func findModules(read func(string) ([]byte, error), files []string) (mods []goModule, problems []string) {
	work, problems := workUses(read, files)
	for _, f := range files {
		if path.Base(f) != "go.mod" || ignoredDir(path.Dir(f)) {
			continue
		}
		data, err := read(f)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", f, err))
			continue
		}
		m := goModule{dir: path.Dir(f), path: modfile.ModulePath(data)}
		// ParseLax would leave replacements out. What cannot be parsed has none; the go command says why.
		if mod, err := modfile.Parse(f, data, nil); err == nil {
			m.needs = len(mod.Require) > 0
			for _, r := range mod.Replace {
				if strings.HasPrefix(r.New.Path, ".") {
					m.replaces = append(m.replaces, path.Join(m.dir, r.New.Path))
				}
			}
		}
		m.vendored = slices.Contains(files, path.Join(m.dir, "vendor/modules.txt"))
		m.workspace = slices.Contains(work, m.dir)
		m.noWork = work != nil && !m.workspace
		mods = append(mods, m)
	}
	return mods, problems
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

// ignoredDir tells folders that "./..." does not enter either.
func ignoredDir(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if part == "testdata" || part == "vendor" || part == "node_modules" || part != "." && strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return true
		}
	}
	return false
}

// readInTree reads a file of an untrusted tree: no link leads out of it.
func readInTree(root, name string) ([]byte, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.ReadFile(filepath.FromSlash(name))
}

// command is one call of the go command in a module.
func (m goModule) command(stage Stage, args ...string) command {
	c := command{stage: stage, unit: m.dir, text: "go " + strings.Join(args, " "), argv: append([]string{"go"}, args...)}
	if m.noWork {
		c.env = append(c.env, "GOWORK=off")
		c.text = "GOWORK=off " + c.text
	}
	if slices.Contains([]string{"build", "vet", "list"}, args[0]) {
		c.env = append(c.env, "GOFLAGS=-buildvcs=false") // a stamp of the harness's own clone is of no use
	}
	return c
}
