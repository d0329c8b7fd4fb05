package results

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	cargoRunning = pattern.New(`^\s+(?:Running (?:unittests )?(\S+) \(\S*?([^/]+)-[0-9a-f]+(?:\.exe)?\)|Doc-tests (\S+))`)
	cargoTest    = pattern.New(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored.*)$`)
	cargoStdout  = pattern.New(`^---- (.+?) stdout ----$`)
	cargoEnd     = pattern.New(`^test result: .*?(?:; (\d+) failed;|$)`)
	cargoBegin   = pattern.New(`^running \d+ tests?$`)
	docLine      = pattern.New(` \(line \d+\)( - compile( fail)?)?$`)
)

// ParseCargo reads the text of "cargo test". Which program's tests follow is
// said by the lines "Running" of cargo itself. A program that begins and does not
// report its end has ended before its tests did.
func ParseCargo(data []byte) ([]Outcome, error) {
	var out []Outcome
	program, said := "", saying{at: -1}
	times := map[string]int{} // by program: each member of a workspace can have one of that name
	var tests map[string]int  // of the program that runs, where they stand in out
	running, counted, failed := false, 0, 0
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(plainText(string(line)), "\r\n")
		if m := cargoRunning.FindStringSubmatch(text); m != nil {
			program = m[1] + m[3]
			times[program]++
			continue
		}
		switch m := cargoTest.FindStringSubmatch(text); {
		case cargoBegin.MatchString(text):
			said.begin(out, -1)
			if running {
				return out, errEnded
			}
			running, tests = true, map[string]int{}
		case m != nil && running:
			o := Outcome{pkg: cargoPkg(program), name: docLine.ReplaceAllString(m[1], ""), status: Passed}
			switch {
			case m[2] == "FAILED":
				o.status = Failed
				failed++
			case strings.HasPrefix(m[2], "ignored"):
				o.status = Skipped
			}
			tests[o.name] = len(out)
			if n := times[program]; n > 1 {
				o.name = fmt.Sprintf("%s[%d]", o.name, n)
			}
			out = append(out, o)
		case cargoStdout.MatchString(text):
			at, ok := tests[docLine.ReplaceAllString(cargoStdout.FindStringSubmatch(text)[1], "")]
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
	if running {
		return out, errEnded
	}
	return out, disagree(counted, failed)
}

func cargoPkg(program string) string {
	if program == "" {
		return "cargo"
	}
	return program
}
