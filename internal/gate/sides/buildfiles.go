package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// leaveBuilt lets files of CMake that the change adds, and that the rest of the head's takes in,
// stand with what they build, as nothing is built without them; what they say of tests goes. Moved
// sources of tests are there too, as the base has them, where the head's CMake names them.
func (r *Reader) leaveBuilt(touches []Touch) {
	head := r.cmakeFiles(results.Head, touches)
	r.followBuild(touches, head)
	added := func(t Touch) bool {
		return t.File.Status == change.Added && !t.Mixed && head[t.Path] != nil && (t.Class == compare.Test || t.Class == compare.Steering)
	}
	if !slices.ContainsFunc(touches, added) {
		return
	}
	base := r.cmakeFiles(results.Base, touches)
	for name, text := range base {
		if head[name] == nil && native.CMakeDeclaresTests(text) {
			return // what declares the base's tests would not be taken in
		}
	}
	inBase := func(program string) bool {
		for _, text := range base {
			if native.NamesWord(text, program) {
				return true
			}
		}
		return false
	}
	isTest := func(name string) bool {
		return slices.ContainsFunc(touches, func(t Touch) bool { return t.Path == name && t.Put.At != "" }) ||
			r.readBase(name) != nil && (native.IsTest(name) || native.IsTestProgram(name, r.readBase(name), r.readBase))
	}
	for i, t := range touches {
		if !added(t) || !takenInByOther(head, t.Path) {
			continue
		}
		rest, sources, ok := native.BuildPart(t.Path, head[t.Path], inBase, isTest)
		if !ok {
			continue
		}
		touches[i].Put = workspace.Put{Path: t.Path, Data: rest}
		for j, o := range touches { // of programs that the base does not have
			if slices.Contains(sources, o.Path) && o.File.Status == change.Added && o.Class == compare.Test && !o.Mixed {
				touches[j].Put = workspace.Put{Path: o.Path, From: r.Head.Commit}
			}
		}
	}
}

func takenInByOther(files map[string][]byte, name string) bool {
	for by, text := range files {
		if by != name && native.TakenInByCMake(text, path.Dir(by), name) {
			return true
		}
	}
	return false
}

// followBuild lets the base's version of a moved source of tests, and of what declares them, stand
// where the head's CMake names it, and where the base has it.
func (r *Reader) followBuild(touches []Touch, cmake map[string][]byte) {
	for i, t := range touches {
		f := t.File
		if t.Mixed || f.Status != change.Renamed || t.Path != f.Path || t.Put.At != "" || path.Base(f.Path) != path.Base(f.OldPath) {
			continue
		}
		source := t.Class == compare.Test && native.IsSource(t.Path) && builtFrom(cmake, t.Path)
		if source || native.IsCMake(t.Path) && r.readBase(t.Path) == nil && takenInByOther(cmake, t.Path) {
			touches[i].Put.At, touches[i].Built = f.OldPath, true
		}
	}
	for i, t := range touches { // beside what declares them
		if native.IsSource(t.Path) && t.Put.At != "" && slices.ContainsFunc(touches, func(o Touch) bool {
			return o.Built && native.IsCMake(o.Path) && path.Dir(o.Path) == path.Dir(t.Path) && path.Dir(o.Put.At) == path.Dir(t.Put.At)
		}) {
			touches[i].Built = true
		}
	}
}

// builtFrom says whether files of CMake name a source, from its folder or one above, or have a
// function that does, which its folder can call.
func builtFrom(cmake map[string][]byte, name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if text := cmake[path.Join(dir, "CMakeLists.txt")]; text != nil && native.NamesWord(text, strings.TrimPrefix(name, dir+"/")) {
			return true
		}
		if dir == "." || dir == "/" {
			break
		}
	}
	if cmake[path.Join(path.Dir(name), "CMakeLists.txt")] == nil {
		return false
	}
	for _, text := range cmake {
		if native.BuildsByVariable(text, path.Base(name)) {
			return true
		}
	}
	return false
}

// cmakeFiles are the files of CMake of a side, by path; none where the change has nothing to do with
// them.
func (r *Reader) cmakeFiles(side results.Side, touches []Touch) map[string][]byte {
	concerns := func(t Touch) bool {
		return native.IsCMake(t.Path) && t.File.Status == change.Added || t.File.Status == change.Renamed && (native.IsSource(t.Path) || native.IsCMake(t.Path))
	}
	if r.Plans[side] == nil || !slices.ContainsFunc(touches, concerns) {
		return nil
	}
	out := map[string][]byte{}
	for _, name := range r.Plans[side].Files {
		if !native.IsCMake(name) || ecosystem.IgnoredDir(path.Dir(name)) || len(out) > maxRead {
			continue
		}
		if src, err := ecosystem.ReadInTree(r.dir(side), name); err == nil {
			out[name] = append([]byte{}, src...)
		}
	}
	return out
}

// BuildFiles are the files that say how sources and tests are built alike, and that both sides have otherwise.
func (r *Reader) BuildFiles() []Touch {
	var out []Touch
	for _, f := range r.Change.Files {
		if v := r.Texts[f.Path]; v.Base != nil && v.Head != nil && languages.Describing(f.Path) != "" {
			out = append(out, Touch{Class: compare.Support, Path: f.Path, File: f, Put: workspace.Put{Path: f.Path, From: r.Base.Commit}})
		}
	}
	return out
}

// BuiltBy says whether a test is one of the project that such a file builds.
func (r *Reader) BuiltBy(t Touch, id results.ID, eco string) bool {
	return eco == languages.Describing(t.Path) && id.Command == "" && ecosystem.Inside(id.Unit, t.Path)
}
