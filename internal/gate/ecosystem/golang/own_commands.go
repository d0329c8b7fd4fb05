package golang

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	goTestTags  = pattern.New(`\bgo\s+test\b[^\n]*?\s-tags[=\s]+["']?([\w,]+)`)
	goBuildLine = pattern.New(`(?m)^//(?:go:build|\s*\+build)\s+(.*)$`)
)

// tagged notes the files of tests of a Go module that are built with tags alone that the
// project's own commands set, and these commands are not run.
func tagged(p *ecosystem.Project, s *ecosystem.Survey) {
	var tags []string
	for _, text := range ecosystem.OwnCommands(s, p.Dir) {
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
	for _, f := range s.Files {
		if !strings.HasSuffix(f, "_test.go") || !ecosystem.Inside(p.Dir, f) || ecosystem.IgnoredDir(path.Dir(f)) {
			continue
		}
		m := goBuildLine.FindSubmatch(s.Read(".", f))
		if m != nil && slices.ContainsFunc(tags, func(tag string) bool { return wantsTag(string(m[1]), tag) }) {
			files = append(files, f)
		}
	}
	if len(files) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("its own commands build %s with -tags=%s, and they are not run without; \"commands: {test: go test -tags=%s ./...}\" in .github/ycbot.yml at the base runs them",
			results.Listed(files, 3), strings.Join(tags, ","), strings.Join(tags, ",")))
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
