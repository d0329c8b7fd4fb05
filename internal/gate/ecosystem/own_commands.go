package ecosystem

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	goTestTags    = pattern.New(`\bgo\s+test\b[^\n]*?\s-tags[=\s]+["']?([\w,]+)`)
	goBuildLine   = pattern.New(`(?m)^//(?:go:build|\s*\+build)\s+(.*)$`)
	cargoFeatures = pattern.New(`\bcargo\s+(?:nextest\s+run|test)\b[^\n]*?\s(--all-features|--features[=\s]+["']?[\w,/ -]+?["']?)(?:\s|$)`)
)

// ownCommands are the texts of a tree that say how a project in a folder is tested: its
// recipes, and the workflows.
func ownCommands(s *Survey, dir string) []string {
	var out []string
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile", "justfile", "Taskfile.yml"} {
		out = append(out, string(s.read(dir, name)))
	}
	for _, f := range s.files {
		if ok, err := path.Match(".github/workflows/*.y*ml", f); ok && err == nil {
			out = append(out, string(s.read(".", f)))
		}
	}
	return out
}

// tagged notes the files of tests of a Go module that are built with tags alone that the
// project's own commands set, and these commands are not run.
func (p *Project) tagged(s *Survey) {
	var tags []string
	for _, text := range ownCommands(s, p.Dir) {
		for _, m := range goTestTags.FindAllStringSubmatch(text, -1) {
			tags = append(tags, strings.Split(m[1], ",")...)
		}
	}
	if len(tags) == 0 {
		return
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	var files []string
	for _, f := range s.files {
		if !strings.HasSuffix(f, "_test.go") || !Inside(p.Dir, f) || IgnoredDir(path.Dir(f)) {
			continue
		}
		m := goBuildLine.FindSubmatch(s.read(".", f))
		if m != nil && slices.ContainsFunc(tags, func(tag string) bool { return wantsTag(string(m[1]), tag) }) {
			files = append(files, f)
		}
	}
	if len(files) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("its own commands build %s with -tags=%s, and they are not run without; \"commands: {test: go test -tags=%s ./...}\" in .github/ycbot.yml at the base runs them",
			Listed(files, 3), strings.Join(tags, ","), strings.Join(tags, ",")))
	}
}

// wantsTag says whether a build constraint has a tag, and not its absence.
func wantsTag(constraint, tag string) bool {
	for _, w := range strings.FieldsFunc(constraint, func(r rune) bool { return strings.ContainsRune(" ()&|,", r) }) {
		if w == tag {
			return true
		}
	}
	return false
}

// featured notes the features that the project's own commands have its tests built with.
func (p *Project) featured(s *Survey) {
	var all []string
	for _, text := range ownCommands(s, p.Dir) {
		for _, m := range cargoFeatures.FindAllStringSubmatch(text, -1) {
			all = append(all, strings.Join(strings.Fields(strings.Trim(m[1], `"'`)), " "))
		}
	}
	if len(all) == 0 || s.read(p.Dir, "Cargo.toml") == nil || !strings.Contains(string(s.read(p.Dir, "Cargo.toml")), "[features]") {
		return
	}
	slices.Sort(all)
	p.Notes = append(p.Notes, fmt.Sprintf("its own commands test it with %s, which is not done; \"commands: {test: cargo test %s}\" in .github/ycbot.yml at the base does",
		Listed(slices.Compact(all), 3), all[0]))
}

// runsTests is a call of a runner of tests, which ycbot makes by itself.
var runsTests = pattern.New(`\b(?:go\s+test|gotestsum|cargo\s+(?:nextest|test)|pytest|py\.test|unittest|tox|nox|(?:npm|yarn|pnpm|bun)\s+(?:run\s+)?test|node\s+(?:\S+\s+)*--test|jest|mocha|vitest|ava|tap|rspec|rake|minitest|phpunit|mix\s+test|mvnw?|gradlew?|ctest|meson\s+test|make|dotnet\s+test|swift\s+test)\b`)

// scripted notes the scripts that the target for tests of the project's folder runs beside the
// runner, as nothing else runs them.
func (p *Project) scripted(s *Survey) {
	if p.Target = TargetForTests(s, p.Dir); p.Target != "" {
		p.Own = append(p.Own, Command{Stage: StageTest, Unit: p.Dir, Text: p.Target, Eco: p.Eco.Name}.inShell())
	}
	for _, m := range makers() {
		file := s.first(p.Dir, m.files...)
		if file == "" {
			continue
		}
		for _, w := range CalledIn(TestRecipes(file, string(s.read(p.Dir, file)))) {
			name := path.Join(p.Dir, w)
			if s.present[name] && !slices.Contains(p.scripts, name) && !runsTests.Match(s.read(".", name)) {
				p.scripts = append(p.scripts, name)
			}
		}
		return
	}
}

// NotRun says which scripts the target for tests of the project's folder runs, and nothing
// else does; empty: none.
func (p *Project) NotRun() string {
	if len(p.scripts) == 0 {
		return ""
	}
	command := p.Target
	if p.Dir != "." {
		command = "cd " + p.Dir + " && " + command
	}
	return fmt.Sprintf("%q also runs %s, which is not run; \"commands: {test: %s}\" in .github/ycbot.yml at the base does", command, Listed(p.scripts, 3), command)
}
