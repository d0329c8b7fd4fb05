package results

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// An Outcome is what a runner says of one test.
type Outcome struct {
	pkg     string // as in ID.Package: the file from the runner's folder, or what the runner groups tests by
	name    string // empty: of pkg itself, which could not be loaded
	status  Status
	output  string
	elapsed time.Duration
	retried bool // it was run again after a failure, as the runner was asked to
	line    int  // in its file; 0: not said

	place    string // in its file, as the runner says it; empty: it does not
	nameless bool   // it failed before it had a name of its own
}

// known is the status of that name, which a reporter of ours wrote; any other is an error.
func known(name string) (Status, error) {
	switch s := Status(name); s {
	case Passed, Failed, Skipped:
		return s, nil
	}
	return "", fmt.Errorf("a test that ended with %.40q", name)
}

// errDeep is a document of groups inside one another that no project has.
var errDeep = fmt.Errorf("more than %d groups inside one another", maxDepth)

// maxNames bounds the names of tests together, in bytes, where each holds those of the groups around
// it: a document could have one long name that stands in all of them.
const maxNames = 4 * MaxDocument

var errNames = fmt.Errorf("the names of the tests have more than %d MiB", maxNames>>20)

// A saying is the lines that follow an outcome and belong to it. They are kept as they
// come: joining them one by one would take the square of their size.
type saying struct {
	at   int // of the outcomes; -1: of none
	text tail
}

// begin files what was kept, and begins with the lines of another outcome.
func (s *saying) begin(out []Outcome, at int) {
	if s.at >= 0 && out[s.at].output == "" {
		out[s.at].output = s.text.text()
	}
	s.at, s.text = at, tail{}
}

func (s *saying) line(text string) {
	if s.at >= 0 {
		s.text.add(text + "\n")
	}
}

// MaxDocument bounds a document of results, in bytes.
const MaxDocument = 64 << 20

// A document is a collector of runners that write one document when they end.
type document struct {
	unit  string
	text  bool   // it is what people read, too
	ours  string // how lines of it begin that are for us alone; empty: none are
	files bool   // packages are files, named from the runner's folder or by absolute path
	twins bool   // several tests of one name in a package are tests of their own, in their order
	parse func([]byte) ([]Outcome, error)
	place func(unit, wd string, o *Outcome) // what an outcome is called from the top of the repository; nil: as files says
	data  []byte
	cut   bool
	err   error
	none  bool // nothing was reported
}

func (d *document) Write(p []byte) (int, error) {
	room := min(MaxDocument-len(d.data), len(p))
	d.data = append(d.data, p[:room]...)
	d.cut = d.cut || room < len(p)
	return len(p), nil
}

func (d *document) Suite(evidence, wd string) Suite {
	var all []Outcome
	if d.cut {
		d.err = fmt.Errorf("the results have more than %d MiB", MaxDocument>>20)
	} else {
		all, d.err = d.parse(d.data)
	}
	d.none = len(all) == 0
	s := Suite{}
	seen := map[string]int{} // by package and name
	for _, o := range all {
		o.output = Clean(o.output, wd)
		if d.twins && o.name != "" && !o.retried {
			key := o.pkg + "\x00" + o.name
			if seen[key]++; seen[key] > 1 { // else an old failure of one would hide that another begins to fail
				o.name = fmt.Sprintf("%s[%d]", o.name, seen[key])
			}
		}
		d.put(s, o, evidence, wd)
	}
	return s
}

