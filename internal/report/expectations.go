package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Expectations is what became of the tests that pass on the base when they ran, as
// the base has them, over the head's sources. Each list but Held is a class.
type Expectations struct {
	Policy      string        `json:"policy"` // report|acknowledge|strict
	Held        int           `json:"held"`
	Regressed   []Expectation `json:"regressed"`    // fail with the change, in both versions
	Silenced    []Expectation `json:"silenced"`     // fail, and the head does not report them although they still stand
	Silent      []Expectation `json:"silent"`       // neither passed nor failed
	Steering    []Expectation `json:"steering"`     // pass only with what decides what the test command does
	Weakened    []Expectation `json:"weakened"`     // the test was changed so that it passes on both sides
	Support     []Expectation `json:"support"`      // pass only with the head's support files
	Dropped     []Expectation `json:"dropped"`      // the test was removed
	CannotApply []Expectation `json:"cannot_apply"` // the base's test cannot be run over the head's sources
	NeedsAPI    []Expectation `json:"needs_api"`    // the base's test needs what the change removed or renamed
	Rewritten   []Expectation `json:"rewritten"`    // the test was changed, and its new version needs the change
	Data        []Expectation `json:"data"`         // only the test's data were changed
}

// An Expectation is a test that passes on the base and was given up or broken.
type Expectation struct {
	Test     string   `json:"test"`
	Path     string   `json:"path"` // of the file that decides; empty: not known
	Line     int      `json:"line"` // on the head, 1-based; 0: not known
	Old      string   `json:"old"`  // what the change takes away there, cut; untrusted
	New      string   `json:"new"`  // what it brings, cut; untrusted
	Evidence []string `json:"evidence"`
}

// An expectationClass is a list of [Expectations], the gravest first.
type expectationClass struct {
	name  string // as in report.json
	words string // of one and of many tests
	tests []Expectation
}

// ByClass are the expectations that no longer hold, by the names of their classes.
func (e *Expectations) ByClass() map[string][]Expectation {
	out := map[string][]Expectation{}
	for _, c := range e.classes() {
		if len(c.tests) > 0 {
			out[c.name] = c.tests
		}
	}
	return out
}

// GivenUp is a class of expectations that no longer hold.
type GivenUp struct {
	Name  string // as in report.json
	Words string // of one and of many tests
	Tests []Expectation
}

// Classes are the classes that have tests, the gravest first.
func (e *Expectations) Classes() []GivenUp {
	var out []GivenUp
	for _, c := range e.classes() {
		if len(c.tests) > 0 {
			out = append(out, GivenUp{c.name, c.words, c.tests})
		}
	}
	return out
}

func (e *Expectations) classes() []expectationClass {
	return []expectationClass{
		{"regressed", "broken by the change", e.Regressed},
		{"silenced", "silenced: fail, and are kept from being reported or from failing", e.Silenced},
		{"silent", "silent: still there, and did not run with the change", e.Silent},
		{"steering", "pass only with the changed test configuration", e.Steering},
		{"weakened", "weakened: as the change has it, it checks less", e.Weakened},
		{"support", "pass only with the changed test support files", e.Support},
		{"dropped", "dropped: the test was removed", e.Dropped},
		{"cannot_apply", "could not be run over the changed sources", e.CannotApply},
		{"needs_api", "need an API that the change removes or renames", e.NeedsAPI},
		{"rewritten", "rewritten: the changed test needs the change, or takes another form of the same", e.Rewritten},
		{"data", "expected data were changed", e.Data},
	}
}

// lists are all classes, for those that fill or normalise them.
func (e *Expectations) lists() map[string]*[]Expectation {
	return map[string]*[]Expectation{
		"regressed": &e.Regressed, "silenced": &e.Silenced, "silent": &e.Silent, "steering": &e.Steering,
		"weakened": &e.Weakened, "support": &e.Support, "dropped": &e.Dropped, "cannot_apply": &e.CannotApply,
		"needs_api": &e.NeedsAPI, "rewritten": &e.Rewritten, "data": &e.Data,
	}
}

