package run

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
)

// A commit that is not here is named with what brings it.
func TestLost(t *testing.T) {
	t.Parallel()
	c := change.Change{BaseSHA: "b", HeadSHA: "h", PR: 7}
	for _, tc := range []struct {
		oid   string
		dirty bool
		want  string
	}{
		{"h", false, `git fetch origin pull/7/head`},
		{"b", false, `git fetch origin b`},
		{"h", true, "which no repository keeps"},
	} {
		c.Dirty = tc.dirty
		if err := lost("/repo", tc.oid, c); !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "no commit "+tc.oid) {
			t.Errorf("%s: %v", tc.oid, err)
		}
	}
}
