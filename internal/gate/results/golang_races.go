package results

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Bounds for what is kept of reports of the race detector.
const (
	maxRaces     = 50
	maxRaceLines = 400
)

// A RaceReport is one report of Go's race detector
// (https://go.dev/doc/articles/race_detector, "Report format").
type RaceReport struct {
	Id     ID // the test that ran
	Text   string
	Frames []RaceFrame
}

// A RaceFrame is one line of code in a stack of a report.
type RaceFrame struct {
	File string // as it was compiled; in the repository, once its tree is known
	Line int
	// Access says that the stack is that of one of the two accesses; the others say
	// where their goroutines began.
	Access bool
	stack  int  // of the report
	Top    bool // the first of its stack that is in the repository
}

// A RaceWatch passes results on and keeps the reports of the race detector.
type RaceWatch struct {
	Collector
	part    []byte
	open    map[string]*RaceReport // being put together, by package
	Reports []RaceReport
	unit    string
}

// Write implements io.Writer.
func (w *RaceWatch) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if len(w.part)+len(line) <= maxLine {
			w.part = append(w.part, line...)
		}
		if strings.HasSuffix(line, "\n") {
			w.line(w.part)
			w.part = w.part[:0]
		}
	}
	return w.Collector.Write(p)
}

const (
	raceBegins = "WARNING: DATA RACE\n"
	raceEnds   = "==================\n"
)

var (
	raceAt     = pattern.New(`^\s+(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?\s*$`)
	raceAccess = pattern.New(`^(?:Previous )?(?:atomic )?(?:[Rr]ead|[Ww]rite) (?:at|of|by) `)
)

// line takes an event of "go test -json".
func (w *RaceWatch) line(line []byte) {
	var e goEvent
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &e) != nil || e.Action != "output" {
		return
	}
	now := w.open[e.Package]
	switch {
	case strings.HasSuffix(e.Output, raceBegins): // what the test printed without ending its line is before it
		if len(w.Reports) < maxRaces {
			w.open[e.Package] = &RaceReport{Id: ID{Unit: w.unit, Package: e.Package, Test: e.Test}, Text: raceBegins}
		}
	case now == nil:
	case e.Output == raceEnds || strings.Count(now.Text, "\n") > maxRaceLines:
		now.read()
		w.Reports = append(w.Reports, *now)
		delete(w.open, e.Package)
	default:
		now.Text += e.Output
	}
}

// read finds the lines of code in a report. Each of its stacks has a line above it that
// is not indented.
func (r *RaceReport) read() {
	access, stack := false, 0
	for line := range strings.Lines(r.Text) {
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " ") {
			access, stack = raceAccess.MatchString(line), stack+1
		}
		if m := raceAt.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[2])
			r.Frames = append(r.Frames, RaceFrame{File: m[1], Line: n, Access: access, stack: stack})
		}
	}
}

// In names the files of reports from the top of the tree in which they were compiled,
// and finds the first line of each stack that lies in it.
func (w *RaceWatch) In(dir string) {
	for i := range w.Reports {
		r := &w.Reports[i]
		r.Text = Clean(r.Text, dir)
		found := map[int]bool{} // by stack
		for j := range r.Frames {
			f := &r.Frames[j]
			rel, err := filepath.Rel(dir, f.File)
			if err != nil || !filepath.IsLocal(rel) {
				f.File = ""
				continue
			}
			f.File, f.Top = filepath.ToSlash(rel), !found[f.stack]
			found[f.stack] = true
		}
	}
}

// NewRaceWatch watches the output of a command that runs in a folder.
func NewRaceWatch(unit string) *RaceWatch {
	return &RaceWatch{open: map[string]*RaceReport{}, unit: unit}
}