// Add files a test under the class of this name, and reports an unknown one.
func (e *Expectations) Add(class string, x Expectation) error {
	l, ok := e.lists()[class]
	if !ok {
		return fmt.Errorf("expectations: unknown class %q", class)
	}
	*l = append(*l, x)
	return nil
}

func (e *Expectations) normalised() *Expectations {
	n := *e
	for _, l := range n.lists() {
		out := make([]Expectation, 0, len(*l))
		for _, x := range *l {
			x.Evidence = list(x.Evidence)
			out = append(out, x)
		}
		*l = out
	}
	return &n
}

// total counts the expectations that were tried.
func (e *Expectations) total() int {
	n := e.Held
	for _, c := range e.classes() {
		n += len(c.tests)
	}
	return n
}

// line is the sentence that maintainers want: "41 of 41 old expectations hold".
func (e *Expectations) line() string {
	total := e.total()
	if total == 0 {
		return "no test of the base could be run against the change"
	}
	return fmt.Sprintf("%d of %d old expectation%s hold%s", e.Held, total, verb(total, "", "s"), verb(total, "s", ""))
}

// remarks counts what does not hold, the gravest class first: "2 weakened".
func (e *Expectations) remarks() []string {
	var out []string
	for _, c := range e.classes() {
		if n := len(c.tests); n > 0 {
			words := classWords[c.name]
			out = append(out, fmt.Sprintf("%d %s", n, cmp.Or(verb(n, words.one, words.more), c.name)))
		}
	}
	return out
}

// classWords are what stands behind a number of expectations in a title, where that is not the
// name of their class.
var classWords = map[string]struct{ one, more string }{
	"needs_api": {"needs removed names", "need removed names"}, "cannot_apply": {"does not start", "do not start"},
	"data": {"has other data", "have other data"}, "steering": {"held by steering", "held by steering"},
	"support": {"held by support", "held by support"},
}

// An Acceptance is a person's word that given-up expectations are meant.
type Acceptance struct {
	By     string `json:"by"`     // login
	At     string `json:"at"`     // RFC 3339
	Digest string `json:"digest"` // of the list that was accepted, see [Expectations.Digest]
	Reason string `json:"reason"` // the person's words; untrusted
}

// A Statistic is a test that did not end the same each time.
type Statistic struct {
	Test  string  `json:"test"`
	Head  string  `json:"head"` // "5/5": failed of runs
	Base  string  `json:"base"`
	P     float64 `json:"p"`     // one-sided exact test; 1: nothing is shown
	Flips string  `json:"flips"` // "3/212": runs on record that flaked; empty: none
}

// Executed is which of the changed lines tests ran; nil where that is not known.
type Executed struct {
	Lines    int      `json:"lines"`    // changed lines that can run
	Ran      int      `json:"ran"`      // of these, that tests ran
	OwnOnly  bool     `json:"own_only"` // of a change from outside: no test of the base runs any of them
	Evidence []string `json:"evidence"`
}

// remark is what the title says of it.
func (x *Executed) remark(v Verdict) string {
	switch {
	case x == nil || x.Lines == 0:
		return ""
	case x.Ran == 0 && v == Pass:
		return "no test runs a changed line"
	case x.OwnOnly:
		return "only its own tests run the changed lines"
	}
	return ""
}

// Belief says whether the results of the suites are believed.
type Belief struct {
	OK     bool     `json:"ok"`
	Suites []string `json:"suites"` // those that did not report a test that must fail
}

// Digest names the list of given-up expectations: the same list has the same one,
// whatever the order and the lines. An acceptance is of one digest.
func (e *Expectations) Digest() string {
	if e == nil {
		return ""
	}
	var lines []string
	for _, c := range e.classes() {
		for _, x := range c.tests {
			lines = append(lines, fmt.Sprintf("%q", []string{c.name, x.Test, x.Path, x.Old, x.New}))
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// AcceptedIn returns what people accepted by the report of a run directory of this
// machine; none where there is no report.
func AcceptedIn(dir string) ([]Acceptance, error) {
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := Parse(data)
	if err != nil {
		return nil, err
	}
	return r.Accepted, nil
}
