package behave

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// An Outcome is what came of a call.
type Outcome struct {
	Class  string   // "r" returned, "e" returned or raised an error, "p" panicked, "h" did not return, "x" ended the process
	Text   string   // what could be seen of it
	Panic  string   // what it panicked with
	Fault  bool     // a run-time error, which no statement raises
	Raised bool     // it is an exception
	Micros int64    // how long it took
	Check  []string // statements of a test that hold it
}

// An answer is a line that the driver prints.
type answer struct {
	Name     string
	Makeable bool
	Late     bool   // there was no time to begin with it
	Ended    bool   // making its inputs ends the process
	Why      string // its module cannot be loaded; empty: it can
	Calls    string
	Given    []int
	Taken    []int            // indexes of inputs that were recorded
	Stands   map[int][]string // tests of the head in which an input stands, by its index
	Index    int
	Src      string
	Detail   *Outcome
	Stable   bool
	About    *About
	Code     string // a recorded input
	Base     bool   // it is nothing but basic values
	Test     string // that called
}

// Answers are what the driver printed of a side, by function.
type Answers map[string]answer

// Read finds the driver's lines in the output of a command.
func read(output string) []answer {
	var out []answer
	for line := range strings.Lines(output) {
		at := strings.Index(line, "calls: {")
		if at < 0 {
			continue
		}
		var a answer
		if json.Unmarshal([]byte(strings.TrimSpace(line[at+len("calls: "):])), &a) == nil {
			out = append(out, a)
		}
	}
	return out
}

// All reads the answers about all calls.
func All(output string) Answers {
	out := Answers{}
	for _, a := range read(output) {
		if a.Code == "" {
			out[a.Name] = a
		}
	}
	return out
}

// callSize is how many characters stand for a call: its class and three hashes, of the
// input, of the result but for words, and of the result.
const callSize = 19

func (a answer) call(i int) (class byte, input, soft, strong string) {
	if len(a.Calls) < (i+1)*callSize {
		return '-', "", "", ""
	}
	c := a.Calls[i*callSize : (i+1)*callSize]
	return c[0], c[1:7], c[7:13], c[13:19]
}

// A Kind is how a function differs.
type Kind int

// The kinds, the gravest first.
const (
	Crashes Kind = iota + 1 // returns on the base, and panics, hangs or ends the process on the head
	Fails                   // returns on the base and returns an error on the head, or the reverse
	Differs                 // returns something else
	Words                   // the words of an error, or nothing against what is empty
)

// A Compared is what came of comparing a function.
type Compared struct {
	Function
	Key       string // by which it is answered about
	At        int    // its place in the plan
	Inputs    int    // compared
	Differing int    // of these, that differ in more than words
	Worded    int    // that differ in words alone
	Fixed     int    // of all, that panic or hang on the base alone
	// Unlike says why nothing was compared; empty: something was.
	Unlike string
	// Candidates are inputs that differ, the gravest first, the smallest first among those.
	Candidates []Candidate
}

// A Candidate is an input for which a function differs.
type Candidate struct {
	Index int
	Kind  Kind
	Hangs bool
	Base  bool     // it stands in the base's tree
	Taken bool     // it was recorded while the base's tests ran
	Tests []string // of the head in which it stands, where the driver says so
}

// Why nothing was compared.
const (
	Resigned     = "their signatures changed, or they have type parameters"
	NotMade      = "their parameters cannot be made"
	NotSteady    = "they differ from themselves"
	NotCalled    = "they could not be called on both sides"
	NotBegun     = "there was no time to call them"
	NotMadeAlive = "making their inputs ends the process, or does not end"
	NotAgain     = "they differed, and could not be called again"
	NotLoaded    = "their modules cannot be loaded"
	NotReturned  = "they return for none of the inputs on the base"
	NotSame      = "their inputs are not the same on both sides"
)

