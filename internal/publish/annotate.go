package publish

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sorted"
)

const (
	annotationBatch = 50  // what GitHub takes in one request
	annotationMost  = 200 // what anyone looks at
	commandMost     = 10  // of a level, what Actions shows of one step
)

// A Command is an annotation in the log of an Actions step. Its text is plain; the
// writer escapes what the syntax needs.
type Command struct {
	Level   string // error, warning or notice
	File    string // empty: none
	Line    int    // 0: none
	Title   string
	Message string
}

// WorkflowCommands are the remarks of rep for the log, the worst first: at most ten
// of a level, as Actions shows no more. files are those of the change.
func WorkflowCommands(rep *report.Report, files []change.File) []Command {
	if rep == nil {
		return nil
	}
	var out []Command
	count := map[string]int{}
	known := filesKnown(rep, files)
	for _, r := range remarks(rep) {
		level := map[string]string{levelFailure: "error", levelWarning: "warning", levelNotice: "notice"}[r.level]
		if count[level]++; count[level] > commandMost {
			continue
		}
		c := Command{Level: level, Title: r.title, Message: r.message}
		if r.path == "" {
			if r.path, r.line = r.place(known); r.path == "" {
				r.path, r.line = r.printed()
			}
		}
		if inside(r.path) {
			c.File, c.Line = r.path, max(r.line, 0)
		}
		out = append(out, c)
	}
	return out
}

// Levels of an annotation.
const (
	levelFailure = "failure"
	levelWarning = "warning"
	levelNotice  = "notice"
)

// A remark is something that belongs to a place in the change, where it has one.
type remark struct {
	level          string
	path           string
	line           int
	title, message string
	details        string
	output         string // that may name the place
	test           string // file of the test that it is about, where that is known
}

// remarks returns the failing checks and the findings, the worst first.
func remarks(rep *report.Report) []remark {
	var out []remark
	tests := testFiles(rep)
	shown := slices.ContainsFunc(rep.Checks, func(c report.Check) bool {
		return (c.Kind == report.KindTest || c.Kind == report.KindBuild) && c.Result == report.ResultFail && c.Blames()
	})
	for _, c := range rep.Checks {
		suite := c.Kind == report.KindTest && c.Reproduction == report.NotRun // its tests have checks of their own, or the build says why
		if c.Result != report.ResultFail || c.Reproduction == report.PreExisting || c.Advises() || suite && shown {
			continue
		}
		lines := report.Excerpt(c.Actual)
		level := levelWarning
		if c.Blames() && c.Kind != report.KindLint && c.Support == report.Supported {
			level = levelFailure
		}
		out = append(out, remark{
			level: level, title: report.Line(c.Title, 200), message: message(c.Title, lines),
			details: strings.Join(report.Excerpt(c.Whole()), "\n"), output: c.Actual, test: tests[c.Test],
		})
	}
	for _, f := range rep.Findings {
		level := levelNotice
		switch f.Severity {
		case report.SeverityError:
			level = levelFailure
		case report.SeverityWarning:
			level = levelWarning
		}
		out = append(out, remark{
			level: level, path: f.Path, line: f.Line, title: report.Line(f.Title, 200), message: message(f.Title, report.Excerpt(f.Detail)),
			details: strings.Join(report.Excerpt(f.Repro), "\n"),
		})
	}
	order := []string{levelFailure, levelWarning, levelNotice}
	sorted.By(out, func(a, b remark) int {
		return cmp.Compare(slices.Index(order, a.level), slices.Index(order, b.level))
	})
	return out
}

// message is the text of a remark: GitHub wants one.
func message(title string, lines []string) string {
	if len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	return cmp.Or(report.Line(title, 500), "–")
}

// testFiles are the files of the tests that fail with the change, by their names.
func testFiles(rep *report.Report) map[string]string {
	out := map[string]string{}
	if e := rep.Expectations; e != nil {
		for _, x := range e.Regressed {
			if x.Test != "" && inside(x.Path) {
				out[x.Test] = x.Path
			}
		}
	}
	return out
}

// filesKnown are the files that the head is known to have: those of the change, and
// those of the tests that fail.
func filesKnown(rep *report.Report, files []change.File) map[string]bool {
	known := map[string]bool{}
	for _, name := range testFiles(rep) {
		known[name] = true
	}
	for _, f := range files {
		if inside(f.Path) {
			known[f.Path] = f.Status != change.Deleted
		}
	}
	return known
}

// annotations are the remarks that have a place in a file of the head. GitHub shows those
// outside of the change below it.
func annotations(rep *report.Report, files []change.File, secrets *redact.Redactor) []github.Annotation {
	known := filesKnown(rep, files)
	var out []github.Annotation
	seen := map[github.Annotation]bool{}
	for _, r := range remarks(rep) {
		if r.path == "" {
			r.path, r.line = r.place(known)
		}
		if !known[r.path] || r.line < 0 || r.line > maxLine {
			continue
		}
		line := max(r.line, 1)
		a := github.Annotation{
			Path: r.path, StartLine: line, EndLine: line, Level: r.level, Title: secrets.String(r.title),
			Message: secrets.String(r.message), RawDetails: secrets.String(r.details),
		}
		if seen[a] {
			continue
		}
		seen[a] = true
		if out = append(out, a); len(out) == annotationMost {
			break
		}
	}
	return out
}

const maxLine = 10_000_000

// inside returns a clean path in the repository.
func inside(p string) bool {
	return p != "" && p != "." && path.Clean(p) == p && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && report.Line(p, len(p)) == p
}

// place returns where an assertion failed: the first place in the test's own file that
// the output names, else the first in another known file. Test runners print paths from
// the folder of the test, so the end of a path is enough where only one file has it. A
// test whose file is known and whose line is not stands at the beginning of that.
func (r remark) place(known map[string]bool) (string, int) {
	all := report.Places(r.output)
	for _, p := range all {
		if known[r.test] && names(p.Path, r.test) {
			return r.test, p.Line
		}
	}
	for _, p := range all {
		var hits []string
		for name, there := range known {
			if there && names(p.Path, name) {
				hits = append(hits, name)
			}
		}
		if len(hits) == 1 {
			return hits[0], p.Line
		}
	}
	if known[r.test] {
		return r.test, 1
	}
	return "", 0
}

// printed is the first place in an output that reads as a path of the repository. It may
// be of no file that there is, which the log of a step does not mind.
func (r remark) printed() (string, int) {
	for _, p := range report.Places(r.output) {
		if inside(p.Path) && strings.Contains(p.Path, "/") {
			return p.Path, p.Line
		}
	}
	return "", 0
}

// names says whether a printed path is that of the file name, or its end.
func names(printed, name string) bool {
	return printed == name || !path.IsAbs(printed) && strings.HasSuffix(name, "/"+printed)
}
