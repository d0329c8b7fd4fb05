package orchestrator

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Bounds of what an agent is given of the gate's result: its request is sent with
// every question.
const (
	notedSteps    = 40
	notedCases    = 20  // of one kind
	notedRunes    = 200 // of a command, a test's name or a line of code
	notedSlow     = 15  // commands whose durations are given
	notedSentence = 500 // runes of a reason
	notedLeast    = time.Second
	notedFailed   = 600 // runes of the output of a command that failed
)

// gateNotes say what the gate found and what it could not see, so that no agent repeats
// it. Commands that ycbot makes up for itself, such as those that run a mutant, are
// counted and not quoted: an agent cannot use them, and they are long.
func gateNotes(r *gate.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## What the gate found\n\nIts verdict: %s.\n", r.Verdict)
	for _, reason := range sentences(r.Reasons) {
		b.WriteString("- " + reason + "\n")
	}
	b.WriteString("\nIts commands, which are in the log:\n\n" + fenced(gateSteps(r)))
	if cases := gateCases(r); len(cases) > 0 {
		b.WriteString("\nTests worth knowing:\n\n" + fenced(cases))
	}
	if lines := givenUp(r.Expectations); len(lines) > 0 {
		b.WriteString("\nExpectations of the base that the change gives up or alters. Find out whether the new behaviour is what the task asks for:\n\n" + fenced(lines))
	}
	if lines := differing(r.Behaviour); len(lines) > 0 {
		b.WriteString("\nWhat changed functions do otherwise than on the base, which no test says. Judge these first: is each what the task asks for?\n\n" + fenced(lines))
	}
	if lines := differingLines(r.Programs); len(lines) > 0 {
		b.WriteString("\nCommand lines of the project, and requests to its servers, that do something else than on the base. Judge these first, too: is each what the task asks for?\n\n" + fenced(lines))
	}
	if lines := unwatched(r.Mutation); len(lines) > 0 {
		b.WriteString("\nWhat the tests do not watch. Faults here pass the tests, so attack these lines first:\n\n" + fenced(lines))
	}
	if len(r.NotCovered) > 0 {
		b.WriteString("\nIt did not cover:\n\n")
		for _, n := range sentences(r.NotCovered) {
			b.WriteString("- " + n + "\n")
		}
	}
	return b.String()
}

// sentences are texts of the gate, which may quote a command of any length.
func sentences(all []string) []string {
	var out []string
	for _, text := range all {
		out = append(out, evidence.Visible(shortened(text, notedSentence)))
	}
	return capped(out, notedCases)
}

// fenced quotes lines that hold text of the change.
func fenced(lines []string) string {
	return evidence.Fence(evidence.Visible(strings.Join(lines, "\n")))
}

// noted shortens a text to one line.
func noted(text string) string { return shortened(text, notedRunes) }

func shortened(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " …"
	}
	return text
}

// capped is a list of at most most lines, with the number of those left out.
func capped(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more", len(lines)-most))
}

// gateSteps are the gate's commands as an agent can use them, those that failed with the
// beginning of their output.
func gateSteps(r *gate.Result) []string {
	var lines []string
	made := 0
	for _, s := range r.Steps {
		switch s.Stage {
		case gate.StageList, gate.StageWarm:
			continue
		case gate.StageMutation, gate.StageRerun, gate.StageProbe:
			if !s.Failed() || s.Stage == gate.StageMutation {
				made++
				continue
			}
		case gate.StageSetup, gate.StageBuild, gate.StageLint, gate.StageTest, gate.StageFailToPass, gate.StageKept:
		}
		line := fmt.Sprintf("[%s] exit=%d %s: %s", s.Evidence, s.Exit, s.Side, noted(s.Command))
		if s.Stage != gate.StageTest {
			line += " (" + string(s.Stage) + ")"
		}
		if s.Unit != "." && s.Unit != "" {
			line += " (in " + s.Unit + ")"
		}
		if s.TimedOut {
			line += " (timed out)"
		}
		if s.Limit != "" {
			line += " (ended for the limit of " + s.Limit + ")"
		}
		if s.Failed() && s.Output != "" {
			line += "\n    " + strings.ReplaceAll(agent.Cut(strings.TrimSpace(s.Output), notedFailed), "\n", "\n    ")
		}
		lines = append(lines, line)
	}
	lines = capped(lines, notedSteps)
	if made > 0 {
		lines = append(lines, fmt.Sprintf("and %d commands of its own: probes, repetitions, mutants", made))
	}
	return lines
}

