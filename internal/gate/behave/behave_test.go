package behave

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

const zzTestName = "TestCalls"

// in runs "go test" in a module of sources.
func in(t *testing.T, files map[string]string, env string, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-count=1", "-vet=off"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", env)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// old is a module for which the go command takes the language of long ago.
const old = "module m\n\ngo 1.13\n"

const rounding = `package cash

import "errors"

var ErrHuge = errors.New("huge")

type Till struct{ cents int64 }

func NewTill(cents int64) *Till { return &Till{cents} }

// Pay is called on what NewTill makes, also once more.
func (t *Till) Pay(n int64) (left []int64, err error) {
	if n > 100 {
		return nil, ErrHuge
	}
	t.cents += ROUND
	return []int64{t.cents}, nil
}
`

// TestPastedTest: what is printed to be pasted passes on the base and fails on the head,
// for sources as old as go 1.13, and the driver names the smallest input.
func TestPastedTest(t *testing.T) {
	t.Parallel()
	base, head := strings.Replace(rounding, "ROUND", "n / 5 * 5", 1), strings.Replace(rounding, "ROUND", "(n + 2) / 5 * 5", 1)
	p, ok := Compare(map[string][]byte{"a.go": []byte(base)}, map[string][]byte{"a.go": []byte(head)})
	if !ok || len(p.Functions) != 1 || p.Functions[0].Name != "(*Till).Pay" {
		t.Fatalf("%v %+v", ok, p)
	}
	run := func(src, which string) string {
		out, err := in(t, map[string]string{"go.mod": old, "a.go": src, "calls_test.go": p.File(zzTestName)}, "CALLS="+which, "-v", "-run=^"+zzTestName+"$", ".")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return out
	}
	c := p.Compare(All(run(base, "")), All(run(head, ""))).Functions[0]
	if c.Unlike != "" || c.Differing == 0 || len(c.Candidates) == 0 {
		t.Fatalf("%+v", c)
	}
	which := Which(time.Second, [][2]int{{c.At, c.Candidates[0].Index}})
	was, is := Some(run(base, which)), Some(run(head, which))
	if len(was) != 1 || len(is) != 1 || !was[0].Stable || was[0].Text == is[0].Text || was[0].Src != "NewTill(int64(0)).Pay(int64(3))" {
		t.Fatalf("%+v\n%+v", was, is)
	}
	test := "package cash\n\nimport (\n\t\"reflect\"\n\t\"testing\"\n)\n\n" + p.Test(c.Function, was[0])
	if out, err := in(t, map[string]string{"go.mod": old, "a.go": base, "a_test.go": test}, "", "."); err != nil {
		t.Errorf("it fails on the base: %v\n%s\n%s", err, out, test)
	}
	if out, err := in(t, map[string]string{"go.mod": old, "a.go": head, "a_test.go": test}, "", "."); err == nil || !strings.Contains(out, "--- FAIL") {
		t.Errorf("it does not fail on the head: %v\n%s\n%s", err, out, test)
	}
}

// TestHeld: a test is said to fail on the head only where one of its statements that can
// fail is none that the head's result has as well.
func TestHeld(t *testing.T) {
	t.Parallel()
	of := func(results ...interface{}) Outcome {
		o := Outcome{Class: "r"}
		var list []reflect.Value
		for _, r := range results {
			v := reflect.ValueOf(&r).Elem()
			if _, fails := r.(error); fails {
				o.Class = "e"
				v = reflect.New(reflect.TypeOf((*error)(nil)).Elem()).Elem()
				v.Set(reflect.ValueOf(r))
			} else if r != nil {
				v = v.Elem()
			} else {
				v = reflect.New(reflect.TypeOf((*error)(nil)).Elem()).Elem()
			}
			list = append(list, v)
		}
		o.Check = zzCheck(&zzTable{errs: map[string]error{"ErrA": os.ErrExist}}, &zzFunc{}, zzInput{src: "F()"}, list)
		return o
	}
	long := make([]int, 20)
	for _, tt := range []struct {
		what    string
		was, is Outcome
		want    bool
	}{
		{"another number", of(1), of(2), true},
		{"a number that is none", of(math.NaN()), of(0.0), true},
		{"infinite", of(math.Inf(1)), of(math.Inf(-1)), true},
		{"the sign of zero", of(0.0), of(math.Copysign(0, -1)), false},
		{"what is not written", of(long), of(long[:3]), false},
		{"what was written", of(long[:3]), of(long), true},
		{"one of two", of(1, long), of(1, long[:15]), false},
		{"an error", of(1, nil), of(1, errors.New("a")), true},
		{"no error", of(1, errors.New("a")), of(1, nil), true},
		{"a known error", of(os.ErrExist), of(errors.New("a")), true},
		{"any error", of(errors.New("a")), of(os.ErrExist), false},
		{"a panic", of(long), Outcome{Class: "p"}, true},
		{"exceptions", Outcome{Class: "e", Check: []string{"    except ValueError:", "        return", "    raise AssertionError()"}}, Outcome{Class: "e", Check: []string{"    except KeyError:", "        return", "    raise AssertionError()"}}, true},
		{"a call alone", Outcome{Class: "r", Check: []string{"    f()"}}, Outcome{Class: "r", Check: []string{"    assert f() == 'a'"}}, false},
		{"a promise", Outcome{Class: "r", Check: []string{"  await assert.rejects(f())"}}, Outcome{Class: "r", Check: []string{"  assert.deepStrictEqual(await f(), 1)"}}, true},
	} {
		if got := tt.was.Held(tt.is); got != tt.want {
			t.Errorf("%s: %v, want %v: %q, %q", tt.what, got, tt.want, tt.was.Check, tt.is.Check)
		}
	}
}

// TestUnsteadyRecorded: one recorded input that differs from itself is left out; where several
// do, others agree by chance, and the function is left out.
func TestUnsteadyRecorded(t *testing.T) {
	t.Parallel()
	for differ, want := range map[int]string{0: "", 1: "", 2: NotSteady, 20: NotSteady} {
		var first, second []zzRecord
		for i := 0; i < 100; i++ {
			r := zzRecord{I: i, Taken: true, Call: "raaaaaabbbbbbcccccc"}
			if first = append(first, r); i < differ {
				r.Call = "raaaaaaddddddeeeeee"
			}
			second = append(second, r)
		}
		b, err := json.Marshal(zzMerged(first, second))
		if err != nil {
			t.Fatal(err)
		}
		all := All("calls: " + string(b))
		if got := (Plan{Functions: []Function{{}}}).Compare(all, all).Functions[0].Unlike; got != want {
			t.Errorf("%d differ from themselves: %q, want %q", differ, got, want)
		}
	}
}

