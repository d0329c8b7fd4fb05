// Package ruby is Ruby, tested by RSpec, Minitest or test-unit.
//
// Minitest and test-unit report no results that a program can read: they are run by a script that
// stands in ruby.go.
package ruby

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

func rubyClasses() ecosystem.ClassTable {
	return ecosystem.ClassTable{
		Steering: ecosystem.Called("Rakefile", "rakefile", "Rakefile.rb", "*.rake", ".rspec", ".rspec-local", ".simplecov"),
		Support:  ecosystem.Called("spec_helper.rb", "rails_helper.rb", "test_helper.rb", "minitest_helper.rb"),
		Test: func(name string, _ []byte) bool {
			return path.Ext(name) == ".rb" && (rubyTestName.MatchString(path.Base(name)) || ecosystem.InFolder(name, "spec", "test") && rubyTestStart.MatchString(path.Base(name)))
		},
		Holds:   ecosystem.WhereWritten([]string{"lib", "app"}, rubyHolds),
		Folders: []string{"spec", "test"},
		Origins: ecosystem.OriginsIn(map[string]func([]byte) ecosystem.Origins{
			"Gemfile": gemfileOrigins, "gems.rb": gemfileOrigins, "Gemfile.lock": gemLockOrigins, "gems.locked": gemLockOrigins,
		}),
	}
}

// New is Ruby, by its Gemfile, its gemspec or its tests.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: "Ruby", Units: "Ruby projects",
		Programs: strings.Fields("ruby bundle"),
		Runners:  strings.Fields("rspec rake"),
		Hosts:    strings.Fields("rubygems.org index.rubygems.org"),
		Fetched:  []string{".bundle/cache"},
		Find:     findRubyProjects,
		Classes:  rubyClasses(),
		IsTest: func(name string) bool {
			return path.Ext(name) == ".rb" && (rubyTestName.MatchString(path.Base(name)) || ecosystem.InFolder(name, "spec", "test"))
		},
		Forwarding: &ecosystem.Forwarding{Whole: forward},
		IsSource: func(name string) bool {
			return slices.Contains([]string{".rb", ".rake", ".erb", ".gemspec"}, path.Ext(name))
		},
		Asks: asks(),
		Steers: func(name string) bool {
			return slices.Contains([]string{"Gemfile", "Gemfile.lock", ".rspec"}, path.Base(name)) || path.Ext(name) == ".gemspec"
		},
		Older: ecosystem.OlderIn("Gemfile.lock", gemVersions),
		Absent: func(output string) (string, bool) {
			m := rubyMissing.FindStringSubmatch(output)
			if m == nil {
				return "", false
			}
			return m[1] + m[2] + path.Base(m[3]), m[3] != ""
		},
	}
}

var (
	rubyHolds     = pattern.New(`(?m)^\s*class\s+\S+\s*<\s*(?:::)?(?:Minitest::Test|Minitest::Spec|Test::Unit::TestCase|ActiveSupport::TestCase)\b|^\s*(?:RSpec\.)?describe\b.*\bdo\b`)
	rubyTestName  = pattern.New(`^(test_.*|.*_(test|spec))\.rb$`)
	rubyTestStart = pattern.New(`^(spec|tc)_`)
	rubyMissing   = pattern.New("undefined (?:local variable or )?method [`'](\\w+[?!=]?)'|uninitialized constant (?:\\w+::)*(\\w+)|cannot load such file -- (\\S+)")
)

// gemFolder is where packages for an untrusted head are, below HOME.
const gemFolder = ".bundle/cache/ycbot"

