package publish

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
)

const (
	annotationBatch = 50  // what GitHub takes in one request
	annotationMost  = 200 // what anybody looks at
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
// of a level, as Actions shows no more.
func WorkflowCommands(rep *report.Report) []Command {
	if rep == nil {
		return nil
	}
	var out []Command
	count := map[string]int{}
	for _, r := range remarks(rep) {
		level := map[string]string{levelFailure: "error", levelWarning: "warning", levelNotice: "notice"}[r.level]
		if count[level]++; count[level] > commandMost {
			continue
		}
		c := Command{Level: level, Title: r.title, Message: r.message}
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
	output         []string // that may name the place
}

// remarks returns the failing checks and the findings, the worst first.
func remarks(rep *report.Report) []remark {
	var out []remark
	for _, c := range rep.Checks {
		if c.Result != report.ResultFail || c.Reproduction == report.PreExisting || c.Advises() {
			continue
		}
		lines := report.Excerpt(c.Actual)
		level := levelWarning
		if c.Blames() && c.Kind != report.KindLint && c.Support == report.Supported {
			level = levelFailure
		}
		out = append(out, remark{
			level: level, title: report.Line(c.Title, 200), message: message(c.Title, lines),
			details: strings.Join(report.Excerpt(c.Command), "\n"), output: strings.Split(c.Actual, "\n"),
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
	slices.SortStableFunc(out, func(a, b remark) int {
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

// annotations are the remarks that have a place in files: GitHub refuses others with
// all that is sent beside them.
func annotations(rep *report.Report, files []change.File, secrets *redact.Redactor) []github.Annotation {
	changed := map[string]bool{}
	for _, f := range files {
		if f.Status != change.Deleted && inside(f.Path) {
			changed[f.Path] = true
		}
	}
	var out []github.Annotation
	seen := map[github.Annotation]bool{}
	for _, r := range remarks(rep) {
		if r.path == "" {
			r.path, r.line = place(r.output, changed)
		}
		if !changed[r.path] || r.line < 0 || r.line > maxLine {
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

// inside tells a clean path in the repository.
func inside(p string) bool {
	return p != "" && p != "." && path.Clean(p) == p && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") && report.Line(p, len(p)) == p
}

var placePattern = pattern.New(`(?:^|[\s("'])([\w./+@-]+\.\w+):(\d{1,7})\b`)

// place returns the first place in a changed file that an output names. Test runners
// print paths from the folder of the test, so the end of a path is enough where only
// one changed file has it.
func place(output []string, changed map[string]bool) (string, int) {
	for _, l := range output {
		if len(l) > 2000 {
			continue
		}
		for _, m := range placePattern.FindAllStringSubmatch(l, 4) {
			name, line := path.Clean(m[1]), 0
			if n, err := strconv.Atoi(m[2]); err == nil {
				line = n
			}
			var hits []string
			for p := range changed {
				if p == name || strings.HasSuffix(p, "/"+name) {
					hits = append(hits, p)
				}
			}
			if len(hits) == 1 && line > 0 {
				return hits[0], line
			}
		}
	}
	return "", 0
}