// TestBlocking: functions that never return, and one of which no input can be made without the
// end of the process, cost no other its turn.
func TestBlocking(t *testing.T) {
	t.Parallel()
	text := "package p\n\nimport \"os\"\n\ntype Stop struct{ n int }\n\nfunc NewStop(n int) *Stop {\n\tos.Exit(3)\n\treturn nil\n}\n\nfunc (s *Stop) N() int { return s.n + CHANGE }\n"
	for i := 0; i < 12; i++ {
		text += fmt.Sprintf("\nfunc Block%d(n int) int { return n + CHANGE + <-make(chan int) }\n", i)
	}
	text += "\nfunc Last(n int) int { return n + CHANGE }\n"
	base, head := strings.ReplaceAll(text, "CHANGE", "1"), strings.ReplaceAll(text, "CHANGE", "2")
	p, ok := Compare(map[string][]byte{"a.go": []byte(base)}, map[string][]byte{"a.go": []byte(head)})
	if !ok {
		t.Fatal("nothing is called")
	}
	out, err := in(t, map[string]string{"go.mod": old, "a.go": base, "calls_test.go": p.File(zzTestName)}, "CALLS=", "-v", "-run=^"+zzTestName+"$", ".")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := map[string]string{}
	for _, f := range p.Compare(All(out), All(out)).Functions {
		got[f.Name] = f.Unlike
	}
	if got["Last"] != "" || got["Block11"] != NotReturned || got["(*Stop).N"] != NotMadeAlive || len(got) != 14 {
		t.Errorf("%v", got)
	}
}

// TestBlockingTakesItsTurn: a function with several parameters that never returns is called as
// little as one with a single one, and where all calls take as long as they may, functions that
// were not begun are left out.
func TestBlockingTakesItsTurn(t *testing.T) {
	variants.Only(t) // it waits for what blocks; TestBlocking has it once
	t.Parallel()
	text := "package p\n\nimport \"time\"\n\nfunc Slow(n int) int {\n\ttime.Sleep(400 * time.Millisecond)\n\treturn n + CHANGE\n}\n"
	for i := 0; i < 2; i++ {
		text += fmt.Sprintf("\nfunc Block%d(a, b int) int {\n\ttime.Sleep(time.Hour)\n\treturn a + b + CHANGE\n}\n", i)
	}
	text += "\nfunc Last(n int) int { return n + CHANGE }\n"
	base, head := strings.ReplaceAll(text, "CHANGE", "1"), strings.ReplaceAll(text, "CHANGE", "2")
	p, ok := Compare(map[string][]byte{"a.go": []byte(base)}, map[string][]byte{"a.go": []byte(head)})
	if !ok {
		t.Fatal("nothing is called")
	}
	for most, want := range map[string]string{"": "", "2s": NotBegun} {
		out, err := in(t, map[string]string{"go.mod": old, "a.go": base, "calls_test.go": p.File(zzTestName)}, TimeVar+"="+most, "-v", "-run=^"+zzTestName+"$", ".")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		all := All(out)
		if got := p.Compare(all, all).Functions[3]; got.Name != "Last" || got.Unlike != want {
			t.Errorf("%s: %s: %q, want %q", most, got.Name, got.Unlike, want)
		}
		hung := 0
		for i := range len(all["Block0"].Calls) / callSize {
			if class, _, _, _ := all["Block0"].call(i); class == 'h' {
				hung++
			}
		}
		if hung > zzHangsAll || most == "" && hung == 0 {
			t.Errorf("%s: it hung for %d inputs", most, hung)
		}
	}
}

// Of a map with more entries than are compared those are that come first, each time.
func TestLargeMaps(t *testing.T) {
	t.Parallel()
	m := map[int]int{}
	for i := 0; i < 5000; i++ {
		m[i] = i
	}
	first := zzForm(reflect.ValueOf(m), &zzTable{}, false)
	for i := 0; i < 5; i++ {
		if again := zzForm(reflect.ValueOf(m), &zzTable{}, false); again != first {
			t.Fatalf("%.100s, then %.100s", first, again)
		}
	}
	for i := 5000; i <= zzPairsAll; i++ {
		m[i] = i
	}
	if got := zzForm(reflect.ValueOf(m), &zzTable{}, false); got != "map[…50001]" {
		t.Errorf("%.100s", got)
	}
}

const tricky = `package calc

import "time"

type Item struct{ N int }

type Quota struct{ left int }

func NewQuota(n int) (*Quota, error) { return &Quota{n}, nil }

func (q *Quota) Take(what string) string {
	if what == "a; x.b" {
		return "c; d"
	}
	q.left--
	return what + "CHANGE"
}

func (q *Quota) Drop() { q.left -= len("CHANGE") }

func Split(s string) string {
	if s == "; x." {
		return "a; b"
	}
	return s + "CHANGE"
}

func At(t *time.Time) string { return "CHANGE" }

func Of(a [2]Item, b *[]Item) string { return "CHANGE" }

func Each(f func(Item, ...Item) error, g *func(Item) int) string { return "CHANGE" }

func Send(c *Quota, n *int, s *string) string { return "CHANGE" }

func Two(n int) (string, error, error) { return "CHANGE", nil, nil }

func Über(n int) float64 { return float64(n) * float64(len("CHANGE")) }
`

