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
	var out []Outcome
	program, crate, said := "", "", saying{at: -1}
	programs := cargoPrograms{map[string]cargoTarget{}, map[string]cargoTarget{}}
	times := map[string]int{} // by program: each member of a workspace can have one of that name
	var tests map[string]int  // of the program that runs, where they stand in out
	running, counted, failed := false, 0, 0
	silent, before := false, 0 // of the program: it has reported no test, which would be the last of out; failures before it
	whole := func() Outcome {
		name := cargoMain
		if n := times[program]; n > 1 {
			name = fmt.Sprintf("%s[%d]", name, n)
		}
		return Outcome{pkg: cargoPkg(program), name: name, status: Passed}
	}
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(plainText(string(line)), "\r\n")
		if program == "" && strings.HasPrefix(text, cargoArtifact) { // what tests print comes later
			if err := programs.artifact(text); err != nil {
				return nil, err
			}
			continue
		}
		if m := cargoRunning.FindStringSubmatch(text); m != nil {
			program, crate = m[1]+m[3], m[3]
			if t, ok := programs.by[lastPart(m[2])]; ok {
				program = t.Target.Src
			} else if crate == "" && len(programs.by) > 0 {
				times[program] = max(times[program], 1) // the first can be one that is named
			}
			times[program]++
			said.begin(out, -1)
			silent, before = true, failed
			out = append(out, whole())
			said.begin(out, len(out)-1)
			continue
		}
		if cargoFailed.MatchString(text) && !running && program != "" {
			switch {
			case silent:
				out[len(out)-1].status = Failed
			case failed == before:
				o := whole()
				o.status, o.output = Failed, "it fails, and none of its tests does"
				out = append(out, o)
			}
			continue
		}
		switch m := cargoTest.FindStringSubmatch(text); {
		case cargoBegin.MatchString(text):
			said.begin(out, -1)
			if running {
				return out, errEnded
			}
			if silent {
				out, silent = out[:len(out)-1], false
			}
			running, tests = true, map[string]int{}
		case m != nil && running:
			name := docMode.ReplaceAllString(m[1], "")
			o := Outcome{pkg: cargoPkg(program), name: docLine.ReplaceAllString(name, ""), status: Passed}
			if at := docLine.FindStringSubmatch(name); at != nil {
				o.line, _ = strconv.Atoi(at[1]) // too long a number is that of none
			}
			switch {
			case m[2] == "FAILED":
				o.status = Failed
				failed++
			case strings.HasPrefix(m[2], "ignored"):
				o.status = Skipped
			}
			tests[name] = len(out)
			if named := programs.example(crate, o.name); crate != "" && named != o.name {
				o.name = named
			} else if n := times[program]; n > 1 {
				o.name = fmt.Sprintf("%s[%d]", o.name, n)
			}
			out = append(out, o)
		case cargoStdout.MatchString(text):
			at, ok := tests[docMode.ReplaceAllString(cargoStdout.FindStringSubmatch(text)[1], "")]
			if !ok {
				at = -1
			}
			said.begin(out, at)
		case cargoEnd.MatchString(text):
			said.begin(out, -1)
			n, _ := strconv.Atoi(cargoEnd.FindStringSubmatch(text)[1]) // too long a number counts nothing that there is
			running, counted = false, counted+n
		case text == "failures:":
			said.begin(out, -1)
		default:
			said.line(text)
		}
	}
	said.begin(out, -1)
	numberExamples(out)
	if running {
		return out, errEnded
	}
	return out, disagree(counted, failed)
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
