package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// Roots are the folders that the text of a command may name, which are others each
// time that it is run. A record has those that its command names, so that the command
// can be compared with another and run again elsewhere. The names are stored.
type Roots struct {
	Tree string `json:"tree,omitempty"` // the worktree
	Home string `json:"home,omitempty"`
	Temp string `json:"temp,omitempty"`
	Base string `json:"base,omitempty"` // the base's prepared tree, which the command could read
}

// list pairs each folder with its symbol and with the same folder of other, the
// longest first, so that a folder within another one is found.
func (r Roots) list(other Roots) [][3]string {
	all := [][3]string{
		{r.Tree, "${TREE}", other.Tree}, {r.Home, "${HOME}", other.Home}, {r.Temp, "${TMPDIR}", other.Temp}, {r.Base, "${YCBOT_BASE}", other.Base},
	}
	all = slices.DeleteFunc(all, func(p [3]string) bool { return p[0] == "" })
	sorted.By(all, func(a, b [3]string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	return all
}

// Symbolic is a text with symbols in the place of the folders that it names.
func (r Roots) Symbolic(text string) string {
	var pairs []string
	for _, p := range r.list(Roots{}) {
		pairs = append(pairs, p[0], p[1])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Move is a text with the folders of to in the place of those that it names. A folder
// that to does not have stays.
func (r Roots) Move(text string, to Roots) string {
	var pairs []string
	for _, p := range r.list(to) {
		pairs = append(pairs, p[0], cmp.Or(p[2], p[0]))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// named are the roots that a text names; nil for none.
func (r Roots) named(text string) *Roots {
	out := Roots{}
	for _, p := range []struct {
		from string
		to   *string
	}{{r.Tree, &out.Tree}, {r.Home, &out.Home}, {r.Temp, &out.Temp}, {r.Base, &out.Base}} {
		if p.from != "" && strings.Contains(text, p.from) {
			*p.to = p.from
		}
	}
	if out == (Roots{}) {
		return nil
	}
	return &out
}