// Compare holds the answers of both sides against each other.
func (p Plan) Compare(base, head Answers) Comparison {
	out := resigned(p.Resigned)
	out.Left = p.Left
	for i, f := range p.Functions {
		out.Functions = append(out.Functions, compare(f, f.Name, i, base, head))
	}
	return out
}

// A Comparison is what came of comparing the functions of a plan.
type Comparison struct {
	Functions []Compared
	Left      int // functions above MaxFunctions
}

func resigned(names []string) Comparison {
	var out Comparison
	for _, name := range names {
		out.Functions = append(out.Functions, Compared{Function: Function{Name: name}, Unlike: Resigned})
	}
	return out
}

// compare holds the answers about a function, by its key, against each other.
func compare(f Function, key string, at int, base, head Answers) Compared {
	c := Compared{Function: f, Key: key, At: at}
	was, ok1 := base[key]
	now, ok2 := head[key]
	switch {
	case !ok1 || !ok2:
		c.Unlike = NotCalled
		return c
	case was.Why != "" || now.Why != "":
		c.Unlike = fmt.Sprintf("%s (%s)", NotLoaded, cmp.Or(was.Why, now.Why))
		return c
	case was.Late || now.Late:
		c.Unlike = NotBegun
		return c
	case was.Ended || now.Ended:
		c.Unlike = NotMadeAlive
		return c
	case !was.Makeable || !now.Makeable:
		c.Unlike = NotMade
		return c
	}
	others, ended := 0, 0
	for i := range len(was.Calls) / callSize {
		oldClass, oldIn, oldSoft, oldStrong := was.call(i)
		class, in, soft, strong := now.call(i)
		if oldClass == '~' || class == '~' {
			c.Unlike, c.Candidates = NotSteady, nil
			return c
		}
		ends := class == 'h' || class == 'x' // which leaves no input
		switch {
		case oldClass == '-' || class == '-':
			continue
		case oldClass == 'h' || oldClass == 'x' || oldClass == 'p':
			if ended++; class != oldClass {
				c.Fixed++
			}
			continue // it returns nothing to compare
		case oldIn != in && !ends:
			others++
			continue
		}
		c.Inputs++
		k := Candidate{Index: i, Hangs: class == 'h', Base: slices.Contains(was.Given, i) && slices.Contains(now.Given, i), Taken: slices.Contains(was.Taken, i), Tests: now.Stands[i]}
		switch {
		case ends || class == 'p':
			k.Kind = Crashes
		case soft == oldSoft && strong == oldStrong:
			continue
		case soft == oldSoft:
			k.Kind = Words
			c.Worded++
		case class != oldClass:
			k.Kind = Fails
		default:
			k.Kind = Differs
		}
		if k.Kind != Words {
			c.Differing++
		}
		c.Candidates = append(c.Candidates, k)
	}
	switch {
	case c.Inputs == 0 && others > 0:
		c.Unlike = NotSame
	case c.Inputs == 0 && ended > 0:
		c.Unlike = NotReturned
	case c.Inputs == 0:
		c.Unlike = NotCalled
	}
	sorted.By(c.Candidates, func(a, b Candidate) int {
		if a.Base != b.Base && a.Kind == Crashes && b.Kind == Crashes {
			return map[bool]int{true: -1, false: 1}[a.Base]
		}
		if a.Kind == b.Kind && a.Taken != b.Taken { // which are small
			return map[bool]int{true: 1, false: -1}[a.Taken]
		}
		return int(a.Kind) - int(b.Kind)
	})
	return c
}

// TimeVar, in the environment of a driver, is how long all calls may take before functions that
// they have not come to are left out; it is the same on both sides, and no function sees it.
const TimeVar = "CALLS_TIME"

// Which is what the driver is given to make some calls again, each within whole seconds, as
// people read the limit in a reproducer.
func Which(limit time.Duration, calls [][2]int) string {
	var out []string
	for _, c := range calls {
		out = append(out, strconv.Itoa(c[0])+":"+strconv.Itoa(c[1]))
	}
	limit = (limit + time.Second - 1).Truncate(time.Second)
	return limit.String() + ";" + strings.Join(out, ",")
}