// TestPastedTestsCompile: what is printed to be pasted compiles in its package, with whatever
// the inputs are made of, and passes on the base.
func TestPastedTestsCompile(t *testing.T) {
	variants.Only(t) // each is compiled; TestPastedTest has one
	t.Parallel()
	base, head := strings.ReplaceAll(tricky, "CHANGE", "a"), strings.ReplaceAll(tricky, "CHANGE", "bb")
	p, ok := Compare(map[string][]byte{"a.go": []byte(base)}, map[string][]byte{"a.go": []byte(head)})
	if !ok {
		t.Fatal("nothing is called")
	}
	run := func(src, which string) string {
		out, err := in(t, map[string]string{"go.mod": old, "a.go": src, "calls_test.go": p.File(zzTestName)}, "CALLS="+which, "-v", "-run=^"+zzTestName+"$", ".")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return out
	}
	compared := p.Compare(All(run(base, "")), All(run(head, ""))).Functions
	var calls [][2]int
	named := map[string]Function{}
	for _, f := range compared {
		if f.Unlike != "" || f.Differing == 0 {
			t.Errorf("%+v", f)
		}
		named[f.Name] = f.Function
		for i, k := range f.Candidates {
			if i%40 == 0 || i > len(f.Candidates)-3 {
				calls = append(calls, [2]int{f.At, k.Index})
			}
		}
	}
	text := "package calc\n\nimport (\n\t\"errors\"\n\t\"math\"\n\t\"reflect\"\n\t\"testing\"\n\t\"time\"\n)\n\nvar _ = []interface{}{errors.New, math.NaN, reflect.DeepEqual, time.Now}\n\n"
	all := Some(run(base, Which(time.Second, calls)))
	for i, c := range all {
		one := p.Test(named[c.Name], c)
		at := strings.Index(one, "AsBefore(")
		if at < 0 {
			t.Fatalf("%+v", c)
		}
		text += one[:at] + fmt.Sprint(i) + one[at:] + "\n"
	}
	if len(all) < 20 {
		t.Errorf("only %d calls", len(all))
	}
	if out, err := in(t, map[string]string{"go.mod": old, "a.go": base, "a_test.go": text}, "A=", "."); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, text)
	}
}

type zzNode struct {
	next *zzNode
	name string
}

// TestSlow: a call that takes about as long as it may, and hangs in one pass alone, says
// nothing of the others. A slow one does not use up their time, and what inputs take to be
// made is no call.
func TestSlow(t *testing.T) {
	variants.Only(t) // it waits for calls that hang
	t.Parallel()
	const text = `package slow

import (
	"os"
	"time"
)

func Once(n int) int {
	if n == 0 {
		if f, err := os.OpenFile(os.Getenv("MARK"), os.O_CREATE|os.O_EXCL, 0600); err == nil {
			f.Close()
			time.Sleep(time.Minute)
		}
	}
	return n + CHANGE
}

func Long(a, b int) int {
	if a > 1000 {
		time.Sleep(400 * time.Millisecond)
	}
	return a + b + CHANGE
}

type Slowly struct{ n int }

func NewSlowly(n int) *Slowly {
	time.Sleep(400 * time.Millisecond)
	return &Slowly{n}
}

func (s *Slowly) N() int { return s.n + CHANGE }
`
	base, head := strings.ReplaceAll(text, "CHANGE", "1"), strings.ReplaceAll(text, "CHANGE", "2")
	p, ok := Compare(map[string][]byte{"a.go": []byte(base)}, map[string][]byte{"a.go": []byte(head)})
	if !ok {
		t.Fatalf("%+v", p)
	}
	var said [2]Answers
	for i, src := range []string{base, head} {
		out, err := in(t, map[string]string{"go.mod": old, "a.go": src, "calls_test.go": p.File(zzTestName)}, "MARK="+filepath.Join(t.TempDir(), "mark"), "-v", "-run=^"+zzTestName+"$", ".")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		said[i] = All(out)
	}
	for _, c := range p.Compare(said[0], said[1]).Functions {
		if least := map[string]int{"Once": 10, "Long": 100, "(*Slowly).N": 2}[c.Name]; c.Unlike != "" || c.Inputs < least || c.Differing < c.Inputs-1 { // a nil pointer panics
			t.Errorf("%s: %q, %d of %d inputs differ, want all of at least %d", c.Name, c.Unlike, c.Differing, c.Inputs, least)
		}
	}
}

// TestForms: what is the same has one form, what differs has another, and nothing is
// followed for ever.
func TestForms(t *testing.T) {
	t.Parallel()
	round := &zzNode{name: "a"}
	round.next = round
	table := &zzTable{errs: map[string]error{"ErrA": os.ErrNotExist}}
	form := func(v interface{}, soft bool) string { return zzForm(reflect.ValueOf(v), table, soft) }
	for what, pair := range map[string][2]interface{}{
		"maps":     {map[string]int{"a": 1, "b": 2, "c": 3}, map[string]int{"c": 3, "b": 2, "a": 1}},
		"NaN":      {math.NaN(), math.Log(-1)},
		"pointers": {&zzNode{name: "a"}, &zzNode{name: "a"}},
		"cycles":   {round, round},
		"now":      {time.Now(), time.Now().Add(time.Second)},
	} {
		if x, y := form(pair[0], false), form(pair[1], false); x != y {
			t.Errorf("%s: %s is not %s", what, x, y)
		}
	}
	for what, pair := range map[string][2]interface{}{
		"kept for itself": {&zzNode{name: "a"}, &zzNode{name: "b"}},
		"zeros":           {0.0, math.Copysign(0, -1)},
		"errors":          {fmt.Errorf("a: %w", os.ErrNotExist), errors.New("a: file does not exist")},
		"lists":           {[]int{1, 2}, []int{2, 1}},
	} {
		if x, y := form(pair[0], true), form(pair[1], true); x == y {
			t.Errorf("%s: both are %s", what, x)
		}
	}
	for what, pair := range map[string][2]interface{}{
		"words of errors": {errors.New("a"), fmt.Errorf("b: %w", errors.New("c"))},
		"nil and empty":   {[]int(nil), []int{}},
	} {
		if x, y := form(pair[0], true), form(pair[1], true); x != y {
			t.Errorf("%s: %s is not %s", what, x, y)
		}
		if x, y := form(pair[0], false), form(pair[1], false); x == y {
			t.Errorf("%s: both are %s", what, x)
		}
	}
}