// gateCases are the tests that an agent should know of.
func gateCases(r *gate.Result) []string {
	var lines []string
	for _, g := range []struct {
		title string
		cases []gate.Case
	}{
		{"passes on base, fails on head", r.Tests.Regressed},
		{"new, fails on head", r.Tests.NewFailing},
		{"fails on both", r.Tests.PreExisting},
		{"flaky", r.Tests.Flaky},
		{"passed on base, did not run on head", r.Tests.NotRun},
		{"removed by the change", r.Tests.Removed},
		{"fails without the change, passes with it", r.FailToPass.Proven},
		{"passes without the change as well", r.FailToPass.PassOnBase},
	} {
		var of []string
		for _, k := range gate.Leaves(g.cases) {
			of = append(of, g.title+": "+noted(k.ID.String()))
		}
		lines = append(lines, capped(of, notedCases)...)
	}
	return lines
}

// givenUp are the tests of the base that do not hold any more, with what the change made
// of them.
func givenUp(e *gate.Expectations) []string {
	if e == nil {
		return nil
	}
	var lines []string
	for _, x := range e.Changed {
		line := string(x.Class) + ": " + noted(x.ID.String())
		if x.Path != "" {
			line += " (" + place(x.Path, x.Line) + ")"
		}
		for _, part := range [][2]string{{"was", x.Old}, {"is", x.New}, {"says", x.Message}} {
			if strings.TrimSpace(part[1]) != "" {
				line += "\n    " + part[0] + ": " + noted(part[1])
			}
		}
		lines = append(lines, line)
	}
	return capped(lines, notedCases)
}

// differing are the functions that do something else than on the base, those that tests of
// the change are about last.
func differing(o *gate.Behaviour) []string {
	if o == nil {
		return nil
	}
	var lines []string
	for _, d := range o.Differences {
		line := place(d.Path, d.Line) + ": " + noted(d.Example) + " " + noted(d.Is) + "; on the base it " + noted(d.Was)
		if d.Expected {
			line += " (reached by tests that fail without the change)"
		}
		lines = append(lines, line)
	}
	return capped(lines, notedCases)
}

// differingLines are the command lines and requests that do something else than on the base, those
// whose text the change alters last.
func differingLines(o *gate.Programs) []string {
	if o == nil {
		return nil
	}
	var lines []string
	for _, d := range o.Differences {
		line := noted(d.Line) + ": it " + noted(d.Is) + "; on the base it " + noted(d.Was)
		if d.Path != "" {
			line = place(d.Path, d.At) + ": " + line
		}
		if d.Expected {
			line += " (the change alters the text around it)"
		}
		lines = append(lines, line)
	}
	return capped(lines, notedCases)
}

// unwatched are the changed lines in which the tests notice no fault: mutants that all
// tests pass with, and lines that no test runs.
func unwatched(m *gate.Mutation) []string {
	if m == nil {
		return nil
	}
	var survived, unrun []string
	for _, s := range m.Survivors {
		line := "tests pass although changed: " + place(s.Path, s.Line) + ": " + noted(s.Title)
		if s.Weak {
			line += " (may make no difference)"
		}
		survived = append(survived, line)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Unrun)) {
		unrun = append(unrun, "no test runs: "+name+":"+strings.Join(capped(report.LineRanges(m.Unrun[name]), notedCases), ","))
	}
	return append(capped(survived, notedCases), capped(unrun, notedCases)...)
}

func place(path string, line int) string {
	if line <= 0 {
		return path
	}
	return path + ":" + strconv.Itoa(line)
}

// durations says how long the gate's slower commands took on this machine, so that what there is
// time for can be planned. They differ from run to run, so that they are no part of
// an agent's order, by which its work is known again.
func durations(r *gate.Result) string {
	steps := slices.DeleteFunc(slices.Clone(r.Steps), func(s gate.Step) bool {
		return s.Side != gate.Head || s.Duration < notedLeast || s.Stage == gate.StageMutation || s.Stage == gate.StageWarm
	})
	sorted.By(steps, func(a, b gate.Step) int { return int(b.Duration - a.Duration) })
	var parts []string
	for _, s := range steps[:min(len(steps), notedSlow)] {
		parts = append(parts, fmt.Sprintf("[%s] %s", s.Evidence, s.Duration.Round(time.Second)))
	}
	return strings.Join(parts, ", ")
}
