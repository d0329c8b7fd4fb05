// Package elixir is Elixir, by its mix projects.
//
// It is a short example of an ecosystem that reports each test.
package elixir

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

var elixirHolds = pattern.New(`(?m)^\s*use\s+ExUnit\.Case\b`)

func elixirClasses() ecosystem.ClassTable {
	mixed := ecosystem.MixedBy(map[string]*ecosystem.Mixture{"mix.exs": {Class: compare.Steering, Merge: ecosystem.MergeLines(saysMixTests)}})
	return ecosystem.ClassTable{
		Support: ecosystem.Called("test_helper.exs"),
		Test: func(name string, _ []byte) bool {
			return strings.HasSuffix(name, "_test.exs") && ecosystem.InFolder(name, "test")
		},
		Holds:   ecosystem.WhereWritten([]string{"lib"}, elixirHolds),
		Folders: []string{"test"},
		Origins: ecosystem.OriginsIn(map[string]func([]byte) ecosystem.Origins{"mix.exs": mixOrigins}),
		Mixed: func(name string) *ecosystem.Mixture {
			if ecosystem.InFolder(name, "config") && slices.Contains([]string{"config.exs", "runtime.exs"}, path.Base(name)) {
				return &ecosystem.Mixture{Class: compare.Steering, Merge: mergeConfig}
			}
			return mixed(name)
		},
	}
}

// mixTests are the lines of a mix.exs that say what tests are, and what is compiled for them
// (https://hexdocs.pm/mix/Mix.Tasks.Test.html).
var mixTests = pattern.New(`\b(?:test_\w+|elixirc_paths|erlc_paths|preferred_(?:cli_)?env\w*|consolidate_protocols|elixirc_options|start_permanent|build_per_environment)\s*[:(]|:test\b|"test\b|\btest:`)

var (
	mixNeed = pattern.New(`\{\s*:(\w+)\s*,([^{}\n]*)\}`)
	mixFrom = pattern.New(`\b(?:path|git|github):\s*"([^"]+)"|\b(in_umbrella):\s*true`)
)

// mixOrigins reads the dependencies of a mix.exs (https://hexdocs.pm/mix/Mix.Tasks.Deps.html).
func mixOrigins(src []byte) ecosystem.Origins {
	out := ecosystem.Origins{Of: map[string]string{}}
	for _, m := range mixNeed.FindAllStringSubmatch(string(src), -1) {
		from := ""
		if f := mixFrom.FindStringSubmatch(m[2]); f != nil {
			from = f[1] + f[2]
		}
		out.Add(m[1], from)
	}
	return out
}

// saysMixTests says whether a line of a mix.exs is one of them, and not a dependency.
func saysMixTests(line string) bool {
	return mixTests.MatchString(line) && !strings.Contains(line, "only:")
}

var (
	exampleOf = pattern.New(`^doctest ([A-Z][\w.]*)\.(\w+[?!]?)(?:\[\d+\])?$`)
	defines   = pattern.New(`(?m)^\s*(?:def|defmacro|defguard|defdelegate)\s+(\w+[?!]?)`)
	moduleIs  = pattern.New(`(?m)^\s*defmodule\s+([\w.]+)`)
)

// ExampleOf is the module and the function that an example of documentation is of, by the name of its
// test; no function: it is of none.
func ExampleOf(test string) (module, function string) {
	if m := exampleOf.FindStringSubmatch(test); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// Defines says whether a source has a module, and a function of that name.
func Defines(src []byte, module, function string) bool {
	has := func(re *pattern.Pattern, name string) bool {
		return slices.ContainsFunc(re.FindAllStringSubmatch(string(src), -1), func(m []string) bool { return m[1] == name })
	}
	return has(moduleIs, module) && has(defines, function)
}

// New is Elixir, by mix.exs.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: "Elixir", Units: "Elixir projects",
		Programs: strings.Fields("elixir mix"),
		Hosts:    strings.Fields("hex.pm repo.hex.pm builds.hex.pm"),
		Fetched:  []string{".hex", ".mix", ".cache/rebar3"},
		Find:     findElixirProjects,
		Classes:  elixirClasses(),
		IsTest:   func(name string) bool { return path.Ext(name) == ".exs" && ecosystem.InFolder(name, "test") },
		IsSource: func(name string) bool {
			return slices.Contains([]string{".ex", ".exs", ".eex", ".heex"}, path.Ext(name))
		},
		Steers: func(name string) bool { return path.Base(name) == "mix.exs" || path.Base(name) == "mix.lock" },
		Asks: []ecosystem.Asking{{
			Tool: "Elixir", Program: "elixir", In: ecosystem.Named("mix.exs"),
			Version: ecosystem.WrittenAs(pattern.New(`(?m)^[^#\n]*\belixir:\s*"([^"]+)"`)),
			Refuses: pattern.New(`You're trying to run :\w+ on Elixir v`),
		}},
		Absent: func(output string) (string, bool) {
			if m := elixirModule.FindStringSubmatch(output); m != nil { // of which the function is said to be missing, too
				return m[1], false
			}
			if m := elixirMissing.FindStringSubmatch(output); m != nil {
				return m[1], false
			}
			return "", false
		},
	}
}

