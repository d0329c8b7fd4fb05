package publish

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/report"
)

// Notice says why nothing was run, in one comment that later notices edit:
// repeated requests, or those of people who may not ask, do not fill the page.
func (p *Publisher) Notice(ctx context.Context, t Target, body string) error {
	mark := p.mark(t, "notice")
	text := mark + "\n" + p.noticeText(body)
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

func (p *Publisher) noticeText(body string) string {
	text := strings.ReplaceAll(p.Redact.String(body), "<!--", "&lt;!--")
	if utf8.RuneCountInString(text) > commentLimit {
		return report.InertMarkdown(text, commentLimit)
	}
	return text
}
