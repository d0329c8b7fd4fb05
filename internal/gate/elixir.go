package gate

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// elixirEcosystem is Elixir, by mix.exs.
func elixirEcosystem() *ecosystem {
	return &ecosystem{
		name: "Elixir", units: "Elixir projects",
		hosts:   strings.Fields("hex.pm repo.hex.pm builds.hex.pm"),
		fetched: []string{".hex", ".mix", ".cache/rebar3"},
		find:    findElixirProjects,
		classes: elixirClasses(),
		isTest:  func(name string) bool { return path.Ext(name) == ".exs" && inFolder(name, "test") },
		isSource: func(name string) bool {
			return slices.Contains([]string{".ex", ".exs", ".eex", ".heex"}, path.Ext(name))
		},
		steers: func(name string) bool { return path.Base(name) == "mix.exs" || path.Base(name) == "mix.lock" },
		absent: func(output string) (string, bool) {
			m := elixirMissing.FindStringSubmatch(output)
			if m == nil {
				return "", false
			}
			return m[1] + m[2], false
		},
	}
}

var elixirMissing = pattern.New(`function (?:[\w.]+\.)?(\w+[?!]?)/\d+ is undefined|module (?:\w+\.)*(\w+) is not (?:available|loaded)`)

func findElixirProjects(s *survey) []project {
	var out []project
	dirs := s.dirs("mix.exs")
	for _, dir := range dirs {
		if slices.ContainsFunc(dirs, func(o string) bool { return o != dir && inside(o, dir) }) {
			continue // a part of an umbrella
		}
		p := project{dir: dir, what: "Elixir project", why: []string{path.Join(dir, "mix.exs")}}
		if dir != "." {
			p.what += " in " + dir
		}
		if !s.tools.has("mix") {
			p.missing = "no mix on this machine"
			out = append(out, p)
			continue
		}
		if s.has(dir, "mix.lock") {
			c := command{stage: StageSetup, unit: dir, network: sandbox.NetworkHost}
			p.setup = []command{c.reporting("mix local.hex --force --if-missing && mix local.rebar --force --if-missing && MIX_ENV=test mix deps.get")}
		}
		p.build = []command{command{stage: StageBuild, unit: dir}.reporting("MIX_ENV=test mix compile")}
		t := command{stage: StageTest, unit: dir}.reporting("mix test --trace --no-color 2>&1")
		t.text = "mix test --trace --no-color"
		t.results = &results{
			name:    "text of mix test --trace",
			collect: func(unit string) collector { return &document{unit: unit, text: true, files: true, parse: parseMix} },
			narrow: func(c command, p part) (command, bool) {
				if len(p.packages) == 0 {
					return c, false
				}
				d := c.reporting("mix test --trace --no-color " + strings.Join(fromUnit(c.unit, p.packages), " ") + " 2>&1")
				d.text = strings.TrimSuffix(d.text, " 2>&1")
				return d, true
			},
		}
		p.test = []command{t}
		out = append(out, p)
	}
	return out
}

var (
	mixModule = pattern.New(`^([\w.]+) \[(.+\.exs)\]$`)
	mixTest   = pattern.New(`^\s+\* (test .+?|doctest .+?|property .+?) \((\d+(?:\.\d+)?ms|skipped|excluded)\)(?: \[L#\d+\])?$`)
	mixFailed = pattern.New(`^\s+\d+\) (test .+|doctest .+|property .+) \(([\w.]+)\)$`)
)

// parseMix reads the text of "mix test --trace".
func parseMix(data []byte) ([]outcome, error) {
	var out []outcome
	files := map[string]string{} // by module
	file, failed := "", -1
	for line := range bytes.Lines(data) {
		text := plainText(string(line))
		if i := strings.LastIndexByte(strings.TrimRight(text, "\r\n"), '\r'); i >= 0 {
			text = text[i+1:] // a line that was written over
		}
		text = strings.TrimRight(text, "\r\n")
		if m := mixModule.FindStringSubmatch(text); m != nil {
			file, files[m[1]] = m[2], m[2]
			continue
		}
		if m := mixTest.FindStringSubmatch(text); m != nil && file != "" {
			o := outcome{pkg: file, name: m[1], status: Passed}
			if !strings.HasSuffix(m[2], "ms") {
				o.status = Skipped
			}
			out, failed = append(out, o), -1
			continue
		}
		if m := mixFailed.FindStringSubmatch(text); m != nil {
			failed = slices.IndexFunc(out, func(o outcome) bool { return o.name == m[1] && o.pkg == files[m[2]] })
			if failed >= 0 {
				out[failed].status = Failed
			}
			continue
		}
		if failed >= 0 {
			if strings.TrimSpace(text) == "" {
				failed = -1
				continue
			}
			out[failed].output = short(out[failed].output + strings.TrimSpace(text) + "\n")
		}
	}
	return out, nil
}