// put files an outcome, and what it says of its package.
func (d *document) put(s Suite, o Outcome, evidence, wd string) {
	pkg := o.pkg
	if d.place != nil {
		d.place(d.unit, wd, &o)
		pkg = o.pkg
	} else if d.files {
		pkg = relative(d.unit, wd, pkg)
	}
	whole := ID{Unit: d.unit, Package: pkg}
	p, ok := s[whole]
	if !ok {
		p = Test{Status: Passed, Evidence: evidence}
	}
	p.Elapsed += o.elapsed
	if o.name == "" {
		switch {
		case o.status == Failed:
			p.Status, p.Output, p.Broken = Failed, cmp.Or(p.Output, o.output), true
		case p.Status != Failed: // what failed stays failed, whatever is reported after it
			p.Status = o.status
		}
		s[whole] = p
		return
	}
	s[whole] = p
	if o.status != Failed {
		o.output = ""
	}
	merge(s, ID{Unit: d.unit, Package: pkg, Test: o.name}, Test{
		Status: o.status, Output: o.output, Evidence: evidence, Elapsed: o.elapsed, Leaf: true, Retried: o.retried, Place: o.place, Nameless: o.nameless,
	})
}

// NoTests is what is said of a run that has not reported a test.
const NoTests = "the test runner reported no tests"

func (d *document) Gap() (why string, much bool) {
	switch {
	case d.err != nil && !d.cut && len(bytes.TrimSpace(d.data)) > 0:
		return "the results of the test runner cannot be used: " + d.err.Error(), false
	case d.cut:
		return d.err.Error(), true
	case d.none:
		return NoTests, false
	}
	return "", false
}

func (d *document) None() bool { return d.none && d.err == nil }

// relative names a file from the top of the repository.
func relative(unit, wd, name string) string {
	if rest, ok := strings.CutPrefix(name, wd+"/"); ok && wd != "" {
		return rest
	}
	if path.IsAbs(name) {
		return name
	}
	return path.Join(unit, name)
}

func (d *document) Rest() string {
	switch {
	case d.text && d.ours != "":
		var said strings.Builder
		for line := range bytes.Lines(d.data) {
			if !bytes.HasPrefix(line, []byte(d.ours)) {
				said.Write(line)
			}
		}
		return Short(said.String())
	case d.text:
		return Short(string(d.data))
	case d.err != nil && len(d.data) > 0:
		return "the results cannot be read: " + d.err.Error()
	case d.none:
		return NoTests
	}
	return ""
}

// Documented makes the collector of runners that write one document, whose
// packages are files.
func Documented(parse func([]byte) ([]Outcome, error)) func(string) Collector {
	return func(unit string) Collector { return &document{unit: unit, files: true, parse: parse} }
}

// Numbered is the same where tests of a file may have one name.
func Numbered(parse func([]byte) ([]Outcome, error)) func(string) Collector {
	return func(unit string) Collector { return &document{unit: unit, files: true, twins: true, parse: parse} }
}

// Grouped is the same where packages are names.
func Grouped(parse func([]byte) ([]Outcome, error)) func(string) Collector {
	return func(unit string) Collector { return &document{unit: unit, parse: parse} }
}

// NumberedGroups is that where tests of one package may have one name.
func NumberedGroups(parse func([]byte) ([]Outcome, error)) func(string) Collector {
	return func(unit string) Collector { return &document{unit: unit, twins: true, parse: parse} }
}

var _ io.Writer = (*document)(nil)

// NoResults collects from commands that name no tests.
func NoResults(unit string) Collector {
	return Documented(func([]byte) ([]Outcome, error) { return nil, nil })(unit)
}

// errEnded is a runner that ended before its results did.
var errEnded = errors.New("the runner ended before its results did")

// disagree is an error where a runner counts more failures than it reports.
func disagree(counted, reported int) error {
	if counted > reported {
		return fmt.Errorf("they count %d failures and report %d", counted, reported)
	}
	return nil
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// Text is the same where the results are the text for people, and packages are names.
func Text(parse func([]byte) ([]Outcome, error)) func(string) Collector {
	return func(unit string) Collector { return &document{unit: unit, text: true, parse: parse} }
}

// TextByFile is that where packages are files.
func TextByFile(parse func([]byte) ([]Outcome, error)) func(string) Collector {
	return func(unit string) Collector { return &document{unit: unit, text: true, files: true, parse: parse} }
}
