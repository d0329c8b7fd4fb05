package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// rubyEcosystem is Ruby, by its Gemfile, its gemspec or its tests.
func rubyEcosystem() *ecosystem {
	return &ecosystem{
		name: "Ruby", units: "Ruby projects",
		hosts:   strings.Fields("rubygems.org index.rubygems.org"),
		fetched: []string{".bundle/cache"},
		find:    findRubyProjects,
		classes: rubyClasses(),
		isTest: func(name string) bool {
			return path.Ext(name) == ".rb" && (rubyTestName.MatchString(path.Base(name)) || inFolder(name, "spec", "test"))
		},
		isSource: func(name string) bool {
			return slices.Contains([]string{".rb", ".rake", ".erb", ".gemspec"}, path.Ext(name))
		},
		steers: func(name string) bool {
			return slices.Contains([]string{"Gemfile", "Gemfile.lock", ".rspec"}, path.Base(name)) || path.Ext(name) == ".gemspec"
		},
		absent: func(output string) (string, bool) {
			m := rubyMissing.FindStringSubmatch(output)
			if m == nil {
				return "", false
			}
			return m[1] + m[2] + path.Base(m[3]), m[3] != ""
		},
	}
}

var (
	rubyTestName = pattern.New(`^(test_.*|.*_(test|spec))\.rb$`)
	rubyMissing  = pattern.New("undefined (?:local variable or )?method [`'](\\w+[?!=]?)'|uninitialized constant (?:\\w+::)*(\\w+)|cannot load such file -- (\\S+)")
)

// gemFolder is where packages for an untrusted head are, below HOME.
const gemFolder = ".bundle/cache/ycbot"

