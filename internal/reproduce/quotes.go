package reproduce

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// Bounds of the files in which a quoted sentence is looked for.
const (
	mostQuoteFiles = 300
	mostQuoteBytes = 1 << 20
)

// quoted finds a sentence that a check quotes in the documentation of the head, and in
// the comments, help texts and messages of the files that the change touches.
func quoted(ctx context.Context, o Objects, c change.Change, files []objects.Entry, claim report.AgentCheck) (quote, at string, err error) {
	wanted := quotes(claim)
	if len(wanted) == 0 {
		return "", "", nil
	}
	looked := 0
	for _, f := range files {
		touched := slices.ContainsFunc(c.Files, func(d change.File) bool { return d.Path == f.Path })
		if !touched && !prose(f.Path) || f.Size > mostQuoteBytes || strings.Contains(strings.ToLower(f.Path), "test") {
			continue
		}
		if looked++; looked > mostQuoteFiles {
			break
		}
		data, err := o.ReadFile(ctx, c.HeadSHA, f.Path)
		if err != nil {
			return "", "", err
		}
		text := string(data)
		if !prose(f.Path) {
			text = spoken(text)
		}
		text = fold(text)
		for _, q := range wanted {
			if strings.Contains(text, q) {
				return q, f.Path, nil
			}
		}
	}
	return "", "", nil
}

var (
	commentLine = pattern.New(`^\s*(?://+!?|#+|/\*+|\*+/?|--+|;+|%+|<!--|rem\b)\s?(.*)\n$`)
	trailing    = pattern.New(`\s(?://|#|--)\s(.*)\n$`)
	stringText  = pattern.New("\"([^\"\\n]{8,})\"|'([^'\\n]{8,})'|`([^`]{8,})`")
)

// spoken is what of a program's text speaks to people: comments and strings.
func spoken(text string) string {
	var b strings.Builder
	inside := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line) + "\n"
		if inside != "" {
			b.WriteString(line)
			if strings.Contains(line, inside) {
				inside = ""
			}
			continue
		}
		for _, quote := range []string{`"""`, `'''`} {
			if strings.Count(line, quote)%2 == 1 {
				inside = quote
			}
		}
		if inside != "" || strings.Contains(line, `"""`) {
			b.WriteString(strings.Trim(strings.TrimSpace(line), `"'`) + "\n")
			continue
		}
		if m := commentLine.FindStringSubmatch(line); m != nil {
			b.WriteString(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(m[1]), "*/")) + "\n")
			continue
		}
		for _, m := range stringText.FindAllStringSubmatch(line, -1) {
			b.WriteString(cmp.Or(m[1], m[2], m[3]) + "\n")
		}
		if m := trailing.FindStringSubmatch(line); m != nil {
			b.WriteString(m[1] + "\n")
		}
	}
	return b.String()
}
