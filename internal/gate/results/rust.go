package results

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

var (
	cargoRunning = pattern.New(`^\s+(?:Running (?:unittests )?(\S+) \(([^)]*-[0-9a-f]+(?:\.exe)?)\)|Doc-tests (\S+))`)
	cargoTest    = pattern.New(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored.*)$`)
	cargoStdout  = pattern.New(`^---- (.+?) stdout ----$`)
	cargoEnd     = pattern.New(`^test result: .*?(?:; (\d+) failed;|$)`)
	cargoBegin   = pattern.New(`^running \d+ tests?$`)
	cargoFailed  = pattern.New(`^error: (?:doc)?test failed, to rerun pass `)
	docMode      = pattern.New(` - compile(?: fail)?$`)
	docLine      = pattern.New(` \(line (\d+)\)$`)
	docFile      = pattern.New(`^(\S.*?\.\w+) -( .*)?$`)
)

// cargoArtifact is how a line of "cargo test --message-format=json" begins that names what was
// compiled (https://doc.rust-lang.org/cargo/reference/external-tools.html#artifact-messages).
const cargoArtifact = `{"reason":"compiler-artifact"`

// A cargoTarget is what such a line says of a program of tests.
type cargoTarget struct {
	Manifest   string `json:"manifest_path"`
	Executable string
	Target     struct {
		Kind []string
		Name string
		Src  string `json:"src_path"`
	}
}

// Cargo collects from the text of "cargo test", behind the lines of JSON that name its programs.
func Cargo(unit string) Collector {
	return &document{unit: unit, text: true, ours: cargoArtifact, parse: ParseCargo, place: placeCargo}
}

// placeCargo names the source of a program, and that of an example of documentation, from the
// top of the repository. The examples of a crate are those of its name.
func placeCargo(unit, wd string, o *Outcome) {
	m := docFile.FindStringSubmatch(o.name)
	if m == nil || path.IsAbs(o.pkg) {
		o.pkg = relative(unit, wd, o.pkg)
	} else if path.IsAbs(m[1]) {
		o.name = relative(unit, wd, m[1]) + o.name[len(m[1]):]
	}
}

// cargoPrograms are the programs of tests by their names and the libraries by those of their
// crates.
type cargoPrograms struct {
	by   map[string]cargoTarget // by the last part of the path
	libs map[string]cargoTarget // nothing in it: several have the name
}

// artifact reads what cargo says of a program. Two sources of one program are not to be believed.
func (p *cargoPrograms) artifact(line string) error {
	var t cargoTarget
	if json.Unmarshal([]byte(line), &t) != nil || t.Executable == "" || t.Target.Src == "" {
		return nil
	}
	name := lastPart(t.Executable)
	if was, ok := p.by[name]; ok && was.Target.Src != t.Target.Src {
		return fmt.Errorf("cargo names two sources of %s", name)
	}
	p.by[name] = t
	if slices.ContainsFunc(t.Target.Kind, func(k string) bool { return strings.HasSuffix(k, "lib") || k == "proc-macro" }) {
		crate := crateName(t.Target.Name)
		if was, ok := p.libs[crate]; ok && was.Target.Src != t.Target.Src {
			t = cargoTarget{}
		}
		p.libs[crate] = t
	}
	return nil
}

// example names a test of documentation by the path of its file. cargo has it from the top of the
// workspace, which is the package's folder or one above it.
func (p *cargoPrograms) example(crate, test string) string {
	m, lib := docFile.FindStringSubmatch(test), p.libs[crateName(crate)]
	if m == nil || lib.Manifest == "" || path.IsAbs(m[1]) {
		return test
	}
	dir := path.Dir(lib.Manifest)
	at := path.Join(dir, m[1])
	for up := path.Dir(dir); up != "/" && up != "."; up = path.Dir(up) {
		if whole := path.Join(up, m[1]); strings.HasPrefix(whole, dir+"/") {
			at = whole
		}
	}
	return at + test[len(m[1]):]
}

func lastPart(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

func crateName(name string) string { return strings.ReplaceAll(name, "-", "_") }

// ParseCargo reads the text of "cargo test". Which program's tests follow is
// said by the lines "Running" of cargo itself, and which source a program is made of by the
// artifacts before them: else programs of one name are numbered, in their order. A program
// that begins and does not report its end has ended before its tests did. One that reports none
// (harness = false) is a test of its own by what cargo says of its end, and so is one that fails
// although none of its tests does.
func ParseCargo(data []byte) ([]Outcome, error) {
	r := &cargoReader{
		said: saying{at: -1}, times: map[string]int{},
		programs: cargoPrograms{map[string]cargoTarget{}, map[string]cargoTarget{}},
	}
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(plainText(string(line)), "\r\n")
		if r.program == "" && strings.HasPrefix(text, cargoArtifact) { // what tests print comes later
			if err := r.programs.artifact(text); err != nil {
				return nil, err
			}
		} else if m := cargoRunning.FindStringSubmatch(text); m != nil {
			r.starts(m)
		} else if cargoFailed.MatchString(text) && !r.running && r.program != "" {
			r.fails()
		} else if err := r.line(text); err != nil {
			return r.out, err
		}
	}
	r.said.begin(r.out, -1)
	numberExamples(r.out)
	if r.running {
		return r.out, errEnded
	}
	return r.out, disagree(r.counted, r.failed)
}

// cargoReader reads what cargo and its programs print, line by line.
type cargoReader struct {
	out      []Outcome
	said     saying
	programs cargoPrograms
	program  string         // that runs
	crate    string         // whose examples run; empty: none do
	times    map[string]int // by program: each member of a workspace can have one of that name
	tests    map[string]int // of the program, where they stand in out
	running  bool           // its tests have begun and not ended
	silent   bool           // it has reported no test, which would be the last of out
	before   int            // failures before it
	counted  int            // failures, as the programs count them
	failed   int            // failures
}

// whole is the program as a test of its own.
func (r *cargoReader) whole() Outcome {
	name := cargoMain
	if n := r.times[r.program]; n > 1 {
		name = fmt.Sprintf("%s[%d]", name, n)
	}
	return Outcome{pkg: cargoPkg(r.program), name: name, status: Passed}
}

// starts takes what cargo says of a program that it runs.
func (r *cargoReader) starts(m []string) {
	r.program, r.crate = m[1]+m[3], m[3]
	if t, ok := r.programs.by[lastPart(m[2])]; ok {
		r.program = t.Target.Src
	} else if r.crate == "" && len(r.programs.by) > 0 {
		r.times[r.program] = max(r.times[r.program], 1) // the first can be one that is named
	}
	r.times[r.program]++
	r.said.begin(r.out, -1)
	r.silent, r.before = true, r.failed
	r.out = append(r.out, r.whole())
	r.said.begin(r.out, len(r.out)-1)
}

// fails takes what cargo says of a program that failed.
func (r *cargoReader) fails() {
	switch {
	case r.silent:
		r.out[len(r.out)-1].status = Failed
	case r.failed == r.before:
		o := r.whole()
		o.status, o.output = Failed, "it fails, and none of its tests does"
		r.out = append(r.out, o)
	}
}

// line takes one that a program prints.
func (r *cargoReader) line(text string) error {
	switch m := cargoTest.FindStringSubmatch(text); {
	case cargoBegin.MatchString(text):
		r.said.begin(r.out, -1)
		if r.running {
			return errEnded
		}
		if r.silent {
			r.out, r.silent = r.out[:len(r.out)-1], false
		}
		r.running, r.tests = true, map[string]int{}
	case m != nil && r.running:
		r.test(docMode.ReplaceAllString(m[1], ""), m[2])
	case cargoStdout.MatchString(text):
		at, ok := r.tests[docMode.ReplaceAllString(cargoStdout.FindStringSubmatch(text)[1], "")]
		if !ok {
			at = -1
		}
		r.said.begin(r.out, at)
	case cargoEnd.MatchString(text):
		r.said.begin(r.out, -1)
		n, _ := strconv.Atoi(cargoEnd.FindStringSubmatch(text)[1]) // too long a number counts nothing that there is
		r.running, r.counted = false, r.counted+n
	case text == "failures:":
		r.said.begin(r.out, -1)
	default:
		r.said.line(text)
	}
	return nil
}

// test takes one that ended.
func (r *cargoReader) test(name, end string) {
	o := Outcome{pkg: cargoPkg(r.program), name: docLine.ReplaceAllString(name, ""), status: Passed}
	if at := docLine.FindStringSubmatch(name); at != nil {
		o.line, _ = strconv.Atoi(at[1]) // too long a number is that of none
	}
	switch {
	case end == "FAILED":
		o.status = Failed
		r.failed++
	case strings.HasPrefix(end, "ignored"):
		o.status = Skipped
	}
	r.tests[name] = len(r.out)
	if named := r.programs.example(r.crate, o.name); r.crate != "" && named != o.name {
		o.name = named
	} else if n := r.times[r.program]; n > 1 {
		o.name = fmt.Sprintf("%s[%d]", o.name, n)
	}
	r.out = append(r.out, o)
}

// numberExamples numbers several examples of documentation of one thing by their lines, which
// others before them change. They run in no order.
func numberExamples(out []Outcome) {
	type key struct{ pkg, name string }
	of := map[key][]int{}
	for i, o := range out {
		if o.line > 0 {
			of[key{o.pkg, o.name}] = append(of[key{o.pkg, o.name}], i)
		}
	}
	for _, list := range of {
		sorted.By(list, func(a, b int) int { return cmp.Compare(out[a].line, out[b].line) })
		for n, i := range list[1:] {
			out[i].name = fmt.Sprintf("%s[%d]", out[i].name, n+2)
		}
	}
}

// cargoMain is what the whole of a program is called that reports no tests.
const cargoMain = "main"

func cargoPkg(program string) string {
	if program == "" {
		return "cargo"
	}
	return program
}