var (
	elixirModule  = pattern.New(`module (?:\w+\.)*(\w+) is not (?:available|loaded)`)
	elixirMissing = pattern.New(`function (?:[\w.]+\.)?(\w+[?!]?)/\d+ is undefined`)
)

// mixApps is the folder in which an umbrella has its parts, in its mix.exs, and mixApp what one is called.
var (
	mixApps = pattern.New(`(?m)^[^#\n]*\bapps_path:\s*"([^"]+)"`)
	mixApp  = pattern.New(`(?m)^[^#\n]*\bapp:\s*:(\w+)`)
)

// umbrella are the folders of the applications of a project, by their names; nil: it is no umbrella.
func umbrella(s *ecosystem.Survey, dir string) map[string]string {
	at := mixApps.FindSubmatch(s.Read(dir, "mix.exs"))
	if at == nil {
		return nil
	}
	out := map[string]string{}
	for _, f := range s.Below(dir) {
		folder := path.Dir(f)
		if path.Base(f) != "mix.exs" || path.Dir(folder) != path.Clean(string(at[1])) {
			continue
		}
		name := path.Base(folder)
		if m := mixApp.FindSubmatch(s.Read(dir, f)); m != nil {
			name = string(m[1])
		}
		out[name] = folder
	}
	return out
}

func findElixirProjects(s *ecosystem.Survey) []ecosystem.Project {
	var out []ecosystem.Project
	dirs := s.Dirs("mix.exs")
	for _, dir := range dirs {
		if slices.ContainsFunc(dirs, func(o string) bool { return o != dir && ecosystem.Inside(o, dir) }) {
			part := slices.ContainsFunc(dirs, func(o string) bool {
				m := mixApps.FindSubmatch(s.Read(o, "mix.exs"))
				return m != nil && path.Dir(dir) == path.Join(o, string(m[1]))
			})
			if part || !s.Apart(dir, func(name string) bool {
				return strings.HasPrefix(name, "test/") && strings.HasSuffix(name, "_test.exs")
			}) {
				continue
			}
		}
		p := ecosystem.Project{Dir: dir, What: "Elixir project", Why: []string{path.Join(dir, "mix.exs")}}
		if dir != "." {
			p.What += " in " + dir
		}
		if !s.Tools.Has("mix") {
			p.Missing = s.Tools.Lack("mix")
			out = append(out, p)
			continue
		}
		if s.Has(dir, "mix.lock") {
			c := ecosystem.Command{Stage: results.StageSetup, Unit: dir, Network: sandbox.NetworkHost}
			p.Setup = []ecosystem.Command{c.Reporting("mix local.hex --force --if-missing && mix local.rebar --force --if-missing && MIX_ENV=test mix deps.get")}
		}
		p.Build = []ecosystem.Command{ecosystem.Command{Stage: results.StageBuild, Unit: dir}.Reporting("MIX_ENV=test mix compile")}
		parse, paths := results.ParseMix, true
		apps := umbrella(s, dir)
		if apps != nil {
			parse = results.ParseUmbrella(apps)
			for app, folder := range apps { // mix knows the files of no other folder from the top
				paths = paths && folder == "apps/"+app
			}
		}
		text := "mix test --trace --no-color"
		if slices.ContainsFunc(s.Below(dir), func(f string) bool {
			return path.Base(f) == "test_helper.exs" && stopsMix.Match(s.Read(dir, f))
		}) {
			text += " --max-failures 1000000000"
		}
		t := ecosystem.Command{Stage: results.StageTest, Unit: dir}.Reporting(text + " 2>&1")
		t.Text = text
		t.Results = &ecosystem.Results{
			Name:    "text of mix test --trace",
			Collect: results.TextByFile(parse),
			Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
				if len(p.Packages) == 0 || !paths {
					return c, false
				}
				files := ecosystem.FromUnit(c.Unit, p.Packages)
				for i, f := range files {
					if apps != nil {
						files[i] = strings.TrimPrefix(f, "./")
					}
				}
				d := c.Reporting(text + " " + strings.Join(files, " ") + " 2>&1")
				d.Text = strings.TrimSuffix(d.Text, " 2>&1")
				return d, true
			},
		}
		t.Results.PlantedBy(ecosystem.Copied(failingMix))
		p.Test = []ecosystem.Command{t}
		out = append(out, p)
	}
	return out
}

// stopsMix is a setting of ExUnit by which it stops at a failure.
var stopsMix = pattern.New(`\bmax_failures:`)

// failingMix is a test that must fail, in a module that no other file has.
func failingMix(file, src, name string) string {
	if !strings.Contains(src, "ExUnit.Case") {
		return ""
	}
	module := ecosystem.Capital(name) + strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c
		}
		return -1
	}, file) + "Test"
	return "\n\ndefmodule " + module + " do\n  use ExUnit.Case\n\n  test \"" + name + "\" do\n    assert 1 == 2\n  end\nend\n"
}
