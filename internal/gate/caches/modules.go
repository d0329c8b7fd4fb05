package caches

import (
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// ModCache is the module cache of the project. No other project's commands see it: what lies
// in it may be private, and to have been fetched once is no right to be read by all.
func (s Store) ModCache() string { return filepath.Join(s.Project, "go-mod") }

// hostModCache is the operator's own module cache, a source for downloads. A head that is not
// trusted would name what it likes of it.
func (s Store) hostModCache(side results.Side, c ecosystem.Command) []string {
	if s.Go == nil || s.Go.ModCache == "" || s.Closed && (side != results.Base || !c.FillsModCache()) {
		return nil
	}
	dir := filepath.Join(s.Go.ModCache, "cache", "download")
	if _, err := os.Stat(dir); err != nil {
		return nil
	}
	return []string{dir}
}

// SetupModCache gives a setup command its module cache. Commands that run code of
// the change get one of their side, which ends with the run: what they write there,
// later runs would build with.
func (s Store) SetupModCache(side results.Side, c ecosystem.Command, run *sandbox.Command) error {
	run.ReadOnly = append(run.ReadOnly, s.hostModCache(side, c)...)
	if c.FillsModCache() {
		run.Writable = append(run.Writable, s.ModCache())
		return nil
	}
	own := filepath.Join(s.Scratch, string(side), "go-mod")
	run.Writable, run.ReadOnly = append(run.Writable, own), append(run.ReadOnly, s.ModCache())
	if s.Go != nil {
		run.Env = append(run.Env, "GOMODCACHE="+own, "GOFLAGS=-modcacherw")
	}
	return folder.Make(own)
}

// GoEnv is the little that Go commands need to know; it is harmless to others.
func (s Store) GoEnv(side results.Side, cache string, c ecosystem.Command) []string {
	tools := s.Go
	if tools == nil {
		return c.Env
	}
	env := []string{"GOCACHE=" + cache, "GOMODCACHE=" + s.ModCache(), "GOENV=off", "GOTOOLCHAIN=local", "GOTELEMETRY=off"}
	if c.Stage == results.StageSetup {
		proxy := ecosystem.WithoutUser(tools.Proxy) // install scripts could read it
		for _, dir := range s.hostModCache(side, c) {
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
