package pairs

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/test/releases"
)

// A direction is the way in which a pair is taken.
type direction string

const (
	forward direction = "forward" // from the older release to the newer
	undone  direction = "undone"  // from the newer release to itself with the older one's sources
)

// A row is one run of the study.
type row struct {
	Module, From, To string
	Direction        direction
	Verdict          string
	Fail             list // fail with the change and not without it
	FailToPass       list
	Note             string // why there are no fail-to-pass tests; for people
	Time             time.Duration
	Why              string // by hand: why the verdict is another one than expected
}

// A list is how many names there are, and the first of them.
type list struct {
	N     int
	First string
}

// listOf shortens names of the form "package test", in which the package may
// be the module itself. A package alone is one that does not build.
func listOf(module string, names []string) list {
	if len(names) == 0 {
		return list{}
	}
	first := slices.Min(names)
	pkg, test, _ := strings.Cut(first, " ")
	pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	switch {
	case test == "" && pkg == "":
		first = noBuild
	case test == "":
		first = pkg + " " + noBuild
	default:
		first = strings.TrimSpace(pkg + " " + test)
	}
	return list{len(names), first}
}

// noBuild stands for a package whose tests do not compile.
const noBuild = "(does not build)"

func (l list) String() string {
	if l.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%d: %s", l.N, l.First)
}

func parseList(s string) (list, error) {
	n, first, ok := strings.Cut(s, ": ")
	if count, err := strconv.Atoi(n); ok && err == nil {
		return list{count, first}, nil
	}
	if ok || s == "" {
		return list{}, fmt.Errorf("list %q", s)
	}
	return list{}, nil
}

func (r row) name() string { return fmt.Sprintf("%s %s %s→%s", r.Direction, r.Module, r.From, r.To) }

// unsteady begins the explanation of a row whose fail-to-pass tests are not the
// same each time, because the release's own test depends on time. They are not
// compared; the verdict is.
const unsteady = "unsteady: "

// keys are the rows without what may differ from machine to machine.
func keys(rows []row) map[string]row {
	out := map[string]row{}
	for _, r := range rows {
		if strings.HasPrefix(r.Why, unsteady) {
			r.FailToPass = list{}
		}
		r.Time, r.Why, r.Note = 0, "", ""
		out[r.name()] = r
	}
	return out
}

// explain takes over the explanations of an earlier table.
func explain(rows, old []row) {
	for i := range rows {
		for _, o := range old {
			if o.name() == rows[i].name() {
				rows[i].Why = o.Why
			}
		}
	}
}

// of says whether r is a run of p.
func (r row) of(p releases.Pair) bool {
	return r.Module == p.Module && r.From == p.From && r.To == p.To
}

// pick returns the rows of those pairs that ran.
func pick(old, ran []row) []row {
	var out []row
	for _, o := range old {
		if slices.ContainsFunc(ran, func(r row) bool { return r.of(releases.Pair{Module: o.Module, From: o.From, To: o.To}) }) {
			out = append(out, o)
		}
	}
	return out
}

// merge is the whole table: what ran now, and the old rows of other pairs, in
// the order of the study.
func merge(study []releases.Pair, old, ran []row) []row {
	var out []row
	for _, p := range study {
		of := func(rows []row) []row {
			return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.of(p) })
		}
		now := of(ran)
		if len(now) == 0 {
			now = of(old)
		}
		out = append(out, now...)
	}
	return out
}

// surprise says in which way r is not what is expected of it, and nothing where
// it is. fwd is the same pair forward.
//
//   - A release is PASS against the one before.
//   - Undone, it is FAIL where its tests are known to notice, naming them or the
//     package that they keep from building; else it is not FAIL, unless its tests
//     do not build any more.
func surprise(r, fwd row) string {
	switch {
	case r.Direction == forward && r.Verdict != "PASS":
		return "a release is judged " + r.Verdict
	case r.Direction == forward:
		return ""
	case r.Verdict == "ERROR":
		return "no verdict"
	case fwd.FailToPass.N > 0 && r.Verdict != "FAIL":
		return "its undoing is judged " + r.Verdict + " although " + fwd.FailToPass.First + " notices"
	case r.Verdict != "FAIL", strings.HasSuffix(r.Fail.First, noBuild):
		return ""
	case r.Fail != fwd.FailToPass:
		return fmt.Sprintf("its undoing fails %s, and forward is proven by %s", r.Fail, fwd.FailToPass)
	}
	return ""
}

