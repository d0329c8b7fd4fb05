package reproduce

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Words with which programs say that something is not there, or that what they
// were given does not compile against it, or that they ran no test or some. What absent
// finds is said by interpreters and shells, hardly by a project of what it was asked for.
var (
	notThere   = pattern.New(`(?i)no such file|cannot open|can't open|cannot find|could not find|can't find|not found|does not exist|is not in std|no module named|cannot import`)
	notBuilt   = pattern.New(`(?m)^\S+:\d+:\d+: .*(?:undefined|unknown field|too many arguments|not enough arguments|missing method)|\[(?:build|setup) failed\]|^error\[E\d+\]|error TS\d+`)
	noTests    = pattern.New(`(?im)\[no tests to run\]|\bno tests? (?:ran|found|files? found)\b|\b(?:running|ran|collected) 0 (?:tests|items)\b|\b0 (?:passing|examples)\b|^(?:#|ℹ) tests 0$|^Tests: +\d+ skipped, \d+ total$`)
	someTests  = pattern.New(`(?im)\b(?:running|ran) [1-9]\d* tests?\b|\b[1-9]\d* (?:passing|passed|failing|failed|examples?)\b|^(?:#|ℹ) tests [1-9]|^ok[ \t]+\S+[ \t]+\S+$|^\s*--- (?:PASS|FAIL)`)
	absent     = pattern.New(`(?i)no such file|cannot find (?:module|package|symbol)|is not in std|no module named|cannot import name|cannot load such file|could not find or load main class|unable to access jarfile|\b(?:ClassNotFoundException|NoClassDefFoundError)\b|error while loading shared libraries|does not provide an export|has no attribute '|unexpected keyword argument|is not a function\b|\bis not defined\b|uninitialized constant|undefined (?:method|reference|function)|could(?:n't| not) resolve host`)
	unrunnable = []int{126, 127} // what shells end with when a command is not there or is no program
)

// lacks says whether a run failed for want of something that another run of the
// same command had: its exit code or output says so, and the other's does not.
// Where names are given, words for what is not there count only in a line with
// one of them.
func (j Judge) lacks(r, had evidence.Record, names []string) bool {
	if r.Status() == 0 || slices.Contains(unrunnable, had.Exit) {
		return false
	}
	if slices.Contains(unrunnable, r.Exit) {
		return true
	}
	return lacking(wrote(j.Dir, r), wrote(j.Dir, had), names)
}

// lacking is lacks for what two runs wrote.
func lacking(mine, its string, names []string) bool {
	if notBuilt.MatchString(mine) && !notBuilt.MatchString(its) {
		return true
	}
	if noTests.MatchString(mine) && !someTests.MatchString(mine) && someTests.MatchString(its) {
		return true // a test of the other run is not there
	}
	if notThere.MatchString(its) {
		return false
	}
	for line := range strings.Lines(mine) {
		named := names == nil || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(line, n) })
		if named && notThere.MatchString(line) {
			return true
		}
	}
	return false
}

// idle says whether a run shows nothing of what another run of the same command shows:
// it says that the probe did not run or did not find what it calls, and the other does not,
// however it ended. What the check expects to be said does not count.
func (j Judge) idle(r, other evidence.Record, expected string) bool {
	if slices.Contains(unrunnable, r.Exit) && !slices.Contains(unrunnable, other.Exit) {
		return true
	}
	mine, its, expected := wrote(j.Dir, r), wrote(j.Dir, other), fold(expected)
	for _, p := range []*pattern.Pattern{ownFault, notBuilt, absent} {
		if p.MatchString(its) {
			continue
		}
		for _, said := range p.FindAllString(mine, 50) {
			if !strings.Contains(expected, strings.Trim(fold(said), " :'")) {
				return true
			}
		}
	}
	return false
}

// missesWord says whether a run names something as missing that only the head has.
func (j Judge) missesWord(r evidence.Record, g Grounds) bool {
	return slices.ContainsFunc(missed.FindAllStringSubmatch(wrote(j.Dir, r), mostNames), func(m []string) bool {
		return slices.Contains(g.Words, strings.TrimLeft(m[1], "-"))
	})
}

// added lists the names of files that only the head has.
func added(files []change.File) []string {
	names := []string{}
	for _, f := range files {
		if f.Status == change.Added || f.Status == change.Renamed || f.Status == change.Copied {
			name := path.Base(f.Path)
			names = append(names, name)
			if stem := strings.TrimSuffix(name, path.Ext(name)); len(stem) > 3 {
				names = append(names, stem)
			}
		}
	}
	return names
}
