package publish

import (
	"context"
	"strings"

	"github.com/ycbot/ycbot/internal/report"
)

// runningOpen begins the line of a comment that says that a run goes on; the name of the
// run follows. It is stored on the pull request: do not change it.
const runningOpen = "<!-- ycbot:running "

// Running says in the comment that the run of t goes on, with a link to where it works:
// above the result of an earlier run, where there is one. It is for runs that take long;
// Finish takes it away.
func (p *Publisher) Running(ctx context.Context, t Target) error {
	if t.Number == 0 || p.Comment == Off {
		return nil
	}
	if _, ok, err := p.Ledger.lookup(ctx, anyEndKey(t)); err != nil || ok {
		return wrap("running", t, err)
	}
	end := ending{}
	if err := p.compareHead(ctx, t, &end); err != nil || end.Kind == Superseded {
		return wrap("running", t, err)
	}
	mark, key := p.place(t)
	_, err := p.settle(ctx, t, key, mark, func(old string) (string, error) { return p.announce(t, mark, old), nil })
	return wrap("running", t, p.dropRefused("comment", err))
}

// place is how the comment of t begins, and its key in the ledger.
func (p *Publisher) place(t Target) (mark, key string) {
	mark, key = p.mark(t, ""), p.commentKey(t)
	if p.Comment == EveryRun {
		run := word(t.RunID + "/" + t.Job)
		mark, key = p.mark(t, "run="+run), key+"/"+run
	}
	return mark, key
}

// announce makes the comment of a run that goes on out of what it says now.
func (p *Publisher) announce(t Target, mark, oldBody string) string {
	line := runningOpen + word(t.Job+"/"+t.RunID) + markClose
	says := "⏳ Verifying `" + short(t.HeadSHA) + "`: it is built, and its tests run with and without the change."
	if l := report.Link("Watch the job", p.DetailsURL); l != "" {
		says += " " + l + "."
	}
	old := withoutRunning(oldBody)
	if parseState(old).Head == "" {
		return mark + "\n" + line + "\n\n## ⏳ ycbot: verifying · `" + short(t.HeadSHA) + "`\n\n" + says[len("⏳ "):] + " The result will stand here.\n"
	}
	lines := strings.SplitN(old, "\n", 3)
	rest := ""
	if len(lines) > 2 {
		rest = lines[2]
	}
	return lines[0] + "\n" + lines[1] + "\n" + line + "\n\n> " + says + " Below is the result before it.\n" + rest
}

// withoutRunning is the body of a comment of ours without the announcement of a run.
func withoutRunning(body string) string {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	before, rest, found := strings.Cut(body, "\n"+runningOpen)
	if !found || strings.Count(before, "\n") > 1 { // further down it is another's text
		return body
	}
	// The line, an empty one, and the paragraph.
	for range 3 {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return before + "\n" + rest
}

// runs says whether a comment of ours announces the run r.
func (r result) runs(body string) bool {
	before, rest, found := strings.Cut(strings.ReplaceAll(body, "\r\n", "\n"), "\n"+runningOpen)
	name, _, _ := strings.Cut(rest, markClose)
	return found && strings.Count(before, "\n") <= 1 && name == r.Run
}
