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

// forPull is the first line of a check run's summary. It is read again: do not change it.
func forPull(t Target, e ending) string {
	if t.Number == 0 {
		return ""
	}
	v := e.rep.Verdict
	if v == report.Pass && (e.Claims || e.Kind != Normal) {
		v = report.Partial
	}
	return fmt.Sprintf("For pull request %d: %s.", t.Number, v)
}

var forPullPattern = pattern.New(`^For pull request ([1-9][0-9]{0,9}): ([A-Z]+)\.(\n|$)`)

// pullOf says which pull request's run r shows, and its verdict; 0: it does not say.
func pullOf(r github.CheckRun) (number int, v report.Verdict) {
	if r.Output == nil {
		return 0, ""
	}
	m := forPullPattern.FindStringSubmatch(strings.ReplaceAll(r.Output.Summary, "\r\n", "\n"))
	if m == nil {
		return 0, ""
	}
	number, _ = strconv.Atoi(m[1]) // digits
	return number, report.Verdict(m[2])
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
		if passed(n, others) {
			continue
		}
		pull, err := p.GitHub.Pull(ctx, t.Repo, n)
		if err != nil && !refused(err) {
			return fmt.Errorf("pull request %d has the same head: %w", n, err)
		}
		if err == nil && (pull.State != "open" || pull.Head.SHA != t.HeadSHA || pull.Base.Name == e.base) {
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
		if n, _ := pullOf(r); n != 0 { // those of forks are not linked
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(n int) bool { return n == t.Number })
}

// passed reports whether the newest of runs that shows pull request n says PASS.
func passed(n int, runs []github.CheckRun) bool {
	for _, r := range runs { // newest first
		if of, v := pullOf(r); of == n {
			return v == report.Pass && r.Status == completed
		}
	}
	return false
}