func findRubyProjects(s *survey) []project {
	dirs := s.dirs("Gemfile", ".rspec", "Rakefile")
	for _, f := range s.files {
		if dir := path.Dir(f); path.Ext(f) == ".gemspec" && !ignoredDir(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	var out []project
	for _, dir := range dirs {
		below := s.below(dir)
		under := func(folder, suffix string) bool {
			return slices.ContainsFunc(below, func(f string) bool {
				return strings.HasPrefix(f, folder+"/") && (strings.HasSuffix(f, suffix) || suffix == "_test.rb" && strings.HasPrefix(path.Base(f), "test_"))
			})
		}
		spec, test := under("spec", "_spec.rb"), under("test", "_test.rb")
		if spec || test {
			out = append(out, rubyProject(s, dir, spec, test))
		}
	}
	return out
}

func rubyProject(s *survey, dir string, spec, test bool) project {
	p := project{dir: dir, what: "Ruby project"}
	if dir != "." {
		p.what += " in " + dir
	}
	for _, n := range []string{"Gemfile", "Gemfile.lock", ".rspec", "Rakefile"} {
		if s.has(dir, n) {
			p.why = append(p.why, path.Join(dir, n))
		}
	}
	if !s.tools.has("ruby") {
		p.missing = "no ruby on this machine"
		return p
	}
	before := ""
	if s.has(dir, "Gemfile") {
		if !s.tools.has("bundle") {
			p.missing = "no bundler on this machine"
			return p
		}
		before = "bundle exec "
		c := command{stage: StageSetup, unit: dir, network: sandbox.NetworkHost}
		install := "BUNDLE_PATH=vendor/bundle BUNDLE_APP_CONFIG=.bundle bundle install --quiet"
		c = c.reporting(install)
		own := c
		// The head's installs from the packages that the base's has brought.
		c.stranger = func(side Side) []command {
			if side == Base {
				return []command{own.reporting(install + ` && mkdir -p "$HOME/` + gemFolder + `" && find vendor/bundle -path '*/cache/*.gem' -exec cp {} "$HOME/` + gemFolder + `" ';'`)}
			}
			return []command{own.reporting(`BUNDLE_CACHE_PATH="$HOME/` + gemFolder + `" ` + install + " --local")}
		}
		p.setup = append(p.setup, c)
		before = "BUNDLE_PATH=vendor/bundle " + before
	}
	if spec {
		if before == "" && !s.tools.has("rspec") {
			p.missing = "no rspec on this machine"
			return p
		}
		p.test = append(p.test, rubyCommand(dir, before+"rspec --format json --out "+resultsVar, "JSON of rspec", parseRSpec, func(files []string) string {
			return strings.Join(files, " ")
		}))
	}
	if test {
		pattern := []string{"test/**/*_test.rb", "test/**/test_*.rb"}
		p.test = append(p.test, rubyCommand(dir, before+`ruby -Ilib -Itest -e "$MINITEST"`, "results of minitest", parseMinitest, func(files []string) string {
			if len(files) == 0 {
				files = []string{quoted(pattern...)}
			}
			return "-- " + strings.Join(files, " ")
		}))
	}
	return p
}

// miniRunner loads files, or what patterns name, and writes a line of JSON for
// each test that ended. It knows both libraries that are called "test".
const miniRunner = `require "json"
out = File.open(ENV.delete("RESULTS"), "w")
begin
  require "minitest"
rescue LoadError
  abort "minitest is not installed"
end
klass = Class.new(Minitest::AbstractReporter) do
  define_method(:initialize) { |io| super(); @io = io }
  define_method(:record) do |r|
    name = r.respond_to?(:klass) ? r.klass : r.class.name
    at = r.respond_to?(:source_location) ? r.source_location.to_a.first.to_s : ""
    status = r.skipped? ? "skip" : (r.passed? ? "pass" : "fail")
    text = r.failures.map { |f| [f.class.name == "Minitest::Assertion" ? "" : f.class.name, f.message, (f.backtrace || []).first(5)].flatten.join("\n") }.join("\n")
    @io.puts JSON.generate(file: at, name: name + "#" + r.name, status: status, text: text, s: r.time); @io.flush
  end
  define_method(:passed?) { true }
end
files = ARGV.flat_map { |a| Dir.glob(a).sort }.uniq
ARGV.clear
Minitest.extensions << "results"
Minitest.define_singleton_method(:plugin_results_init) { |_| Minitest.reporter << klass.new(out) }
require "minitest/autorun"
files.each do |f|
  begin
    require File.expand_path(f)
  rescue LoadError, NameError, SyntaxError, StandardError => e
    out.puts JSON.generate(file: File.expand_path(f), name: "", status: "fail", text: e.full_message(highlight: false)); out.flush
    @broken = true
  end
end
Minitest.after_run { exit 1 if @broken }
`

func rubyCommand(dir, text, name string, parse func([]byte) ([]outcome, error), only func(files []string) string) command {
	build := func(c command, files []string) command {
		full := strings.TrimSpace(text + " " + only(files))
		if !strings.Contains(full, "$MINITEST") {
			return c.reporting(full)
		}
		c = c.reporting(`RESULTS="$RESULTS" `+full, "MINITEST="+quoted(miniRunner))
		c.text = strings.Replace(full, `-e "$MINITEST" --`, `-e 'ARGV.each { |a| Dir[a].each { |f| require File.expand_path(f) } }'`, 1)
		return c
	}
	c := build(command{stage: StageTest, unit: dir}, nil)
	c.results = &results{
		name: name, collect: documented(parse),
		narrow: func(c command, p part) (command, bool) {
			if len(p.packages) == 0 {
				return c, false
			}
			return build(c, fromUnit(c.unit, p.packages)), true
		},
	}
	if strings.Contains(text, "rspec") {
		c.results.probe = func(c command, p probing) (command, string) {
			d := c.reporting(fmt.Sprintf("%s --order rand:%d", c.text, p.seed))
			d.name = c.label()
			return d, "repeated and shuffled"
		}
	}
	return c
}

// parseRSpec reads the JSON of rspec. Files that cannot be loaded are only counted
// there, with a message each.
func parseRSpec(data []byte) ([]outcome, error) {
	var doc struct {
		Messages []string
		Examples []struct {
			FullDescription string `json:"full_description"`
			FilePath        string `json:"file_path"`
			Status          string
			RunTime         float64 `json:"run_time"`
			Exception       struct {
				Class, Message string
				Backtrace      []string
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of rspec: %w", err)
	}
	var out []outcome
	for _, e := range doc.Examples {
		o := outcome{pkg: strings.TrimPrefix(e.FilePath, "./"), name: e.FullDescription, elapsed: time.Duration(e.RunTime * float64(time.Second)), status: Skipped}
		switch e.Status {
		case "passed":
			o.status = Passed
		case "failed":
			o.status = Failed
			o.output = short(e.Exception.Class + ": " + e.Exception.Message + "\n" + strings.Join(e.Exception.Backtrace[:min(5, len(e.Exception.Backtrace))], "\n"))
		}
		out = append(out, o)
	}
	for _, m := range doc.Messages {
		if at := rspecLoad.FindStringSubmatch(m); at != nil {
			out = append(out, outcome{pkg: strings.TrimPrefix(at[1], "./"), status: Failed, output: short(plainText(m))})
		}
	}
	return out, nil
}

var rspecLoad = pattern.New(`An error occurred while loading (\S+?)\.?\s`)

func parseMinitest(data []byte) ([]outcome, error) {
	var out []outcome
	for line := range bytes.Lines(data) {
		var t struct {
			File, Name, Status, Text string
			S                        float64
		}
		if err := json.Unmarshal(line, &t); err != nil {
			return out, fmt.Errorf("results of minitest: %w", err)
		}
		out = append(out, outcome{pkg: t.File, name: t.Name, status: Status(t.Status), output: short(t.Text), elapsed: time.Duration(t.S * float64(time.Second))})
	}
	return out, nil
}
