package anthropic

import (
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/pattern"
)

// How a model is asked to think, as
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking and
// https://platform.claude.com/docs/en/build-with-claude/effort describe it.
type manner int

const (
	cannot   manner = iota // models before 3.7
	budgeted               // 3.7 to 4.5: a budget of tokens
	adaptive               // from 4.6 on the model decides, within an effort; later ones refuse a budget
)

// named finds the version in a model's name: claude-3-7-sonnet-20250219,
// claude-opus-4-1, claude-sonnet-4-20250514.
var named = pattern.New(`claude-(?:[a-z]+-)?([0-9])(?:[-.]([0-9]{1,2}))?(?:[^0-9]|$)`)

// mannerOf is how a model is asked to think. A name without a version is taken for that
// of a current model.
func mannerOf(name string) manner {
	m := named.FindStringSubmatch(strings.ToLower(name))
	if m == nil {
		return adaptive
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2]) // none is 0
	switch {
	case major < 3 || major == 3 && minor < 7:
		return cannot
	case major < 4 || major == 4 && minor < 6:
		return budgeted
	}
	return adaptive
}

// Thinks says whether a model can be asked with an effort.
func Thinks(name string) bool { return mannerOf(name) != cannot }

// thoughtTokens is what thinking may take with an effort. The API counts it as output,
// so that it comes on top of the limit for the answer.
func thoughtTokens(e model.Effort) int {
	switch e {
	case model.EffortLow:
		return 4 << 10
	case model.EffortMedium:
		return 12 << 10
	case model.EffortHigh:
		return 24 << 10
	}
	return 0
}

// think asks for thinking with an effort; "" asks for none.
func (p *request) think(e model.Effort) {
	how := mannerOf(p.Model)
	if thoughtTokens(e) == 0 || how == cannot {
		return
	}
	p.MaxTokens += thoughtTokens(e)
	if how == budgeted {
		p.Thinking = &thinking{Type: "enabled", Budget: thoughtTokens(e)}
		return
	}
	p.Thinking, p.Output = &thinking{Type: "adaptive"}, &output{Effort: e}
}
