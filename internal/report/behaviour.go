package report

import (
	"fmt"
	"strings"
)

// A Difference is a changed function that does something else than before for an input,
// or a command line of a program, or a request to one, that does, which no test says.
type Difference struct {
	CommandLine bool     `json:"command_line,omitempty"` // Example is one, and Function empty
	Request     bool     `json:"request,omitempty"`      // Example is a request to the server that a command line starts
	Function    string   `json:"function"`
	Path        string   `json:"path"`
	Line        int      `json:"line"`
	Inputs      int      `json:"inputs"`    // for which it was called on both sides
	Differing   int      `json:"differing"` // of these, that differ
	Example     string   `json:"example"`   // the smallest of them, as the language writes the call
	Was         string   `json:"was"`
	Is          string   `json:"is"`
	Expected    bool     `json:"expected"`   // tests that fail without the change reach it
	Reproducer  string   `json:"reproducer"` // a test that holds what the base does
	Evidence    []string `json:"evidence"`
}

// An Interface is something that other modules could use on the base and cannot with the
// change.
type Interface struct {
	Symbol   string   `json:"symbol"`  // as the language writes it within its package
	Change   string   `json:"change"`  // what became of it: "removed"
	Witness  string   `json:"witness"` // a use that compiles on the base and not with the change
	Evidence []string `json:"evidence"`
}

// Removed is the Change of what is not there any more, or is not exported.
const Removed = "removed"

// The titles of the checks that find differences: of functions, and of command lines with the
// requests to what they start.
const (
	TitleFunctions    = "behaviour: changed functions called on both sides with the same inputs"
	TitleCommandLines = "behaviour: command lines of programs run on both sides"
)

// mdDifferences is how many are on the first screen.
const mdDifferences = 3

// surprising are the differences that no test of the change is about.
func (r *Report) surprising() []Difference {
	var out []Difference
	for _, d := range r.Behaviour {
		if !d.Expected {
			out = append(out, d)
		}
	}
	return out
}

// behaves is what the title says of them.
func (r *Report) behaves() string { return behave(r.surprising()) }

// behave counts differences, in words.
func behave(all []Difference) string {
	if len(all) == 0 {
		return ""
	}
	var what []string
	for _, of := range []struct {
		line, request bool
		noun          string
	}{{false, false, "function"}, {true, false, "command line"}, {true, true, "request"}} {
		n := 0
		for _, d := range all {
			if d.CommandLine == of.line && d.Request == of.request {
				n++
			}
		}
		if n > 0 {
			what = append(what, plural(n, of.noun))
		}
	}
	return joined(what) + map[bool]string{true: " behaves", false: " behave"}[len(all) == 1] + " differently"
}

// joined lists words, with "and" before the last one.
func joined(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// mdBehaviour names the first of them; the findings have all, with a test for each.
func (r *Report) mdBehaviour() *section {
	all := r.surprising()
	if len(all) == 0 {
		return nil
	}
	body := ""
	for _, d := range all[:min(len(all), mdDifferences)] {
		inputs := fmt.Sprintf("%d of %d inputs", d.Differing, d.Inputs)
		if d.CommandLine {
			inputs = ""
		}
		body += "- " + dotted(mdCode(d.Example, mdLine)+" "+mdText(d.Is, mdLine)+"; on base it "+mdText(d.Was, mdLine),
			mdCode(Finding{Path: d.Path, Line: d.Line}.place(), mdLine), inputs, r.mdIDs(d.Evidence)) + "\n"
	}
	if left := len(all) - mdDifferences; left > 0 {
		body += "\n" + mdMore(left)
	}
	return &section{rank: rankBehaviour, head: "**Behaves differently, and no test covers it:**", body: body}
}
