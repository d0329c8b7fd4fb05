package gate

import (
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// modCache is the module cache, one for all projects.
func (g *Gate) modCache() string { return filepath.Join(g.Shared, "go-mod") }

// hostModCache is the operator's own module cache, a source for downloads.
func (g *Gate) hostModCache() []string {
	tools := g.goTools()
	if tools == nil || tools.ModCache == "" {
		return nil
	}
	dir := filepath.Join(tools.ModCache, "cache", "download")
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return []string{dir}
}

// setupModCache gives a setup command its module cache. Commands that run code of
// the change get one of their side, which ends with the run: what they write there,
// later runs would build with.
func (g *Gate) setupModCache(side Side, c ecosystem.Command, run *sandbox.Command) error {
	if c.FillsModCache() {
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
func (g *Gate) goEnv(cache string, c ecosystem.Command) []string {
	tools := g.goTools()
	if tools == nil {
		return c.Env
	}
	env := []string{"GOCACHE=" + cache, "GOMODCACHE=" + g.modCache(), "GOENV=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off"}
	if c.Stage == StageSetup {
		proxy := ecosystem.WithoutUser(tools.Proxy) // install scripts could read it
		for _, dir := range g.hostModCache() {
			proxy = "file://" + filepath.ToSlash(dir) + "," + proxy
		}
		env = append(env, "GOPROXY="+proxy, "GOSUMDB="+tools.SumDB, "GONOSUMDB="+tools.NoSumDB, "GONOPROXY="+tools.NoProxy, "GOPRIVATE="+tools.Private)
		if c.FillsModCache() { // whatever commands before it have written into HOME
			env = append(env, "GIT_CONFIG_GLOBAL="+os.DevNull)
		}
	} else {
		env = append(env, "GOPROXY=off")
	}
	return append(env, c.Env...)
}

// goTools are those of Go, nil where there are none.
func (g *Gate) goTools() *GoToolchain {
	if g.Tools == nil {
		return nil
	}
	return g.Tools.Go
}