// TestInputs: the smallest come first, literals of the change with their neighbours among
// them, each call gets values of its own, and what cannot be made gives none.
func TestInputs(t *testing.T) {
	t.Parallel()
	f := &zzFunc{name: "f", f: func(n int, list []string) {}, ints: []int64{41}}
	all := zzInputs(&zzTable{funcs: []zzFunc{*f}}, f)
	var src []string
	for _, in := range all {
		src = append(src, in.src)
	}
	if len(all) < 100 || len(all) > zzMost || src[0] != "f(0, nil)" || !slices.Contains(src, "f(42, nil)") || !slices.Contains(src, `f(-41, nil)`) {
		t.Errorf("%d inputs: %v", len(all), src[:min(len(src), 20)])
	}
	i := slices.Index(src, `f(0, []string{""})`)
	if i < 0 {
		t.Fatalf("%v", src)
	}
	all[i].make()[1].Index(0).SetString("changed")
	if got := all[i].make()[1].Index(0).String(); got != "" {
		t.Errorf("a call sees what another one wrote: %q", got)
	}
	for what, f := range map[string]interface{}{"channels": func(chan int) {}, "tests": func(testing.TB) {}} {
		if got := zzInputs(&zzTable{}, &zzFunc{name: "f", f: f}); len(got) > 0 {
			t.Errorf("%s: %d inputs", what, len(got))
		}
	}
}

// strict is a type that is made by functions which refuse most of what they are given.
type strict struct{ text string }

// TestRefusingConstructors: a constructor that panics or fails for an input, as many do for
// an empty text, takes this value away and nothing else.
func TestRefusingConstructors(t *testing.T) {
	t.Parallel()
	must := func(text string) *strict {
		if text != "1.2" {
			panic("invalid")
		}
		return &strict{text}
	}
	try := func(text string) (*strict, error) {
		if text != "1.2" {
			return nil, errors.New("invalid")
		}
		return &strict{text}, nil
	}
	never := func(string) *strict { panic("never") }
	f := &zzFunc{name: "f", f: func(*strict) {}, strs: []string{"1.2"}}
	types := []interface{}{(*strict)(nil)}
	for what, tt := range map[string]struct {
		ctor zzCtor
		made bool
	}{
		"panics": {zzCtor{"must", must}, true}, "fails": {zzCtor{"try", try}, true}, "always panics": {zzCtor{"never", never}, false},
	} {
		made := false
		for _, in := range zzInputs(&zzTable{types: types, ctors: []zzCtor{tt.ctor}}, f) {
			if strings.Contains(in.src, tt.ctor.name+`("1.2")`) {
				made = true
			}
		}
		if made != tt.made {
			t.Errorf("a constructor that %s: made %v, want %v", what, made, tt.made)
		}
	}
	if got := zzInputs(&zzTable{}, &zzFunc{name: "f", f: "no function"}); got != nil {
		t.Errorf("what goes wrong while inputs are made: %v", got)
	}
}

// TestNilPointers: also pointers that constructors make are nil once.
func TestNilPointers(t *testing.T) {
	t.Parallel()
	made := func(text string) *strict { return &strict{text} }
	f := &zzFunc{name: "(*strict).Equal", method: true, f: func(*strict, *strict) bool { return true }}
	src := map[string]bool{}
	for _, in := range zzInputs(&zzTable{types: []interface{}{(*strict)(nil)}, ctors: []zzCtor{{"made", made}}}, f) {
		src[in.src] = true
	}
	for _, want := range []string{`made("").Equal(nil)`, `(*strict)(nil).Equal(made(""))`} {
		if !src[want] {
			t.Errorf("no call %s", want)
		}
	}
}

// TestVaried: recorded inputs are tried with literals of the change, in place of others
// among them, and with neighbours, wherever a basic value stands. The rest is unchanged.
func TestVaried(t *testing.T) {
	t.Parallel()
	f := &zzFunc{
		recorded: []zzTaken{{code: `[[0,{"op":"=~true","deep":["3","false"],"of":["pkg.T",null]}],"=a"]`, base: true, test: "TestX"}},
		ints:     []int64{41}, strs: []string{"true", "null"},
	}
	got := map[string]bool{}
	for _, k := range zzVaried(f) {
		if got[k.code] || k.base || k.test != "" {
			t.Errorf("%+v", k)
		}
		got[k.code] = true
	}
	const form = `[[0,{"deep":["%s","%s"],"of":["pkg.T",null],"op":"%s"}],"%s"]`
	for _, want := range []string{
		fmt.Sprintf(form, "3", "false", "=~null", "=a"), fmt.Sprintf(form, "3", "false", "=null", "=a"), fmt.Sprintf(form, "3", "false", "=~true", "=anull"),
		fmt.Sprintf(form, "41", "false", "=~true", "=a"), fmt.Sprintf(form, "4", "false", "=~true", "=a"), fmt.Sprintf(form, "3", "true", "=~true", "=a"),
	} {
		if !got[want] {
			t.Errorf("no %s", want)
		}
	}
	if got[f.recorded[0].code] || len(got) > zzVariations {
		t.Errorf("%d of them, the recorded one among them: %v", len(got), got[f.recorded[0].code])
	}
	again := zzVaried(f)
	for i, k := range zzVaried(f) {
		if k != again[i] {
			t.Fatal("another process would make others")
		}
	}
}

// TestStep: each place is come to once.
func TestStep(t *testing.T) {
	t.Parallel()
	for n := 1; n < 300; n++ {
		seen := map[int]bool{}
		for k, at := 0, 0; k < n; k, at = k+1, (at+zzStep(n))%n {
			seen[at] = true
		}
		if len(seen) != n {
			t.Errorf("of %d places %d", n, len(seen))
		}
	}
}

// TestWords: the literals that one side alone has come before all others, also those of a
// variable that the change alters, and behind each character that the function knows.
func TestWords(t *testing.T) {
	t.Parallel()
	many := "[]int{100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125}"
	source := func(word, high string) map[string][]byte {
		text := `package p
var table = MANY
func In(n int) bool { return table[n] > 0 }
func Find(s string) bool {
	_ = ALL
	if s[0] == '~' {
		return s[1:] == "old"WORD
	}
	return false
}
`
		return map[string][]byte{"a.go": []byte(strings.NewReplacer("MANY", strings.TrimSuffix(many, "}")+high+"}", "ALL", many, "WORD", word).Replace(text))}
	}
	p, ok := Compare(source(` || s[1:] == "new"`, ", 917760"), source("", ""))
	if !ok || len(p.Functions) != 2 {
		t.Fatalf("%+v", p.Functions)
	}
	in, find := p.Functions[0].words, p.Functions[1].words
	if len(in.ints) == 0 || in.ints[0] != 917760 {
		t.Errorf("of a variable: %v", in.ints)
	}
	if !slices.Equal(find.strings, []string{"new", "~new", "~", "old"}) {
		t.Errorf("texts: %q", find.strings)
	}
}

