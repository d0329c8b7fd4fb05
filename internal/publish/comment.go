package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sorted"
)

// commentLimit is how many characters a comment has at most; GitHub takes 65 536.
const commentLimit = 60_000

// postResult puts the result into the comment and returns its address.
func (p *Publisher) postResult(ctx context.Context, t Target, e ending) (string, error) {
	mark, key := p.place(t)
	if e.rep.Outcome == report.Cancelled && !p.App {
		// A workflow that is cancelled, as by each push, adds nothing to the page. Only
		// what this very run has shown so far is brought to its end.
		mine, err := p.mine(ctx, t, mark)
		if err != nil || len(mine) == 0 {
			return "", err
		}
		if r := p.result(t, e); parseState(mine[0].Body).Run != r.Run && !r.runs(mine[0].Body) {
			return mine[0].HTMLURL, nil
		}
	}
	c, err := p.settle(ctx, t, key, mark, func(old string) (string, error) { return p.compose(t, e, mark, old) })
	return c.HTMLURL, err
}

func (p *Publisher) commentKey(t Target) string {
	key := fmt.Sprintf("comment/%s#%d", t.Repo, t.Number)
	if p.Scope != "" {
		key += "/" + word(p.Scope)
	}
	return key
}

// mark is the first line of a comment; kind distinguishes what there may be several of.
func (p *Publisher) mark(t Target, kind string) string {
	s := fmt.Sprintf("%s%s#%d", markOpen, t.Repo, t.Number)
	if p.Scope != "" {
		s += " scope=" + word(p.Scope)
	}
	if kind != "" {
		s += " " + kind
	}
	return s + markClose
}

