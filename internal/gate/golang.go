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

// FindGo asks the go command in the search path of env, which is a program's
// environment in the form of os.Environ, how it is set up. It returns nil
// without an error where there is none.
func FindGo(ctx context.Context, env []string) (*GoToolchain, error) {
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

// hostModCache is the operator's own module cache, a source for downloads.
func (g *Gate) hostModCache() []string {
	if g.Go == nil || g.Go.modCache == "" {
		return nil
	}
	dir := filepath.Join(g.Go.modCache, "cache", "download")
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return []string{dir}
}

// goEnv is the little that Go commands need to know; it is harmless to others.
func (g *Gate) goEnv(cache string, c command) []string {
	if g.Go == nil {
		return c.env
	}
	env := []string{"GOCACHE=" + cache, "GOMODCACHE=" + g.modCache(), "GOTOOLCHAIN=local", "GOTELEMETRY=off"}
	if c.stage == StageSetup {
		proxy := g.Go.proxy
		for _, dir := range g.hostModCache() {
			proxy = "file://" + filepath.ToSlash(dir) + "," + proxy
		}
		env = append(env, "GOPROXY="+proxy, "GOSUMDB="+g.Go.sumDB, "GONOSUMDB="+g.Go.noSumDB, "GONOPROXY="+g.Go.noProxy, "GOPRIVATE="+g.Go.private)
	} else {
		env = append(env, "GOPROXY=off")
	}
	return append(env, c.env...)
}

// A goModule is one go.mod of a tree.
type goModule struct {
	dir       string // in the repository, "." for its top
	path      string // module path
	vendored  bool
	workspace bool     // named by the go.work at the top
	replaces  []string // folders in the repository that it is built with
	noWork    bool     // there is a go.work that does not name it
}

// findModules lists the modules of the tree at root and the problems met.
func findModules(root string, files []string) (mods []goModule, problems []string) {
	work, problems := workUses(root, files)
	for _, f := range files {
		if path.Base(f) != "go.mod" || ignoredDir(path.Dir(f)) {
			continue
		}
		data, err := readInTree(root, f)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", f, err))
			continue
		}
		m := goModule{dir: path.Dir(f), path: modfile.ModulePath(data)}
		// ParseLax would leave replacements out. What cannot be parsed has none; the go command says why.
		if mod, err := modfile.Parse(f, data, nil); err == nil {
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
func workUses(root string, files []string) ([]string, []string) {
	if !slices.Contains(files, "go.work") {
		return nil, nil
	}
	data, err := readInTree(root, "go.work")
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

// chooseModules splits modules into those that the changed paths can affect and
// those that they cannot. The top one and those of the workspace always count.
func chooseModules(mods []goModule, changed []string) (chosen, left []goModule) {
	take := map[string]bool{}
	for _, m := range mods {
		take[m.dir] = m.dir == "." || m.workspace
	}
	for _, p := range changed {
		if m, ok := owner(mods, p); ok {
			take[m.dir] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, m := range mods {
			for _, r := range m.replaces {
				if take[r] && !take[m.dir] {
					take[m.dir], grown = true, true
				}
			}
		}
	}
	for _, m := range mods {
		if take[m.dir] {
			chosen = append(chosen, m)
		} else {
			left = append(left, m)
		}
	}
	return chosen, left
}

// owner returns the module whose folder holds p, the innermost one.
func owner(mods []goModule, p string) (goModule, bool) {
	best, found := goModule{}, false
	for _, m := range mods {
		if m.dir == "." || p == m.dir || strings.HasPrefix(p, m.dir+"/") {
			if !found || len(m.dir) > len(best.dir) || best.dir == "." {
				best, found = m, true
			}
		}
	}
	return best, found
}

// goCommand is one call of the go command in a module.
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