// TestThrough: what calls a changed function is called, too, where tests of both sides call
// it, and where a function is gone or has other parameters, what calls that.
func TestThrough(t *testing.T) {
	t.Parallel()
	base := `package p
func Top(s string) bool { return middle(s) }
func Untested(s string) bool { return middle(s) }
func middle(s string) bool { return inner([]byte(s), 1) && gone(s) }
func inner(b []byte, n int) bool { return len(b) > n }
func gone(s string) bool { return s != "" }
func Apart() int { return 1 }
`
	const goes = "func gone(s string) bool { return s != \"\" }\n"
	test := `package p
import "testing"
func TestTop(t *testing.T) { Top("a"); Apart() }
`
	for what, tt := range map[string]struct{ head, want string }{
		"changed":          {strings.Replace(base, "inner([]byte(s), 1)", "inner([]byte(s), 2)", 1), "middle, Top through middle"},
		"other parameters": {strings.Replace(base, "inner(b []byte, n int)", "inner(b []byte, n int64)", 1), "Top through inner"},
		"gone":             {strings.NewReplacer(goes, "", "&& gone(s)", `&& s != ""`).Replace(base), "middle, Top through middle"},
	} {
		p, ok := Compare(map[string][]byte{"a.go": []byte(base), "a_test.go": []byte(test)}, map[string][]byte{"a.go": []byte(tt.head), "a_test.go": []byte(test)})
		var got []string
		for _, f := range p.Functions {
			name := f.Name
			if f.Through != "" {
				name += " through " + f.Through
			}
			got = append(got, name)
		}
		if text := strings.Join(got, ", "); !ok || text != tt.want {
			t.Errorf("%s: %s, want %s", what, text, tt.want)
		}
	}
}

// TestSurface: what other modules could use on the base alone is named, and its use compiles
// there and not on the head. What stands in a file for other systems is not gone.
func TestSurface(t *testing.T) {
	t.Parallel()
	base := `package p
import "io"
type T struct{ io.Closer }
type Gone struct{}
var Hook = func() {}
const Max = 3
func Kept() {}
func Elsewhere() {}
func Many[V any](v V) V { return v }
func own() {}
func (t *T) Close() error { return nil }
func (t *T) Open() error { return nil }
func (Gone) Get() int { return 1 }
`
	head := `package p
import "io"
type T struct{ io.Closer }
func Kept() {}
`
	p, ok := Compare(map[string][]byte{"a.go": []byte(base)}, map[string][]byte{"a.go": []byte(head)})
	p.Elsewhere([][]byte{[]byte("package p\nfunc Elsewhere() {}\n")})
	if diff := cmp.Diff([]string{"(*T).Close", "(*T).Open", "Gone", "Hook", "Max"}, p.Gone()); !ok || diff != "" || p.GoneFrom() != "a.go" {
		t.Fatalf("%v %s\n%s", ok, p.GoneFrom(), diff)
	}
	for src, want := range map[string][]string{base: nil, head: {"(*T).Open", "Gone", "Hook", "Max"}} {
		out, err := in(t, map[string]string{"go.mod": "module m\n\ngo 1.21\n", "a.go": src, "calls_test.go": p.Uses("TestUses")}, "A=", "-run=^TestUses$", ".")
		if diff := cmp.Diff(want, Undefined(p.Gone(), out)); (err == nil) != (want == nil) || diff != "" {
			t.Errorf("%v\n%s\n%s", err, diff, out)
		}
	}
	if p.Hide(); len(p.Gone()) > 0 {
		t.Errorf("of an internal package: %v", p.Gone())
	}
	if p, ok := Compare(map[string][]byte{"a.go": []byte(strings.Replace(base, "package p", "package main", 1))}, map[string][]byte{"a.go": []byte(strings.Replace(head, "package p", "package main", 1))}); ok {
		t.Errorf("of a program: %v", p.Gone())
	}
}

// TestTuples: by the sum of their places, each once.
func TestTuples(t *testing.T) {
	t.Parallel()
	three := make([]zzValue, 3)
	got := zzTuples([][]zzValue{three, three}, 6, 0)
	if diff := cmp.Diff([][]int{{0, 0}, {0, 1}, {1, 0}, {0, 2}, {1, 1}, {2, 0}}, got); diff != "" {
		t.Error(diff)
	}
	if got := zzTuples([][]zzValue{three, three}, 100, 100); len(got) != 9 {
		t.Errorf("%d of 9: %v", len(got), got)
	}
}

// TestPlan: functions whose body or what it names changed, and whose signature did not.
func TestPlan(t *testing.T) {
	t.Parallel()
	base := `package p
var limit = 3
type T struct{ a int }
type U struct{ B, b int }
func NewT() *T { return &T{1} }
func same(a, b int) int { return a + b }
func Changed(a, b int) int { return a + b }
func Limited(n int) bool { return n < limit }
func Signed(n int) int { return n }
func Many[V any](v V) V { return v }
func (t *T) Get() int { return t.a }
func (u U) Get() int { return u.b }
func init() { limit = 4 }
`
	head := `package p
var limit = 5
type T struct{ a int }
type U struct{ B, b, c int; D string }
func NewT() *T { return &T{1} }
func same(x,
	y int) int { return a + b } // in other words
func Changed(x, y int) int { return x - y }
func Limited(n int) bool { return n < limit }
func Signed(n int64) int { return int(n) }
func Many[V any](v V) V { w := v; return w }
func (t *T) Get() int { return t.a + 1 }
func (u U) Get() int { return u.b + 1 }
func init() { limit = 6 }
func New() int { return 1 }
`
	test := `package p
import "testing"
func TestChanged(t *testing.T) {
	if Changed(3, -4) != 7 || Changed(n, 2) != 1 {
		t.Fatal("changed")
	}
}
`
	p, ok := Compare(map[string][]byte{"a.go": []byte(base), "a_test.go": []byte(test)}, map[string][]byte{"a.go": []byte(head), "a_test.go": []byte(test)})
	var names []string
	for _, f := range p.Functions {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"Changed", "Limited", "(*T).Get", "U.Get"}, names); !ok || diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Many", "Signed"}, p.Resigned); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]altered{{name: "U", fields: []string{"B"}}}, p.altered, cmp.AllowUnexported(altered{})); diff != "" {
		t.Error(diff)
	}
	if f := p.Functions[0]; len(f.given) != 1 || f.given[0].text() != "3, -4" || !f.given[0].base || !slices.Contains(f.Tested, "TestChanged") || len(f.Touched) > 0 {
		t.Errorf("%+v", f)
	}
}