// A Call is one that was made again.
type Call struct {
	Name   string
	Index  int
	Src    string // as Go writes it
	Stable bool   // twice the same
	Test   string // of the base, while which the input was recorded
	Outcome
}

// Some reads what came of calls that were made again.
func Some(output string) []Call {
	var out []Call
	for _, a := range read(output) {
		if a.Detail != nil {
			out = append(out, Call{a.Name, a.Index, a.Src, a.Stable, a.Test, *a.Detail})
		}
	}
	return out
}

// Returned says whether the call came back.
func (o Outcome) Returned() bool { return o.Class == "r" || o.Class == "e" }

// OnPurpose says whether a statement can have ended the call.
func (o Outcome) OnPurpose() bool { return !o.Fault && o.Class != "h" }

// Held says whether the statements that hold an outcome fail where it is another one: one of
// those that can fail is not what holds that as well.
func (o Outcome) Held(now Outcome) bool {
	return !now.Returned() || slices.ContainsFunc(o.Check, func(s string) bool {
		anyError := strings.HasPrefix(s, "if err") && strings.Contains(s, " == nil {") && now.Class == "e"
		return demands.MatchString(s) && !slices.Contains(now.Check, s) && !anyError
	})
}

// demands is how statements of a test begin that can fail, in the languages of the drivers.
var demands = pattern.New(`^\s*(?:await )?(?:if|assert|except|raise)\b`)

// Says puts an outcome into words.
func (o Outcome) Says() string {
	text := o.Text
	if text == "" {
		text = "nothing"
	}
	if o.Returned() && !o.Raised {
		return "returns " + short(text)
	}
	return short(text)
}

// shown is how much of an outcome is shown in a line.
const shown = 160

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > shown {
		return string(r[:shown]) + "…"
	}
	return s
}

// Test is a test that passes on the base and fails on the head, to be pasted; empty: the
// input cannot be written as Go.
func (p Plan) Test(f Function, was Call) string {
	if len(was.Check) == 0 {
		return ""
	}
	name := capital(f.plain)
	if f.owner != "" {
		name = capital(f.owner) + name
	}
	var b strings.Builder
	fmt.Fprintf(&b, "func Test%sAsBefore(t *testing.T) {\n", name)
	for _, statement := range was.Check {
		b.WriteString("\t" + strings.ReplaceAll(statement, "\n", "\n\t") + "\n")
	}
	fmt.Fprintf(&b, "\t// without the change it %s\n}\n", was.Says())
	for _, method := range []string{"Read", "Write"} {
		if name := map[string]string{"Read": "brokenReader", "Write": "brokenWriter"}[method]; strings.Contains(was.Src, name+"{}") {
			fmt.Fprintf(&b, "\ntype %s struct{}\n\nfunc (%s) %s([]byte) (int, error) { return 0, errors.New(\"broken\") }\n", name, name, method)
		}
	}
	return b.String()
}

func capital(name string) string {
	first, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[n:]
}

// Named says whether a test is one of those that have a name in a source, by the name that
// its runner has for it: with its class, or with its parameters.
func Named(names []string, test string) bool {
	plain, _, _ := strings.Cut(test, "[")
	return slices.Contains(names, test) || slices.Contains(names, plain[strings.LastIndexAny(plain, ".:")+1:])
}

// Standing are the tests of the head in which an input of the tree stands, by their names in
// the sources; false: it is not known.
func (c Compared) Standing(k Candidate, was Call) ([]string, bool) {
	if k.Taken {
		if c.lost[was.Test] {
			return nil, true
		}
		return []string{was.Test}, was.Test != ""
	}
	known, tests := false, slices.Clone(k.Tests)
	for _, g := range c.given {
		if was.Src == c.Name+"("+g.text()+")" {
			known, tests = true, append(tests, g.tests...)
		}
	}
	return tests, known || len(tests) > 0
}
