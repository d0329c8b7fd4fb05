package ecosystem

import (
	"cmp"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// machinery are the words that ask runners for results that a machine reads.
var machinery = pattern.New(strings.Join([]string{
	` -json\b`, ` -o junit_family=xunit1`, ` --format json\b`, ` --message-format=json\b`, ` (-\S+ )?\S*"?\$\{?(RESULTS|REPORTER)\S*`,
}, "|"))

// Typed is a command as a person would type it: without what asks for results that a
// machine reads.
func (c Command) Typed() string {
	text := cmp.Or(c.Text, ShellWords(c))
	switch {
	case c.Eco == "" && c.Results == nil:
		return text
	case c.Plain != nil && c.Plain.Plain != nil:
		return c.Plain.Plain.Text
	case c.Plain != nil:
		return c.Plain.Text
	}
	text, _, _ = strings.Cut(text, "; status=$?")
	text = machinery.ReplaceAllString(" "+strings.TrimPrefix(text, `RESULTS="$RESULTS" `), "")
	return strings.TrimSuffix(strings.TrimSpace(text), " 2>&1")
}