// TestExpectedPanics: a panic is expected where a test, or what it uses of its files, has to
// do with one, and is on purpose where the change adds a statement for it anywhere on the
// function's way.
func TestExpectedPanics(t *testing.T) {
	t.Parallel()
	const base = "package p\nfunc F(n int) int {\n\tif n > 9 {\n\t\tpanic(\"large\")\n\t}\n\treturn g(n)\n}\nfunc g(n int) int { return n }\n"
	const head = "package p\nfunc F(n int) int {\n\tif n > 9 {\n\t\tpanic(\"large\")\n\t}\n\treturn g(n + 1)\n}\nfunc g(n int) int { return n }\n"
	const none = "package p\nimport \"testing\"\nfunc TestF(t *testing.T) { F(1) }\n"
	for what, tt := range map[string]struct {
		head, test      string
		panics, awaited bool
	}{
		"nothing":                {head, none, false, false},
		"one more":               {strings.Replace(head, "\treturn g", "\tif n < 0 {\n\t\tpanic(\"negative\")\n\t}\n\treturn g", 1), none, true, false},
		"the same once more":     {strings.Replace(head, "\treturn g", "\tif n < 0 {\n\t\tpanic(\"large\")\n\t}\n\treturn g", 1), none, true, false},
		"in what it calls":       {strings.Replace(head, "int { return n }", "int { check(n); return n }\nfunc check(n int) {\n\tif n < 0 {\n\t\tpanic(n)\n\t}\n}", 1), none, true, false},
		"a helper":               {head, "package p\nimport \"testing\"\nfunc TestF(t *testing.T) { refuses(t, func() { F(-1) }) }\nfunc refuses(t *testing.T, f func()) {\n\tdefer func() { recover() }()\n\tf()\n}\n", false, true},
		"a helper elsewhere":     {head, "package p\nimport (\n\t\"testing\"\n\t\"m/help\"\n)\nfunc TestF(t *testing.T) { help.MustPanic(t, func() { F(-1) }) }\n", false, true},
		"testify with a message": {head, "package p\nimport \"testing\"\nfunc TestF(t *testing.T) { assert.Panicsf(t, func() { F(-1) }, \"%d\", 1) }\n", false, true},
		"testify, no panic":      {head, "package p\nimport \"testing\"\nfunc TestF(t *testing.T) { assert.NotPanics(t, func() { F(-1) }) }\n", false, false},
		"a suite":                {head, "package p\nfunc (s *Suite) TestF() { s.Panics(func() { F(-1) }) }\n", false, true},
		"a specification":        {head, "package p\nvar _ = It(\"refuses\", func() { Expect(func() { F(-1) }).To(Panic()) })\nvar _ = 1\n", false, true},
		"a table":                {head, "package p\nimport \"testing\"\nvar cases = []func(){func() { F(-1) }}\nfunc TestF(t *testing.T) {\n\tdefer func() { recover() }()\n\tcases[0]()\n}\n", false, true},
		"of another function":    {head, none + "func TestG(t *testing.T) {\n\tdefer func() { recover() }()\n\th()\n}\n", false, false},
		"a test that panics":     {head, "package p\nimport \"testing\"\nfunc TestF(t *testing.T) {\n\tif F(1) != 1 {\n\t\tpanic(1)\n\t}\n}\n", false, false},
	} {
		p, ok := Compare(map[string][]byte{"a.go": []byte(base)}, map[string][]byte{"a.go": []byte(tt.head), "a_test.go": []byte(tt.test)})
		at := slices.IndexFunc(p.Functions, func(f Function) bool { return f.Name == "F" })
		if !ok || at < 0 {
			t.Fatalf("%s: %v %+v", what, ok, p)
		}
		if f := p.Functions[at]; f.Panics != tt.panics || f.Awaited != tt.awaited {
			t.Errorf("%s: panics %v, awaited %v", what, f.Panics, f.Awaited)
		}
	}
}

// TestClockOfSeconds: what a clock of whole seconds says is no difference, because a call that is
// made again is made when it has moved on.
func TestClockOfSeconds(t *testing.T) {
	t.Parallel()
	const text = "package p\n\nimport \"time\"\n\nfunc Now() string {\n\t_ = VAR\n\treturn time.Now().Format(time.RFC3339)\n}\n\nfunc One() int {\n\t_ = VAR\n\treturn 1\n}\n"
	p, ok := Compare(map[string][]byte{"a.go": []byte(strings.ReplaceAll(text, "VAR", "1"))}, map[string][]byte{"a.go": []byte(strings.ReplaceAll(text, "VAR", "2"))})
	if !ok || len(p.Functions) != 2 {
		t.Fatalf("%v %+v", ok, p)
	}
	out, err := in(t, map[string]string{"go.mod": old, "a.go": strings.ReplaceAll(text, "VAR", "1"), "calls_test.go": p.File(zzTestName)}, "CALLS="+Which(time.Second, [][2]int{{0, 0}, {1, 0}}), "-v", "-run=^"+zzTestName+"$", ".")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range Some(out) {
		if c.Stable != (c.Name == "One") {
			t.Errorf("%+v", c)
		}
	}
}

// TestPlacesAreNoDifference: where the tree of a side lies, and where a call was made, differs
// between the sides and is not what a function does.
func TestPlacesAreNoDifference(t *testing.T) {
	t.Parallel()
	const text = "package p\n\nimport (\n\t\"errors\"\n\t\"os\"\n\t\"runtime\"\n)\n\nfunc Where() string {\n\t_ = VAR\n\t_, file, _, _ := runtime.Caller(0)\n\treturn file\n}\n\nfunc Here() (string, error) {\n\t_ = VAR\n\treturn os.Getwd()\n}\n\nfunc Home() error {\n\t_ = VAR\n\treturn errors.New(os.Getenv(\"PLACE\"))\n}\n"
	base, head := strings.ReplaceAll(text, "VAR", "1"), strings.ReplaceAll(text, "VAR", "2")
	p, ok := Compare(map[string][]byte{"a.go": []byte(base)}, map[string][]byte{"a.go": []byte(head)})
	if !ok || len(p.Functions) != 3 {
		t.Fatalf("%v %+v", ok, p)
	}
	said := map[string]Answers{}
	for _, src := range []string{base, head} {
		out, err := in(t, map[string]string{"go.mod": old, "a.go": src, "calls_test.go": p.File(zzTestName)}, "PLACE=same", "-v", "-run=^"+zzTestName+"$", ".")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		said[src] = All(out)
	}
	for _, f := range p.Compare(said[base], said[head]).Functions {
		if f.Unlike != "" || f.Differing+f.Worded > 0 || f.Inputs == 0 {
			t.Errorf("%s: %+v", f.Name, f)
		}
	}
}