// unexplained lists the rows whose surprise nobody has explained.
func unexplained(rows []row) []string {
	var out []string
	for _, r := range rows {
		if s := surprise(r, forwardOf(r, rows)); s != "" && r.Why == "" {
			out = append(out, fmt.Sprintf("%s: %s; find out why and say it in docs/pairs.md", r.name(), s))
		}
	}
	return out
}

func forwardOf(r row, rows []row) row {
	for _, f := range rows {
		if f.Direction == forward && f.Module == r.Module && f.From == r.From && f.To == r.To {
			return f
		}
	}
	return row{}
}

const intro = `# Pairs of releases

ycbot without a model on adjacent releases of well-known Go modules, as the module proxy has them.

- *forward*: base is the older release, head the newer one. Expected is PASS.
- *undone*: base is the newer release, head the same with its sources (not its tests, their data, go.mod or documents) put back to those of the older one. Where forward proves fail-to-pass tests, expected is FAIL with just these; where the newer tests do not build over the older sources, FAIL with the package; else no test notices, and expected is PASS or PARTIAL. A release that changes no source has nothing to undo.

Repeat it with ` + "`make pairs`" + `, which fails where a verdict or a list of tests is another one than here. After a change that is meant, write the table anew with ` + "`go test ./test/pairs -pairs -timeout 30m -update`" + `; explanations stay. The race detector is part of it, so a C compiler is needed. Times are those of one busy machine with two cores, beginning with an empty ` + "`YCBOT_HOME`" + `, and are not compared.

`

// header begins the table.
const header = `| module | versions | direction | verdict | fail with the change | fail-to-pass | time | explanation |
|---|---|---|---|---|---|---|---|
`

// render writes the document.
func render(rows []row) string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString(summary(rows) + "\n\n" + header)
	for _, r := range rows {
		proven := r.FailToPass.String()
		if r.FailToPass.N == 0 && r.Note != "" {
			proven = r.Note
		}
		cells := []string{r.Module, r.From + " → " + r.To, string(r.Direction), r.Verdict, r.Fail.String(), proven, fmt.Sprintf("%.1f s", r.Time.Seconds()), r.Why}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		b.WriteString(strings.TrimRight("| "+strings.Join(cells, " | "), " ") + " |\n")
	}
	return b.String()
}

