package publish

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/report"
)

// Reply answers in a comment of its own: once for the comment that asked, whatever
// the answer, else once for key. body is Markdown of ours; what others wrote passes
// [report.InertMarkdown] before it gets there. Where the token may not comment,
// nothing is said but in the log.
func (p *Publisher) Reply(ctx context.Context, t Target, key, body string) error {
	kind := "reply=" + word(key)
	if t.CommandComment != 0 {
		kind = fmt.Sprintf("reply=%d", t.CommandComment)
	}
	mark := p.mark(t, kind)
	look := func(ctx context.Context) (string, error) {
		mine, err := p.mine(ctx, t, mark)
		if err != nil || len(mine) == 0 {
			return "", err
		}
		return strconv.FormatInt(mine[0].ID, 10), nil
	}
	create := func(ctx context.Context) (string, error) {
		c, err := p.GitHub.CreateComment(ctx, t.Repo, t.Number, mark+"\n"+p.replyText(body))
		return strconv.FormatInt(c.ID, 10), err
	}
	_, err := p.Ledger.Once(ctx, p.commentKey(t)+"/"+kind, look, create)
	return wrap("reply", t, p.dropRefused("reply", err))
}

// Notice says why nothing was run, in one comment that later notices edit: whoever
// asks again and again, or may not ask at all, does not fill the page.
func (p *Publisher) Notice(ctx context.Context, t Target, body string) error {
	mark := p.mark(t, "notice")
	text := mark + "\n" + p.replyText(body)
	mine, err := p.mine(ctx, t, mark)
	switch {
	case err != nil:
	case len(mine) == 0:
		_, err = p.GitHub.CreateComment(ctx, t.Repo, t.Number, text)
	case mine[0].Body != text:
		_, err = p.GitHub.EditComment(ctx, t.Repo, mine[0].ID, text)
	}
	return wrap("notice", t, p.dropRefused("notice", err))
}

func (p *Publisher) replyText(body string) string {
	text := strings.ReplaceAll(p.Redact.String(body), "<!--", "&lt;!--")
	if utf8.RuneCountInString(text) > commentLimit {
		return report.InertMarkdown(text, commentLimit)
	}
	return text
}
