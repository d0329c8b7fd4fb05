package native

import (
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Builds have no network: what CMake and Meson fetch as they configure is fetched by a setup. It may come
// from any host, so that there is none for a head that is not trusted.
func fetching(dir, text string) []ecosystem.Command {
	c := ecosystem.Command{Stage: results.StageSetup, Unit: dir, Network: sandbox.NetworkHost}.Reporting(text)
	c.Untrusted = func(results.Side) []ecosystem.Command { return nil }
	return []ecosystem.Command{c}
}

// cmakeFetches is what has CMake fetch sources (https://cmake.org/cmake/help/latest/module/FetchContent.html,
// https://github.com/cpm-cmake/CPM.cmake).
var cmakeFetches = pattern.New(`(?i)\b(?:FetchContent_(?:Declare|Populate)|CPM(?:Add|Find)Package|CPMDeclarePackage)\s*\(`)

// fetchedByCMake is the setup of a project that fetches sources: it configures once, in a folder that is
// thrown away. options are those by which the build finds what is there then.
func fetchedByCMake(s *ecosystem.Survey, dir, configure, with string) (setup []ecosystem.Command, options string) {
	if !slices.ContainsFunc(s.Below(dir), func(f string) bool {
		build := path.Base(f) == "CMakeLists.txt" || path.Ext(f) == ".cmake"
		return build && !ecosystem.IgnoredDir(path.Dir(f)) && cmakeFetches.Match(cmakeComment.ReplaceAll(s.Read(dir, f), nil))
	}) {
		return nil, ""
	}
	const folder = `"$HOME/.cache/ycbot-cmake"`
	const kept = " -DFETCHCONTENT_BASE_DIR=" + folder + " -DCPM_SOURCE_CACHE=" + folder + "/cpm"
	return fetching(dir, "rm -rf "+folder+" && "+configure+` "$(mktemp -d)"`+with+kept), kept + " $(test -d " + folder + " && echo -DFETCHCONTENT_FULLY_DISCONNECTED=ON)"
}

// fetchedByMeson is the setup of a project with wraps
// (https://mesonbuild.com/Wrap-dependency-system-manual.html). Where the machine has a dependency its wrap
// is not asked for, so that one which cannot be fetched is no fault yet.
func fetchedByMeson(s *ecosystem.Survey, dir string) []ecosystem.Command {
	if !slices.ContainsFunc(s.Below(dir), func(f string) bool { return path.Dir(f) == "subprojects" && path.Ext(f) == ".wrap" }) {
		return nil
	}
	return fetching(dir, "meson subprojects download || true")
}
