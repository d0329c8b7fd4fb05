package checks

import (
	"context"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// wholeStrength finds out whether mutants make the tests of the change fail where all tests
// run for each of them: those are asked about their lines that no mutant made fail.
func (m *mutator) wholeStrength(ctx context.Context, trials []*trial, files []changedFile) error {
	for _, c := range m.candidates {
		var mine []*trial
		known := true
		for _, t := range trials {
			if t.group.programs != nil || t.result != survived && t.result != killed || t.group.command.Unit != c.ID.Unit {
				continue
			}
			known = known && t.suite[c.ID].Status == Passed // else it noticed the mutant, or did not come to run
			mine = append(mine, t)
		}
		if !known || len(mine) < enoughMutants {
			continue
		}
		counts, evidence, err := m.linesOf(ctx, c, mine[0].group.command, files)
		if err != nil {
			return err
		}
		if counts == nil || m.budget <= 0 {
			continue
		}
		tried, strong, all := 0, 0, []string{evidence}
		for _, t := range mine {
			if ran, _ := counts.Line(t.Path, t.Line); ran {
				tried, strong, all = tried+1, strong+b2i(!t.Weak), append(all, t.step.Evidence)
			}
		}
		m.vacuous(c, tried, strong, all)
	}
	return nil
}

// linesOf are the changed lines that a test runs by itself; nil where that is not known.
func (m *mutator) linesOf(ctx context.Context, c Candidate, command ecosystem.Command, files []changedFile) (*results.LineCounts, string, error) {
	eco := languages.Named(command.Eco)
	if eco == nil || eco.Lines == nil || command.Results == nil || command.Results.Narrow == nil {
		return nil, "", nil
	}
	q := ecosystem.Counting{Unit: command.Unit}
	for _, f := range files {
		if ecosystem.Inside(command.Unit, f.path) && eco.Lines.Knows(f.path) {
			q.Files = append(q.Files, ecosystem.ChangedFile{Path: f.path, Src: f.src, Lines: f.lines})
		}
	}
	alone, ok := command.Results.Narrow(command, ecosystem.Part{Packages: []string{c.ID.Package}, Only: c.ID.Test})
	if !ok || len(q.Files) == 0 {
		return nil, "", nil
	}
	counting, why := eco.Lines.Command(alone, q)
	if why != "" {
		return nil, "", nil
	}
	if err := m.in.Reset(ctx, Head); err != nil {
		return nil, "", err
	}
	counting.Stage, counting.Timeout = StageMutation, m.in.StepLimit
	counts := eco.Lines.Reader(command.Results.Collect(command.Unit), q)
	step, err := m.in.Exec(ctx, Head, counting, counts)
	if err != nil {
		return nil, "", err
	}
	m.budget -= step.Duration
	suite := m.in.Collect(Head, m.in.Head, counting, counts, step)
	if step.Failed() || counts.Missed() != "" || suite[c.ID].Status != Passed {
		return nil, "", nil
	}
	for id, t := range suite {
		if id != c.ID && id.Test != "" && t.Status == Passed {
			return nil, "", nil // of several tests it is not known which one ran a line
		}
	}
	return counts, step.Evidence, nil
}