func findRubyProjects(s *ecosystem.Survey) []ecosystem.Project {
	dirs := s.Dirs("Gemfile", ".rspec", "Rakefile")
	for _, f := range s.Files {
		if dir := path.Dir(f); path.Ext(f) == ".gemspec" && !ecosystem.IgnoredDir(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	var out []ecosystem.Project
	for _, dir := range dirs {
		below, less := s.Below(dir), ""
		rakefile := s.Read(dir, s.First(dir, "Rakefile", "rakefile", "Rakefile.rb"))
		globs := rakeTests(rakefile)
		if len(globs) == 0 && s.Has(dir, "config/application.rb") {
			less = railsLeaves
			below = slices.DeleteFunc(slices.Clone(below), func(f string) bool { return rubyGlob(less, f) })
		}
		finds := func(globs ...string) bool {
			return slices.ContainsFunc(below, func(f string) bool {
				return slices.ContainsFunc(globs, func(g string) bool { return rubyGlob(g, f) })
			})
		}
		if rspecSpoken.Match(rakefile) || s.Has(dir, ".rspec") { // whose task has patterns, too
			globs = slices.DeleteFunc(globs, func(g string) bool { return strings.HasPrefix(g, "spec/") })
		}
		if len(globs) == 0 || !finds(globs...) {
			globs = []string{"test/**/*_test.rb", "test/**/test_*.rb", "test/**/spec_*.rb"}
		}
		// What Rake's own task runs in the folder of RSpec is no RSpec.
		spec := finds("spec/**/*_spec.rb") && !slices.ContainsFunc(globs, func(g string) bool { return strings.HasPrefix(g, "spec/") })
		if !finds(globs...) {
			globs = nil
		}
		if spec || globs != nil {
			out = append(out, rubyProject(s, dir, less, spec, globs))
		}
	}
	for _, p := range slices.Clone(out) {
		if p.Within == "" || slices.ContainsFunc(out, func(o ecosystem.Project) bool { return o.Dir == p.Within }) {
			continue
		}
		what := "Gemfile of Ruby projects"
		if p.Within != "." {
			what += " in " + p.Within
		}
		out = append(out, ecosystem.Project{
			Dir: p.Within, What: what, Why: []string{path.Join(p.Within, "Gemfile")}, Setup: []ecosystem.Command{bundleInstall(s, p.Within)},
		})
	}
	return out
}

// railsLeaves are the tests that "rails test" leaves out unless they are named: they want a browser, or are
// of another application (https://guides.rubyonrails.org/testing.html#running-tests).
const railsLeaves = "test/{system,dummy,fixtures}/**/*"

// rubyGlob says whether a pattern is one of a file, as Ruby's Dir.glob reads it: "**/" may
// stand for no folder.
func rubyGlob(glob, file string) bool {
	return slices.ContainsFunc(pattern.Braces(glob), func(g string) bool {
		return pattern.Glob(g, file) || pattern.Glob(strings.ReplaceAll(g, "**/", ""), file)
	})
}

var (
	rakeFiles   = pattern.New(`(?m)^[^#\n]*\.(?:pattern|test_files|test_globs)\s*=\s*([^#\n]+)`)
	rspecSpoken = pattern.New(`(?i)\brspec\b`)
	rakeGlob    = pattern.New(`["']((?:[\w.*?{},-]+/)*[\w.*?{},-]+\.rb)["']`)
)

// rakeTests are the patterns of files that Rake's tasks for tests load, by the text of a
// Rakefile (https://ruby.github.io/rake/Rake/TestTask.html).
func rakeTests(src []byte) []string {
	var out []string
	for _, m := range rakeFiles.FindAllSubmatch(src, -1) {
		for _, g := range rakeGlob.FindAllSubmatch(m[1], -1) {
			if glob := string(g[1]); !strings.Contains(glob, "..") && !slices.Contains(out, glob) {
				out = append(out, glob)
			}
		}
	}
	return out
}

// rubyProject is the project in dir; spec says that RSpec has tests there, and globs are the
// patterns of files that Minitest is given, none where it has none, but for those that less is one of.
func rubyProject(s *ecosystem.Survey, dir, less string, spec bool, globs []string) ecosystem.Project {
	p := ecosystem.Project{Dir: dir, What: "Ruby project"}
	if dir != "." {
		p.What += " in " + dir
	}
	for _, n := range []string{"Gemfile", "Gemfile.lock", ".rspec", "Rakefile"} {
		if s.Has(dir, n) {
			p.Why = append(p.Why, path.Join(dir, n))
		}
	}
	if !s.Tools.Has("ruby") {
		p.Missing = s.Tools.Lack("ruby")
		return p
	}
	before, gems := "", gemfileOf(s, dir, spec)
	if gems != "" {
		if !s.Tools.Has("bundle") {
			p.Missing = s.Tools.Lack("bundler")
			return p
		}
		before = "BUNDLE_PATH=" + bundlePath(s, gems) + " bundle exec " // which looks for a Gemfile above, too
		if gems == dir {
			p.Setup = append(p.Setup, bundleInstall(s, dir))
		} else {
			p.Within = gems
		}
	}
	rakefile := s.Read(dir, s.First(dir, "Rakefile", "rakefile", "Rakefile.rb"))
	if tasks := rakeBuild(rakefile); len(tasks) > 0 && (gems != "" || s.Tools.Has("rake")) {
		p.Build = append(p.Build, ecosystem.Command{Stage: results.StageBuild, Unit: dir}.Reporting(before+"rake "+strings.Join(tasks, " ")))
	}
	if task, differs := rakeTask(rakefile); task != "" && (gems != "" || s.Tools.Has("rake")) {
		p.Target, p.Differs = before+"rake "+task, differs
		p.OwnTests = append(p.OwnTests, ecosystem.Command{Stage: results.StageTest, Unit: dir, Text: p.Target}.InShell())
	}
	if own := rakeVariables(rakefile); own != "" {
		before = own + " " + before
	}
	if spec {
		if gems == "" && !s.Tools.Has("rspec") {
			p.Missing = s.Tools.Lack("rspec")
			return p
		}
		p.Test = append(p.Test, rubyCommand(dir, "", before+"rspec --format json --no-fail-fast --out "+ecosystem.ResultsVar, "JSON of rspec", results.Numbered(results.ParseRSpec), func(files []string) string {
			return strings.Join(files, " ")
		}))
	}
	if globs != nil {
		libs := ""
		if slices.ContainsFunc(globs, func(g string) bool { return strings.HasPrefix(g, "spec/") }) {
			libs = " -Ispec"
		}
		p.Test = append(p.Test, rubyCommand(dir, less, before+"ruby -Ilib -Itest"+libs+` -e "$MINITEST"`, "results of minitest", results.Numbered(results.ParseMinitest), func(files []string) string {
			if len(files) == 0 {
				files = []string{ecosystem.Quoted(globs...)}
			}
			return "-- " + strings.Join(files, " ")
		}))
	}
	return p
}

// gemfileOf is the folder whose Gemfile the tests of a project run with: its own, else of a gem, or of
// RSpec that it names, the next above, as where one Gemfile is of many gems. Empty: there is none.
func gemfileOf(s *ecosystem.Survey, dir string, spec bool) string {
	gem := slices.ContainsFunc(s.Below(dir), func(f string) bool { return path.Dir(f) == "." && path.Ext(f) == ".gemspec" })
	for at := dir; ; at = path.Dir(at) {
		switch {
		case s.Has(at, "Gemfile") && (at == dir || gem || spec && (rspecSpoken.Match(s.Read(at, "Gemfile")) || rspecSpoken.Match(s.Read(at, "Gemfile.lock")))):
			return at
		case at == "." || s.Has(at, "Gemfile"):
			return ""
		}
	}
}

// bundlePath is where bundler installs what a Gemfile names, from its folder.
func bundlePath(s *ecosystem.Survey, dir string) string {
	if s.Has(dir, "go.mod") { // to Go a vendor beside it would be where all dependencies are
		return ".bundle/gems"
	}
	return "vendor/bundle"
}

// bundleInstall is the setup of a folder with a Gemfile.
func bundleInstall(s *ecosystem.Survey, dir string) ecosystem.Command {
	bundle := bundlePath(s, dir)
	install := "BUNDLE_PATH=" + bundle + " BUNDLE_APP_CONFIG=.bundle bundle install --quiet"
	c := ecosystem.Command{Stage: results.StageSetup, Unit: dir, Network: sandbox.NetworkHost}.Reporting(install)
	own := c
	// The head's installs from the packages that the base's has brought.
	c.Untrusted = func(side results.Side) []ecosystem.Command {
		if side == results.Base {
			return []ecosystem.Command{own.Reporting(install + ` && mkdir -p "$HOME/` + gemFolder + `" && find ` + bundle + ` -path '*/cache/*.gem' -exec cp {} "$HOME/` + gemFolder + `" ';'`)}
		}
		return []ecosystem.Command{own.Reporting(`BUNDLE_CACHE_PATH="$HOME/` + gemFolder + `" ` + install + " --local")}
	}
	return c
}

// miniRunner loads files, or what patterns name, and writes a line of JSON for
// each test that ended, of Minitest and of test-unit
// (https://test-unit.github.io/test-unit/en/), whose own run at the end is turned off.
const miniRunner = `require "json"
out = File.open(ENV.delete("RESULTS"), "w")
minitest = begin
  require "minitest"
  true
rescue LoadError # bundler lets in what a Gemfile names
  begin
    require "test/unit"
  rescue LoadError
    abort "neither minitest nor test-unit is installed"
  end
  Test::Unit::AutoRunner.need_auto_run = false
end
klass = minitest && Class.new(Minitest::AbstractReporter) do
  define_method(:initialize) { |io| super(); @io = io }
  define_method(:record) do |r|
    name = r.respond_to?(:klass) ? r.klass : r.class.name
    at = $at.(name, r.name, r.respond_to?(:source_location) ? r.source_location.to_a.first.to_s : "")
    status = r.skipped? ? "skip" : (r.passed? ? "pass" : "fail")
    text = r.failures.map { |f| [f.class.name == "Minitest::Assertion" ? "" : f.class.name, f.message, (f.backtrace || []).first(5)].flatten.join("\n") }.join("\n")
    @io.puts JSON.generate(file: at, name: name + "#" + $plain.(name, r.name), status: status, text: text, s: r.time, line: (r.source_location.to_a.last.to_i rescue 0)); @io.flush
  end
  define_method(:report) { @io.puts JSON.generate(end: true); @io.flush }
  define_method(:passed?) { true }
end
files = ARGV.flat_map { |a| Dir.glob(a).sort }.uniq
ARGV.clear
if minitest
  Minitest.extensions << "results"
  Minitest.define_singleton_method(:plugin_results_init) { |_| Minitest.reporter << klass.new(out) }
  require "minitest/autorun"
end
# The file of a test: where it stands, else the one that brought its class, as methods of modules
# and of classes above may stand in a file that runs nothing.
loaded = files.map { |f| File.expand_path(f) }
brought = Hash.new { |h, k| h[k] = [] }
$at = lambda do |name, method, at|
  have = brought[name].select { |k, _| k.method_defined?(method) }
  next at if have.empty? || loaded.include?(at) && have.any? { |k, _| k.instance_method(method).owner == k }
  have.first.last
end
# Minitest::Spec puts the number of a test in its group before its name, which moves with others.
$plain = lambda do |name, method|
  brought[name].any? { |k, _| k.is_a?(Minitest::Spec::DSL) } ? method.sub(/\Atest_\d{4}_/, "") : method
end
seen = {}
files.each do |f|
  begin
    require File.expand_path(f)
  rescue LoadError, NameError, SyntaxError, StandardError => e
    out.puts JSON.generate(file: File.expand_path(f), name: "", status: "fail", text: e.full_message(highlight: false)); out.flush
    @broken = true
  end
  (minitest ? Minitest::Runnable.runnables : Test::Unit::TestCase::DESCENDANTS).each do |k|
    brought[k.name] << [k, File.expand_path(f)] unless seen[k]
    seen[k] = true
  end
end
if defined?(Test::Unit::AutoRunner)
  require "test/unit/collector/descendant"
  require "test/unit/ui/testrunnermediator"
  Test::Unit::AutoRunner.need_auto_run = false
  faults = Hash.new { |h, k| h[k] = [] }
  text = ->(list) { list.map { |f| f.respond_to?(:long_display) ? f.long_display : f.message }.join("\n") }
  bad = ->(f) { f.is_a?(Test::Unit::Failure) || f.is_a?(Test::Unit::Error) }
  runner = Test::Unit::UI::TestRunnerMediator.new(Test::Unit::Collector::Descendant.new.collect("tests"))
  runner.add_listener(Test::Unit::TestResult::FAULT) { |f| faults[f.test_name] << f }
  runner.add_listener(Test::Unit::TestCase::FINISHED_OBJECT) do |t|
    list = faults.delete(t.name) || []
    at = t.method(t.method_name).source_location.to_a.first.to_s rescue ""
    at = $at.(t.class.name, t.method_name, at)
    status = list.any?(&bad) ? "fail" : (list.empty? ? "pass" : "skip")
    out.puts JSON.generate(file: at, name: t.class.name + "#" + t.local_name, status: status, text: text.(list), s: t.elapsed_time.to_f); out.flush
  end
  @broken = true unless runner.run.passed?
  faults.each do |name, list| # of what is run once for a class
    next unless list.any?(&bad)
    out.puts JSON.generate(file: "", name: name, status: "fail", text: text.(list)); out.flush
  end
end
if minitest
  Minitest.after_run { exit 1 if @broken }
else
  out.puts JSON.generate(end: true); out.flush
  exit 1 if @broken
end
`

// rubyCommand runs tests; less are files that patterns do not stand for.
func rubyCommand(dir, less, text, name string, collect func(string) results.Collector, only func(files []string) string) ecosystem.Command {
	build := func(c ecosystem.Command, files []string) ecosystem.Command {
		full := strings.TrimSpace(text + " " + only(files))
		if !strings.Contains(full, "$MINITEST") {
			return c.Reporting(full)
		}
		runner, load := miniRunner, `ARGV.each { |a| Dir[a].each { |f| require File.expand_path(f) } }`
		if less != "" && files == nil {
			runner = strings.Replace(runner, "}.uniq\n", `}.uniq - Dir["`+less+"\"]\n", 1)
			load = `(Dir[*ARGV] - Dir["` + less + `"]).each { |f| require File.expand_path(f) }`
		}
		c = c.Reporting(`RESULTS="$RESULTS" `+full, "MINITEST="+ecosystem.Quoted(runner))
		c.Text = strings.Replace(full, `-e "$MINITEST" --`, "-e '"+load+"'", 1)
		return c
	}
	c := build(ecosystem.Command{Stage: results.StageTest, Unit: dir}, nil)
	c.Results = &ecosystem.Results{
		Name: name, Collect: collect,
		Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
			if len(p.Packages) == 0 {
				return c, false
			}
			return build(c, ecosystem.FromUnit(c.Unit, p.Packages)), true
		},
	}
	c.Results.PlantedBy(ecosystem.Copied(failingRuby))
	if strings.Contains(text, "rspec") {
		c.Results.Probe = func(c ecosystem.Command, p ecosystem.Probing) (ecosystem.Command, string) {
			d := c.Reporting(fmt.Sprintf("%s --order rand:%d", c.Text, p.Seed))
			d.Name = c.Label()
			return d, "repeated and shuffled"
		}
	}
	return c
}

// failingRuby is a test that must fail, in the style of a file.
func failingRuby(file, src, name string) string {
	switch class := ecosystem.Capital(name); {
	case strings.Contains(src, "Minitest::Test"):
		return "\n\nclass Test" + class + " < Minitest::Test\n  def test_" + name + "\n    assert_equal 1, 2\n  end\nend\n"
	case strings.Contains(src, "Test::Unit::TestCase"):
		return "\n\nclass Test" + class + " < Test::Unit::TestCase\n  def test_" + name + "\n    assert_equal 1, 2\n  end\nend\n"
	case strings.HasSuffix(file, "_spec.rb"):
		return "\n\nRSpec.describe(\"" + name + "\") { it(\"" + name + "\") { expect(1).to eq(2) } }\n"
	}
	return ""
}