// word makes of s what can stand in a mark: itself where it is short and harmless.
func word(s string) string {
	if len(s) <= 100 && runPattern.MatchString(s) && !strings.Contains(s, "--") {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// nameless is a mark without the name of the repository, as that may have had another one; false
// where it is no mark.
func nameless(mark string) (rest string, ok bool) {
	of, ours := strings.CutPrefix(mark, markOpen)
	_, rest, ok = strings.Cut(of, "#")
	return strings.ToLower(rest), ours && ok
}

// mine returns the comments that begin with mark and that we wrote, oldest first.
// Anyone can write a mark: the author decides.
func (p *Publisher) mine(ctx context.Context, t Target, mark string) ([]github.Comment, error) {
	me, err := p.me(ctx)
	if err != nil {
		return nil, err
	}
	want, _ := nameless(mark)
	all, err := p.GitHub.Comments(ctx, t.Repo, t.Number)
	if err != nil && !errors.Is(err, github.ErrCut) {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c github.Comment) bool {
		first, _, _ := strings.Cut(c.Body, "\n")
		is, ok := nameless(strings.TrimRight(first, "\r"))
		return c.Author.ID != me.ID || !ok || is != want
	})
	if err != nil && len(all) == 0 {
		return nil, err // it may stand further down
	}
	sorted.By(all, func(a, b github.Comment) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// settle makes the one comment that begins with mark say what compose makes of what
// it says now ("" where there is none). Where two runs created one each, the oldest
// counts and the others point to it.
func (p *Publisher) settle(ctx context.Context, t Target, key, mark string, compose func(old string) (string, error)) (github.Comment, error) {
	var mine []github.Comment
	var made github.Comment
	look := func(ctx context.Context) (ref string, err error) {
		if mine, err = p.mine(ctx, t, mark); err != nil || len(mine) == 0 {
			return "", err
		}
		return strconv.FormatInt(mine[0].ID, 10), nil
	}
	create := func(ctx context.Context) (string, error) {
		body, err := compose("")
		if err != nil {
			return "", err
		}
		made, err = p.GitHub.CreateComment(ctx, t.Repo, t.Number, body)
		return strconv.FormatInt(made.ID, 10), err
	}
	if _, err := p.Ledger.Ensure(ctx, key, Effect{look, create, p.GitHub.Pause}); err != nil {
		return github.Comment{}, err
	}
	if made.ID != 0 { // another run may have made one at the same time
		var err error
		if mine, err = p.mine(ctx, t, mark); err != nil {
			return made, err
		}
	}
	if len(mine) == 0 { // it is not listed yet
		return made, nil
	}
	c, err := p.edit(ctx, t, mine[0], compose)
	if err != nil {
		return c, err
	}
	for _, extra := range mine[1:] {
		if _, err := p.GitHub.EditComment(ctx, t.Repo, extra.ID, moved(c)); err != nil {
			return c, err
		}
	}
	return c, nil
}

// edit changes c unless it already says what it shall.
func (p *Publisher) edit(ctx context.Context, t Target, c github.Comment, compose func(string) (string, error)) (github.Comment, error) {
	body, err := compose(c.Body)
	if err != nil || sameText(body, c.Body) {
		return c, err
	}
	changed, err := p.GitHub.EditComment(ctx, t.Repo, c.ID, body)
	if err != nil {
		return c, err
	}
	return changed, nil
}

func sameText(a, b string) bool {
	return strings.TrimSpace(a) == strings.TrimSpace(strings.ReplaceAll(b, "\r\n", "\n"))
}

// moved is what a second comment says.
func moved(to github.Comment) string {
	s := markMoved + "\nThis comment was made twice. The result is in the other one"
	if l := report.Link("here", to.HTMLURL); l != "" {
		s += ": " + l
	}
	return s + ".\n"
}

// compose makes the comment out of e and of what it says now.
func (p *Publisher) compose(t Target, e ending, mark, oldBody string) (string, error) {
	r := p.result(t, e)
	oldBody = withoutRunning(oldBody)
	old := parseState(oldBody)
	if r.late(old, e) {
		return p.insert(r.precede(old), mark, oldBody)
	}
	s := r.succeed(old)
	line, err := s.line()
	if err != nil {
		return "", err
	}
	var tail []string
	if h := s.history(); h != "" {
		tail = append(tail, h)
	}
	if f := p.footer(); f != "" {
		tail = append(tail, f)
	}
	head := mark + "\n" + line + "\n\n"
	if n := notice(t, e); n != "" {
		head += n + "\n\n"
	}
	foot := ""
	if len(tail) > 0 {
		foot = "\n" + strings.Join(tail, "\n\n") + "\n"
	}
	room := commentLimit - utf8.RuneCountInString(head) - utf8.RuneCountInString(foot)
	body := headed(p.linked(e.rep).MarkdownWithin(room, 0), e)
	if utf8.RuneCountInString(body) > room+4000 { // a report of nothing but what is never cut; GitHub leaves this much
		body = pointer(e)
	}
	return head + body + foot, nil
}

// pointer stands for a report that does not fit.
func pointer(e ending) string {
	return "**" + report.InertMarkdown(e.title, 500) + "**\n\nThe report is too long to be shown here.\n"
}

func (p *Publisher) result(t Target, e ending) result {
	r := result{Run: word(t.Job + "/" + t.RunID), Head: t.HeadSHA, Verdict: e.rep.Verdict, Note: string(e.Kind), Started: e.rep.Timings.Started.UTC()}
	if e.Kind == Normal && e.Claims {
		r.Note = noteClaimed
	}
	if e.rep.Verdict.Validate() != nil {
		r.Verdict = report.Error
	}
	if at := e.rep.Timings.Started; !at.IsZero() { // the same however often it is posted
		r.At = at.Add(time.Duration(e.rep.Timings.DurationMS) * time.Millisecond).UTC()
	} else {
		r.At = p.Now().UTC()
	}
	r.At = r.At.Truncate(time.Second)
	return r
}

// late says that what the comment says must stay: it is about a newer head than r, began
// later than r, which is about another base, or was verified where r is only claimed.
func (r result) late(old state, e ending) bool {
	switch {
	case old.Head == "" || old.Run == r.Run:
		return false
	case old.Head == r.Head:
		return e.Claims && old.Note == "" && old.Verdict != report.Error || e.Into != "" && old.Started.After(r.Started)
	case e.Kind != Superseded:
		return false
	}
	return old.Head == e.head || old.Head == e.By || !r.Started.IsZero() && old.Started.After(r.Started)
}

// insert replaces state and history of a comment of ours and leaves all else.
func (p *Publisher) insert(s state, mark, body string) (string, error) {
	line, err := s.line()
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	lines[0], lines[1] = mark, line
	// Ours is the last line that begins so; the report's own come before it.
	at := len(lines) - 1
	for at > 1 && !strings.HasPrefix(lines[at], historyOpen) {
		at--
	}
	if at > 1 && len(parseState(body).Earlier) > 0 {
		lines[at] = s.history()
	} else {
		lines = append(lines, s.history(), "")
	}
	return strings.Join(lines, "\n"), nil
}

// notice is what must be read before the report, empty where there is nothing.
func notice(t Target, e ending) string {
	var out []string
	switch e.Kind {
	case Superseded:
		s := fmt.Sprintf("> **Superseded.** This is about `%s`", short(t.HeadSHA))
		switch {
		case e.Into != "":
			s += fmt.Sprintf(" as a change of %s; the pull request goes into %s now, and this run did not look at that",
				report.InertMarkdown(t.Base, 100), report.InertMarkdown(e.Into, 100))
		case isHex(e.By):
			s += fmt.Sprintf("; the head is `%s` now, which this run did not verify", short(e.By))
		case t.Number == 0:
			s += ", which the merge queue gave up"
		default:
			s += "; there is a newer head, which this run did not verify"
		}
		out = append(out, s+".")
	case Stopped:
		out = append(out, "> **Stopped** before it was done. What was found until then is below.")
	case Removed:
		out = append(out, "> **Stopped**, because ycbot had no access to the repository any more while this went on. It has again: comment `/verify` to run it.")
	case Refused:
		out = append(out, "> **Not executed.** Running this change was required and is not permitted here, so that nothing was verified by running it.")
	}
	if e.other != 0 {
		out = append(out, fmt.Sprintf("> **Not counted.** GitHub takes a check run for all pull requests with this commit, and pull request %d, "+
			"into another branch, has it too and no PASS. Verify that one, and then this one again.", e.other))
	}
	if e.Claims {
		out = append(out, "> **Claims.** This report was made by a job that ran the change itself with nothing to protect its records. "+
			"The verdict was computed again from them, but they can be forged: it counts as unverified, whatever it says.")
	}
	return strings.Join(out, "\n>\n")
}

// linked is rep with its evidence linked to where that is.
func (p *Publisher) linked(rep *report.Report) *report.Report {
	out := *rep
	out.Where.Evidence = p.EvidenceURL
	return &out
}

// footer says where all of it is.
func (p *Publisher) footer() string {
	evidence := "Evidence"
	if p.Artifact != "" {
		evidence += ": artifact " + report.InertMarkdown(p.Artifact, 100)
	}
	var parts []string
	for _, l := range []string{report.Link(evidence, strings.TrimSuffix(p.EvidenceURL, "#{id}")), report.Link("Job", p.DetailsURL)} {
		if l != "" {
			parts = append(parts, l)
		}
	}
	return strings.Join(parts, " · ")
}

func digest(hexSum string) string {
	if len(hexSum) != 64 || !isHex(hexSum) {
		return ""
	}
	return "SHA256SUMS `" + hexSum + "`"
}
