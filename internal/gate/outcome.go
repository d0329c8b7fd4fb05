package gate

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// An outcome is what a runner says of one test.
type outcome struct {
	pkg     string // as in ID.Package: the file from the runner's folder, or what the runner groups tests by
	name    string // empty: of pkg itself, which could not be loaded
	status  Status
	output  string
	elapsed time.Duration
	retried bool // it was run again after a failure, as the runner was asked to
}

// maxDocument bounds a document of results, in bytes.
const maxDocument = 64 << 20

// A document is a collector of runners that write one document when they end.
type document struct {
	unit  string
	text  bool // it is what people read, too
	files bool // packages are files, named from the runner's folder or by absolute path
	parse func([]byte) ([]outcome, error)
	data  []byte
	cut   bool
	err   error
	none  bool // nothing was told apart
}

func (d *document) Write(p []byte) (int, error) {
	room := min(maxDocument-len(d.data), len(p))
	d.data = append(d.data, p[:room]...)
	d.cut = d.cut || room < len(p)
	return len(p), nil
}

func (d *document) suite(evidence, wd string) Suite {
	var all []outcome
	if d.cut {
		d.err = fmt.Errorf("the results have more than %d MiB", maxDocument>>20)
	} else {
		all, d.err = d.parse(d.data)
	}
	d.none = len(all) == 0
	s := Suite{}
	for _, o := range all {
		o.output = clean(o.output, wd)
		d.put(s, o, evidence, wd)
	}
	return s
}

// put files an outcome, and what it says of its package.
func (d *document) put(s Suite, o outcome, evidence, wd string) {
	pkg := o.pkg
	if d.files {
		pkg = relative(d.unit, wd, pkg)
	}
	whole := ID{Unit: d.unit, Package: pkg}
	p, ok := s[whole]
	if !ok {
		p = Test{Status: Passed, Evidence: evidence}
	}
	p.Elapsed += o.elapsed
	if o.name == "" {
		if p.Status = o.status; o.status == Failed {
			p.Output, p.Broken = o.output, true
		}
		s[whole] = p
		return
	}
	s[whole] = p
	if o.status != Failed {
		o.output = ""
	}
	merge(s, ID{Unit: d.unit, Package: pkg, Test: o.name}, Test{
		Status: o.status, Output: o.output, Evidence: evidence, Elapsed: o.elapsed, Leaf: true, Retried: o.retried,
	})
}

// noTests is what is said of a run that has not reported a test.
const noTests = "the test runner reported no tests"

func (d *document) gap() (why string, much bool) {
	switch {
	case d.err != nil && !d.cut && len(bytes.TrimSpace(d.data)) > 0:
		return "the results of the test runner cannot be used: " + d.err.Error(), false
	case d.cut:
		return d.err.Error(), true
	case d.none:
		return noTests, false
	}
	return "", false
}

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

func (d *document) rest() string {
	switch {
	case d.text:
		return short(string(d.data))
	case d.err != nil && len(d.data) > 0:
		return "the results cannot be read: " + d.err.Error()
	case d.none:
		return noTests
	}
	return ""
}

// documented makes the collector of runners that write one document, whose
// packages are files.
func documented(parse func([]byte) ([]outcome, error)) func(string) collector {
	return func(unit string) collector { return &document{unit: unit, files: true, parse: parse} }
}

// grouped is the same where packages are names.
func grouped(parse func([]byte) ([]outcome, error)) func(string) collector {
	return func(unit string) collector { return &document{unit: unit, parse: parse} }
}

// resultsVar is how the text of a command names the file that its runner is to
// write its results to.
const resultsVar = `"$RESULTS"`

// reporting makes c run text in a shell. Where text names a file for results,
// that is what goes to standard output, and all that the runner says goes to
// standard error: so results are part of the log and nothing is read back from
// the tree. The shell's own commands are those of the system ("command -p"), and
// prefix, which may change PATH, is for text alone. The file has a random name and
// is in no variable of the environment.
func (c command) reporting(text string, prefix ...string) command {
	c.text = text
	script := strings.Join(append(prefix, text), "\n")
	if strings.Contains(text, "RESULTS") {
		script = strings.Join([]string{
			`RESULTS_DIR=$(command -p mktemp -d) && RESULTS=$RESULTS_DIR/results || exit 1`,
			"( " + script + "\n) >&2",
			`status=$?`,
			`command -p cat "$RESULTS" 2>/dev/null`,
			`command -p rm -rf "$RESULTS_DIR"`,
			`exit $status`,
		}, "\n")
	}
	c.argv = []string{"bash", "--noprofile", "--norc", "-c", script}
	return c
}

// quoted joins words for a shell.
func quoted(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%,") != "" {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

var _ io.Writer = (*document)(nil)