// TestCompared: what differs is kept apart from words, from what the base does not do either and
// from what is not the same input.
func TestCompared(t *testing.T) {
	t.Parallel()
	p := Plan{Functions: []Function{{Name: "f"}}}
	call := func(class, in, soft, strong string) string {
		pad := func(s string) string { return (s + "......")[:6] }
		return class + pad(in) + pad(soft) + pad(strong)
	}
	for _, tt := range []struct {
		what, was, is string
		want          Compared
	}{
		{"the same", call("r", "1", "a", "a"), call("r", "1", "a", "a"), Compared{Inputs: 1}},
		{"another result", call("r", "1", "a", "a"), call("r", "1", "b", "b"), Compared{Inputs: 1, Differing: 1, Candidates: []Candidate{{Kind: Differs}}}},
		{"an error", call("r", "1", "a", "a"), call("e", "1", "b", "b"), Compared{Inputs: 1, Differing: 1, Candidates: []Candidate{{Kind: Fails}}}},
		{"words", call("e", "1", "a", "a"), call("e", "1", "a", "b"), Compared{Inputs: 1, Worded: 1, Candidates: []Candidate{{Kind: Words}}}},
		{"a panic", call("r", "1", "a", "a"), call("p", "1", "p", "p"), Compared{Inputs: 1, Differing: 1, Candidates: []Candidate{{Kind: Crashes}}}},
		{"a hang", call("r", "1", "a", "a"), call("h", "", "", ""), Compared{Inputs: 1, Differing: 1, Candidates: []Candidate{{Kind: Crashes, Hangs: true}}}},
		{"a panic of the base", call("p", "1", "p", "p"), call("r", "1", "a", "a"), Compared{Fixed: 1, Unlike: NotReturned}},
		{"a panic of both", call("p", "1", "p", "p") + call("r", "2", "a", "a"), call("p", "1", "p", "p") + call("r", "2", "a", "a"), Compared{Inputs: 1}},
		{"another input", call("r", "1", "a", "a"), call("r", "2", "b", "b"), Compared{Unlike: NotSame}},
		{"itself", call("~", "", "", ""), call("r", "2", "b", "b"), Compared{Unlike: NotSteady}},
		{"no time", call("-", "", "", ""), call("r", "2", "b", "b"), Compared{Unlike: NotCalled}},
	} {
		got := p.Compare(Answers{"f": {Makeable: true, Calls: tt.was}}, Answers{"f": {Makeable: true, Calls: tt.is}}).Functions[0]
		got.Function, got.Key = Function{}, ""
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.what, got, tt.want)
		}
	}
}

// TestGiven: what stands in a tree and needs nothing of a package, and no more.
func TestGiven(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]int{
		"go test fuzz v1\nstring(\"(a\")\n":        1,
		"go test fuzz v1\nint(3)\n[]byte(\"x\")\n": 2,
		"go test fuzz v2\nint(3)\n":                0,
		"go test fuzz v1\nos.Exit(1)\n":            0,
		"go test fuzz v1\n":                        0,
	} {
		got, ok := corpusInput([]byte(input))
		if len(got) != want || ok != (want > 0) {
			t.Errorf("%q: %v", input, got)
		}
	}
}

// A driver gets lists, also where no test file names what changed.
func TestScriptWithoutTests(t *testing.T) {
	t.Parallel()
	text := Script{Call: "DATA"}.File("")
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if want := `{"modules":[],"tests":[]}`; err != nil || string(data) != want {
		t.Errorf("%s (%v), want %s", data, err, want)
	}
}

const parsing = `package parse

import (
	"errors"
	"strings"
)

type token struct {
	kind string
	text []byte
}

type Option func(*parser)

type parser struct {
	tokens []*token
	at     int
	names  map[string]interface{}
	err    error
	after  func() error
	root   *node
}

type node struct {
	up, first *node
	name      string
}

func Parse(text string, options ...Option) (map[string]interface{}, error) {
	p := &parser{names: map[string]interface{}{}, root: &node{}}
	p.root.first = &node{up: p.root, name: "\xff"}
	for _, w := range strings.Fields(text) {
		p.tokens = append(p.tokens, &token{kind: w[:1], text: []byte(w)})
	}
	for _, o := range options {
		o(p)
	}
	for p.at < len(p.tokens) {
		p.next(nil)
	}
	return p.names, p.err
}

func (p *parser) next(_ error, _ ...int) *token {
	t := p.tokens[p.at]
	p.at++
	switch {
	case t.kind == "!" && p.root.first.up == p.root:
		p.err = errors.New("bang")
	case p.at > LEAST && t.kind == "=":
		p.names[string(p.tokens[p.at-2].text)] = p.at
	}
	return t
}

func Join(a, b string, sep ...string) string { return a + strings.Join(sep, "") + b + "LEAST" }
`

const parsingTest = `package parse_test

import (
	"testing"

	"m"
)

func TestParse(t *testing.T) {
	if _, err := parse.Parse("a = !"); err == nil {
		t.Fatal("no error")
	}
	for range []int{1, 2} {
		t.Run("sub", func(t *testing.T) { parse.Join("x", "\xff", "+", "-") })
	}
}
`

