package publish

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
)

// GitHub shows and requires check runs by commit, and the newest one counts. Where two
// pull requests have one commit as their head, a success of one is seen on the other,
// whose base may be another and protected. Each job has a check run of its own there,
// which says whose it is, and none touches another's.

// forPull begins a check run's summary: whose it is, and into which branch that goes. It is read again: do not change it.
func forPull(t Target, e ending) string {
	if t.Number == 0 {
		return ""
	}
	v := e.rep.Verdict
	if v == report.Pass && (e.Claims || e.Kind != Normal) {
		v = report.Partial
	}
	s := fmt.Sprintf("For pull request %d: %s.", t.Number, v)
	if t.Base != "" {
		s += "\n" + changeOf(t.Base)
	}
	return s
}

// changeOf is the line that names a branch; no two have the same.
func changeOf(base string) string {
	return "As a change of " + report.InertMarkdown(base, 1000) + "."
}

var forPullPattern = pattern.New(`^For pull request ([1-9][0-9]{0,9}): ([A-Z]+)\.(?:\n(As a change of [^\n]*\.))?(?:\n|$)`)

// A shows is what a check run says of itself.
type shows struct {
	pull    int // 0: it does not say whose it is
	verdict report.Verdict
	into    string // as changeOf has it; empty: not said, as by earlier versions
}

// shownBy says which pull request's run r shows, and its verdict.
func shownBy(r github.CheckRun) shows {
	if r.Output == nil {
		return shows{}
	}
	m := forPullPattern.FindStringSubmatch(strings.ReplaceAll(r.Output.Summary, "\r\n", "\n"))
	if m == nil {
		return shows{}
	}
	number, _ := strconv.Atoi(m[1]) // digits
	return shows{number, report.Verdict(m[2]), m[3]}
}

// elsewhere reports whether it is about another branch than base, as far as both are known.
func (s shows) elsewhere(base string) bool {
	return s.into != "" && base != "" && s.into != changeOf(base)
}

// coveredBy is the number of the newest of runs that is a success of t's pull request as a change of another branch than
// base; 0: there is none. It says nothing of this branch, and GitHub takes it for the last word until a newer check run
// is made: what is older does not count any more.
func coveredBy(t Target, base string, runs ...github.CheckRun) (id int64) {
	for _, r := range runs {
		if s := shownBy(r); r.Conclusion == success && s.pull == t.Number && s.pull != 0 && s.elsewhere(base) {
			id = max(id, r.ID)
		}
	}
	return id
}

// after are those of runs that are newer than one.
func after(runs []github.CheckRun, id int64) []github.CheckRun {
	return slices.DeleteFunc(slices.Clone(runs), func(r github.CheckRun) bool { return r.ID <= id })
}

// heedOthers takes a success back where another open pull request into another base
// has the same head and no PASS of its own.
func (p *Publisher) heedOthers(ctx context.Context, t Target, e *ending) error {
	if e.conclusion != success || t.Number == 0 || !p.Check {
		return nil
	}
	own, others, err := p.runsOf(ctx, t)
	if err != nil {
		return err
	}
	for _, n := range sharing(t, own, others) {
		base := ""
		pull, err := p.GitHub.Pull(ctx, t.Repo, n)
		if err != nil && !refused(err) {
			return fmt.Errorf("pull request %d has the same head: %w", n, err)
		}
		if err == nil {
			base = pull.Base.Name
		}
		if passed(n, base, others) || err == nil && (pull.State != "open" || pull.Head.SHA != t.HeadSHA || base == e.base) {
			continue
		}
		e.other, e.conclusion = n, failure
		e.title = fmt.Sprintf("PASS does not count: pull request %d has the same commit; it has no PASS", n)
		return nil
	}
	return nil
}

// sharing are the other pull requests that are known to have t's head, or to have had it.
func sharing(t Target, own, others []github.CheckRun) []int {
	var out []int
	for _, r := range slices.Concat(own, others) {
		for _, l := range r.Pulls {
			if l.HeadSHA == t.HeadSHA {
				out = append(out, l.Number)
			}
		}
		if n := shownBy(r).pull; n != 0 { // those of forks are not linked
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(n int) bool { return n == t.Number })
}

// passed reports whether the newest of runs that shows pull request n says PASS, for the branch that it goes into.
func passed(n int, base string, runs []github.CheckRun) bool {
	for _, r := range runs { // newest first
		if s := shownBy(r); s.pull == n {
			return s.verdict == report.Pass && r.Status == completed && !s.elsewhere(base)
		}
	}
	return false
}
