package golang

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestOlderModules holds in which ways tests compare with an older version of a module.
func TestOlderModules(t *testing.T) {
	t.Parallel()
	const testify = "github.com/stretchr/testify"
	for _, tt := range []struct {
		what, base, head string
		want             []string
	}{
		{"it is required", "require " + testify + " v1.9.0", "require " + testify + " v1.7.0", []string{testify + " v1.7.0 in place of v1.9.0"}},
		{"it is replaced", "require " + testify + " v1.9.0", "require " + testify + " v1.9.0\nreplace " + testify + " => " + testify + " v1.7.0", []string{testify + " v1.7.0 in place of v1.9.0"}},
		{"a replacement is gone", "require " + testify + " v1.8.0\nreplace " + testify + " => " + testify + " v1.9.0", "require " + testify + " v1.8.0", []string{testify + " v1.8.0 in place of v1.9.0"}},
		{"a newer one", "require " + testify + " v1.8.0", "require " + testify + " v1.9.0", nil},
		{"a newer one that is replaced", "require " + testify + " v1.8.0\nreplace " + testify + " v1.8.0 => " + testify + " v1.9.0", "require " + testify + " v1.10.0", nil},
		{"from the tree", "require " + testify + " v1.8.0", "require " + testify + " v1.8.0\nreplace " + testify + " => ./t", nil},
		{"what tests do not compare with", "require golang.org/x/net v0.9.0", "require golang.org/x/net v0.8.0", nil},
		{"it is gone", "require " + testify + " v1.8.0", "", nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			tree := func(text string) fstest.MapFS {
				return fstest.MapFS{"a/go.mod": {Data: []byte("module m\n\ngo 1.25\n\n" + text + "\n")}}
			}
			if got := olderModules(tree(tt.base), tree(tt.head), "a"); !slices.Equal(got, tt.want) {
				t.Errorf("%q", got)
			}
		})
	}
}