// TestRecorded: a function is called with what the tests of the base call it with, also
// where no generator makes it, in an order that puts made inputs first; what is recorded
// is made again with its pointers, its texts and its types.
func TestRecorded(t *testing.T) {
	t.Parallel()
	base, head := strings.ReplaceAll(parsing, "LEAST", "1"), strings.ReplaceAll(parsing, "LEAST", "2")
	files := map[string][]byte{"a.go": []byte(base), "a_test.go": []byte(parsingTest)}
	p, ok := Compare(files, map[string][]byte{"a.go": []byte(head), "a_test.go": []byte(parsingTest)})
	r := p.Recording()
	if !ok || len(p.Functions) != 3 || p.Functions[2].Name != "Parse" || p.Functions[2].Through != "(*parser).next" || !slices.Equal(r.Tests, []string{"TestParse"}) || strings.Count(r.Files["a.go"], "\n") != strings.Count(base, "\n") {
		t.Fatalf("%v %+v\n%+v", ok, p.Functions, r)
	}
	out, err := in(t, map[string]string{"go.mod": old, "a.go": r.Files["a.go"], "a_test.go": parsingTest, "calls_test.go": p.File(zzTestName)}, "CALLS="+Record, "-v", "-run=^(TestParse)$", ".")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p = p.Recorded(out).(Plan)
	next, join := p.Functions[0], p.Functions[1]
	if len(next.recorded) != 3 || len(join.recorded) != 1 || next.recorded[0].base || !join.recorded[0].base || join.recorded[0].test != "TestParse" {
		t.Fatalf("%+v\n%+v\n%s", next.recorded, join.recorded, out)
	}
	run := func(src, which string) string {
		out, err := in(t, map[string]string{"go.mod": old, "a.go": src, "a_test.go": parsingTest, "calls_test.go": p.File(zzTestName)}, "CALLS="+which, "-v", "-run=^"+zzTestName+"$", ".")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return out
	}
	all := p.Compare(All(run(base, "")), All(run(head, ""))).Functions
	if c := all[2]; c.Unlike != "" || c.Differing == 0 {
		t.Errorf("what calls the changed function: %+v", c)
	}
	if c := all[0]; c.Unlike != "" || c.Differing == 0 || !c.Candidates[0].Taken || c.Candidates[0].Base {
		t.Fatalf("%+v", c)
	}
	if c := all[1]; c.Unlike != "" || len(c.Candidates) < 2 || c.Candidates[0].Taken || !slices.ContainsFunc(c.Candidates, func(k Candidate) bool { return k.Taken && k.Base }) {
		t.Fatalf("%+v", c)
	}
	was := Some(run(base, Which(time.Second, [][2]int{{all[0].At, all[0].Candidates[0].Index}})))
	if len(was) != 1 || !was[0].Stable || was[0].Test != "TestParse" || !strings.HasPrefix(was[0].Src, "(&parser{tokens:[") {
		t.Fatalf("%+v", was)
	}
	if is := `names:map["a":int:2] err:nil after:func() error(nil) root:&{up:nil first:&{up:^ first:nil name:"\xff"} name:""}}`; !strings.Contains(was[0].Text, is) {
		t.Errorf("%s, want %s in it", was[0].Text, is)
	}
	if text := p.Test(all[0].Function, was[0]); text != "" {
		t.Errorf("no literal has it: %s", text)
	}
}

const standing = `package p

func First(s string) byte { return s[0] + CHANGE }

func Each(s string) int { return len(s) + CHANGE }
`

// TestStanding: an input stands in those tests of the head that have it. What the change takes
// out of a test, out of a table of its files or out of a fuzz target's folder stands in none, and
// a recorded one may not stand where a test lost something.
func TestStanding(t *testing.T) {
	t.Parallel()
	const test = `package p

import "testing"

var rows = []string{"", "b"}

func TestFirst(t *testing.T) { First("a"); First("b") }

func TestRows(t *testing.T) {
	for _, r := range rows {
		Each(r)
	}
}

func FuzzFirst(f *testing.F) {
	f.Add("c")
	f.Fuzz(func(t *testing.T, s string) { First(s) })
}
`
	seed := [][]byte{[]byte("go test fuzz v1\nstring(\"d\")\n")}
	for _, tt := range []struct {
		what         string
		old, new     string
		kept         [][]byte
		input, taken string   // of First; the test in which an input was recorded
		want         []string // the tests
	}{
		{"as it was", "", "", seed, `"a"`, "", []string{"TestFirst"}},
		{"in another test", `First("a"); `, "}\n\nfunc TestMoved(t *testing.T) { First(\"a\"); ", seed, `"a"`, "", []string{"TestMoved"}},
		{"taken out", `First("a"); `, "", seed, `"a"`, "", nil},
		{"around one that was taken out", `First("b")`, "", seed, `"a"`, "", []string{"TestFirst"}},
		{"a seed", "", "", seed, `"c"`, "", []string{"FuzzFirst"}},
		{"a seed taken out", `f.Add("c")`, "", seed, `"c"`, "", nil},
		{"a file of a target", "", "", seed, `string("d")`, "", []string{"FuzzFirst"}},
		{"a file taken out", "", "", nil, `string("d")`, "", nil},
		{"a target that does something else", "{ First(s) }", "{ Each(s) }", seed, `string("d")`, "", nil},
		{"recorded", "", "", seed, "", "TestRows", []string{"TestRows"}},
		{"recorded, a row more", `"b"}`, `"b", "c"}`, seed, "", "TestRows", []string{"TestRows"}},
		{"recorded, the test sets up more", "\tfor _", "\tprepare()\n\tfor _", seed, "", "TestRows", []string{"TestRows"}},
		{"recorded, a row taken out", `"", `, "", seed, "", "TestRows", nil},
		{"recorded, the test lost a call", "Each(r)", "", seed, "", "TestRows", nil},
		{"recorded in a test beside one that lost a call", `First("a"); `, "", seed, "", "TestRows", []string{"TestRows"}},
	} {
		was := map[string][]byte{"a.go": []byte(strings.ReplaceAll(standing, "CHANGE", "1")), "a_test.go": []byte(test)}
		now := map[string][]byte{"a.go": []byte(strings.ReplaceAll(standing, "CHANGE", "2")), "a_test.go": []byte(strings.Replace(test, tt.old, tt.new, 1))}
		p, ok := Compare(was, now)
		if !ok || len(p.Functions) != 2 {
			t.Fatalf("%s: %v %+v", tt.what, ok, p.Functions)
		}
		p.Corpus(was, now, "FuzzFirst", seed, tt.kept)
		c := Compared{Function: p.Functions[0]}
		tests, known := c.Standing(Candidate{Taken: tt.taken != ""}, Call{Src: "First(" + tt.input + ")", Test: tt.taken})
		if !known || !slices.Equal(tests, tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.what, tests, known, tt.want)
		}
	}
}