// summary is the line that counts.
func summary(rows []row) string {
	var ahead, passed, proven, noticed, silent, wrong int
	for _, r := range rows {
		switch {
		case r.Direction == forward:
			ahead++
			passed += one(r.Verdict == "PASS")
			proven += one(r.FailToPass.N > 0)
			wrong += one(r.Verdict == "FAIL")
		case r.Verdict == "FAIL":
			noticed++
			wrong += one(surprise(r, forwardOf(r, rows)) != "")
		default:
			silent++
		}
	}
	return fmt.Sprintf("**%d forward** (%d PASS, %d with proven fail-to-pass tests); **%d undone noticed**, %d not noticed by any test; **false FAILs: %d**.", ahead, passed, proven, noticed, silent, wrong)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cell splits a line of the table.
var cell = regexp.MustCompile(`(?:\\\||[^|])+`)

// parse reads the rows of a document that render wrote.
func parse(doc string) ([]row, error) {
	_, table, ok := strings.Cut(doc, header)
	if !ok {
		return nil, fmt.Errorf("no table")
	}
	var rows []row
	for line := range strings.Lines(table) {
		cells := cell.FindAllString(strings.TrimSpace(line), -1)
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(c), `\|`, "|")
		}
		if len(cells) == 7 { // an empty explanation
			cells = append(cells, "")
		}
		if len(cells) != 8 {
			return nil, fmt.Errorf("%d cells in %q", len(cells), line)
		}
		r := row{Module: cells[0], Direction: direction(cells[2]), Verdict: cells[3], Why: cells[7]}
		var ok bool
		if r.From, r.To, ok = strings.Cut(cells[1], " → "); !ok {
			return nil, fmt.Errorf("versions %q", cells[1])
		}
		var err error
		if r.Fail, err = parseList(cells[4]); err != nil {
			return nil, err
		}
		if r.FailToPass, err = parseList(cells[5]); err != nil {
			return nil, err
		}
		if r.FailToPass.N == 0 && cells[5] != "–" {
			r.Note = cells[5]
		}
		if r.Time, err = time.ParseDuration(strings.ReplaceAll(cells[6], " ", "")); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// readTable reads the committed table; none where there is none yet.
func readTable(t *testing.T) []row {
	t.Helper()
	data, err := os.ReadFile(committed)
	if *update && err != nil {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parse(string(data))
	if err != nil {
		t.Fatalf("docs/pairs.md: %v", err)
	}
	return rows
}

// TestTable holds that a table that was written is read as it was.
func TestTable(t *testing.T) {
	t.Parallel()
	rows := []row{
		{Module: "example.com/m", From: "v1.0.0", To: "v1.0.1", Direction: forward, Verdict: "PASS", FailToPass: list{2, `sub TestA/a|b_"c"`}, Time: 1500 * time.Millisecond},
		{Module: "example.com/m", From: "v1.0.0", To: "v1.0.1", Direction: undone, Verdict: "PARTIAL", Note: "the change brings no tests", Why: "because: of | this"},
		{Module: "example.com/m", From: "v1.0.1", To: "v1.0.2", Direction: undone, Verdict: "FAIL", Fail: list{1, noBuild}},
	}
	got, err := parse(render(rows))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

// TestMerge holds that pairs which did not run keep their rows, that those which
// ran lose their old ones, and that pairs which are no longer studied go.
func TestMerge(t *testing.T) {
	t.Parallel()
	at := func(module string, d direction, verdict string) row {
		return row{Module: module, Direction: d, Verdict: verdict}
	}
	old := []row{at("gone", forward, "PASS"), at("b", forward, "PASS"), at("b", undone, "FAIL"), at("a", forward, "PASS")}
	ran := []row{at("c", forward, "PASS"), at("b", forward, "PARTIAL")}
	got := merge([]releases.Pair{{Module: "a"}, {Module: "b"}, {Module: "c"}}, old, ran)
	if diff := cmp.Diff([]row{old[3], ran[1], ran[0]}, got); diff != "" {
		t.Errorf("merge (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(old[1:3], pick(old, ran)); diff != "" {
		t.Errorf("pick (-want +got):\n%s", diff)
	}
}

// TestKeys holds that verdicts and tests are compared, times and words are not,
// and that "unsteady" takes out the fail-to-pass tests alone.
func TestKeys(t *testing.T) {
	t.Parallel()
	a := row{Module: "m", Direction: forward, Verdict: "PASS", FailToPass: list{1, "TestA"}, Time: time.Second, Note: "a", Why: "b"}
	change := func(f func(*row)) row {
		r := a
		f(&r)
		return r
	}
	for name, c := range map[string]struct {
		r    row
		same bool
	}{
		"words":        {change(func(r *row) { r.Time, r.Note, r.Why = 0, "", "" }), true},
		"verdict":      {change(func(r *row) { r.Verdict = "FAIL" }), false},
		"fail":         {change(func(r *row) { r.Fail = list{1, "TestA"} }), false},
		"fail-to-pass": {change(func(r *row) { r.FailToPass = list{} }), false},
	} {
		if same := cmp.Equal(keys([]row{a}), keys([]row{c.r})); same != c.same {
			t.Errorf("%s: same is %t", name, same)
		}
	}
	var old, now []row
	for _, verdict := range []string{"PASS", "FAIL"} {
		old = append(old, change(func(r *row) { r.Why = unsteady + "it sleeps" }))
		now = append(now, change(func(r *row) { r.Why, r.Verdict, r.FailToPass = unsteady+"it sleeps", verdict, list{} }))
	}
	if !cmp.Equal(keys(old[:1]), keys(now[:1])) || cmp.Equal(keys(old[1:]), keys(now[1:])) {
		t.Error("unsteady: the fail-to-pass tests are compared, or the verdict is not")
	}
}

// TestListOf holds how tests are named in the table.
func TestListOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names string
		want  list
	}{
		{"", list{}},
		{"example.com/m TestB,example.com/m TestA", list{2, "TestA"}},
		{"example.com/m/sub TestA/x y", list{1, "sub TestA/x y"}},
		{"example.com/m", list{1, noBuild}},
		{"example.com/m/sub", list{1, "sub " + noBuild}},
	} {
		if got := listOf("example.com/m", strings.FieldsFunc(c.names, func(r rune) bool { return r == ',' })); got != c.want {
			t.Errorf("%q: %v, want %v", c.names, got, c.want)
		}
	}
}

// TestSurprise holds which verdicts need an explanation.
func TestSurprise(t *testing.T) {
	t.Parallel()
	proves, silent := row{FailToPass: list{2, "TestA"}}, row{}
	for _, c := range []struct {
		r, fwd row
		bad    bool
	}{
		{row{Direction: forward, Verdict: "PASS"}, silent, false},
		{row{Direction: forward, Verdict: "PARTIAL"}, silent, true},
		{row{Direction: forward, Verdict: "FAIL"}, silent, true},
		{row{Direction: undone, Verdict: "FAIL", Fail: list{2, "TestA"}}, proves, false},
		{row{Direction: undone, Verdict: "FAIL", Fail: list{3, "TestA"}}, proves, true},
		{row{Direction: undone, Verdict: "FAIL", Fail: list{1, noBuild}}, proves, false},
		{row{Direction: undone, Verdict: "PASS"}, proves, true},
		{row{Direction: undone, Verdict: "PASS"}, silent, false},
		{row{Direction: undone, Verdict: "PARTIAL"}, silent, false},
		{row{Direction: undone, Verdict: "ERROR"}, silent, true},
		{row{Direction: undone, Verdict: "FAIL", Fail: list{1, "TestA"}}, silent, true},
		{row{Direction: undone, Verdict: "FAIL", Fail: list{1, "sub " + noBuild}}, silent, false},
	} {
		if got := surprise(c.r, c.fwd); (got != "") != c.bad {
			t.Errorf("%v after %v: %q", c.r, c.fwd, got)
		}
	}
}

// TestCommitted holds that docs/pairs.md is a whole study of the pairs here,
// that its summary counts its own rows, that each surprise in it is explained,
// and that it shows no false FAIL.
func TestCommitted(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	rows := readTable(t)
	if diff := cmp.Diff(render(rows), string(data)); diff != "" {
		t.Errorf("docs/pairs.md is not as -update writes it (-want +got):\n%s", diff)
	}
	var want, got []releases.Pair
	for _, p := range releases.Study() {
		want = append(want, releases.Pair{Module: p.Module, From: p.From, To: p.To})
	}
	for _, r := range rows {
		if r.Direction == forward {
			got = append(got, releases.Pair{Module: r.Module, From: r.From, To: r.To})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pairs in docs/pairs.md (-want +got):\n%s", diff)
	}
	for _, problem := range unexplained(rows) {
		t.Error(problem)
	}
	if !strings.Contains(summary(rows), "**false FAILs: 0**") {
		t.Error(summary(rows))
	}
}
