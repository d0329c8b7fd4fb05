package sides

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

var (
	// setsPath is where a script or a Makefile says in which folders programs are found.
	setsPath = pattern.New(`(?m)\bPATH[ \t]*[:+?]?=`)
	// programName is what a program of the machine is called.
	programName = pattern.New(`^[A-Za-z0-9][\w.+-]*$`)
	// ofShell are commands that a shell has itself, so that no program of their name is asked for.
	ofShell = strings.Fields("alias bg break case cd command continue do done echo elif else esac eval exec exit export false fc fg fi for getopts hash if in jobs kill let local printf pwd read readonly return set shift source test then times trap true type ulimit umask unalias unset until wait while")
)

// standsForProgram says whether an executable file that the change brings is called as a program of the machine that
// scripts or recipes of tests of the base call: some of these say themselves where programs are found, and neither
// the base nor a function of its scripts has the name.
func (r *Reader) standsForProgram(ctx context.Context, name string) bool {
	called := path.Base(name)
	if !programName.MatchString(called) || slices.Contains(ofShell, called) || r.Plans[results.Base] == nil || !r.executable(ctx, name) ||
		slices.ContainsFunc(r.Plans[results.Base].Files, func(f string) bool { return path.Base(f) == called }) {
		return false
	}
	word := regexp.QuoteMeta(called)
	calls := regexp.MustCompile("(?m)(?:^[ \\t@+-]*|[;&|({!`]\\s*|\\b(?:then|else|do|if|while|until|xargs|exec|env|command|time)\\s+)(?:\\w+=\\S*\\s+)*" + word + "(?:[\\s;|&)`]|$)")
	declares := regexp.MustCompile(`(?m)^\s*(?:function\s+` + word + `\b|` + word + `\s*\(\s*\))`)
	some, found := false, false
	for _, text := range r.runTexts() {
		if declares.MatchString(text) {
			return false
		}
		some, found = some || calls.MatchString(text), found || setsPath.MatchString(text)
	}
	return some && found
}

// runTexts are the scripts of tests of the base, with what they take in and what its test commands call, and the
// recipes and commands of its tests.
func (r *Reader) runTexts() []string {
	var out []string
	programs, seen := r.programsOfBase(), map[string]bool{}
	take := func(f *baseSource) {
		if !seen[f.name] {
			seen[f.name], out = true, append(out, r.textOf(f))
		}
	}
	for _, f := range programs {
		if ofTests(f.name) || r.calledByTests()[f.name] {
			take(f)
		}
	}
	for i := 0; i < len(out) && i < maxScripts; i++ { // what they take in
		for _, f := range programs {
			if strings.Contains(out[i], path.Base(f.name)) && classes.IsSourcedIn(out[i], f.name) {
				take(f)
			}
		}
	}
	for _, name := range r.Plans[results.Base].Files {
		if isMakefile(name) && !ecosystem.IgnoredDir(path.Dir(name)) && len(out) < maxRead {
			text := string(r.readBase(name))
			out = append(out, ecosystem.TestRecipes(path.Base(name), text), strings.Join(setsPath.FindAllString(text, -1), "\n"))
		}
	}
	for _, c := range r.Plans[results.Base].Test {
		out = append(out, c.Text)
	}
	return out
}

// executable says whether the head has a file that can be run, or a link, at a path.
func (r *Reader) executable(ctx context.Context, name string) bool {
	entries, err := r.Mirror.Files(ctx, r.Head.Commit)
	if err != nil {
		return false
	}
	i, ok := slices.BinarySearchFunc(entries, name, func(e objects.Entry, name string) int { return strings.Compare(e.Path, name) })
	return ok && (entries[i].Mode == "100755" || entries[i].Mode == "120000")
}
