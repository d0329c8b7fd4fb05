package ecosystem

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var importComment = pattern.New(`#[^\n]*|//[^\n]*`)

// WithoutName are the items of a list of imports, but for that of a name.
func WithoutName(list, name string) (items []string, cut bool) {
	for item := range strings.SplitSeq(strings.ReplaceAll(importComment.ReplaceAllString(list, ""), "\\\n", " "), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(items), func(item string) bool {
		first, _, _ := strings.Cut(item, " ")
		return first == name
	})
	return rest, len(rest) < len(items)
}
