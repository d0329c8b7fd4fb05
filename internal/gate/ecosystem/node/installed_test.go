package node

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestInstalled holds which packages are to be alike on both sides.
func TestInstalled(t *testing.T) {
	t.Parallel()
	tree := func(names ...string) fstest.MapFS {
		out := fstest.MapFS{}
		for _, n := range names {
			out["node_modules/"+n+"/package.json"] = &fstest.MapFile{Data: []byte(`{"version": "1.0.0"}`)}
		}
		return out
	}
	for name, tt := range map[string]struct {
		base, head []string
		bumped     string // the package that the change asks for
		want       []string
	}{
		"a test library":                     {[]string{"chai", "left-pad"}, []string{"chai", "left-pad"}, "", []string{"node_modules/chai"}},
		"what only the head's build leaves":  {[]string{"left-pad"}, []string{"left-pad", "intl-rates"}, "", []string{"node_modules/intl-rates"}},
		"a new dependency and what it needs": {[]string{"left-pad"}, []string{"left-pad", "a", "b"}, "a", nil},
	} {
		got := installedNode(tree(tt.base...), tree(tt.head...), ".", func(string) bool { return false }, func(n string) bool { return n == tt.bumped })
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
