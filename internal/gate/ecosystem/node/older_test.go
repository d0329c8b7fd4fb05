package node

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestOlderPackages holds which installed packages tests compare with in an older version, also by
// way of another one.
func TestOlderPackages(t *testing.T) {
	t.Parallel()
	tree := func(packages ...string) fstest.MapFS {
		out := fstest.MapFS{}
		for i := 0; i < len(packages); i += 2 {
			out["a/node_modules/"+packages[i]+"/package.json"] = &fstest.MapFile{Data: []byte(packages[i+1])}
		}
		return out
	}
	chai := func(version string) string {
		return `{"version": "` + version + `", "dependencies": {"deep-eql": "1", "kind-of": "1"}}`
	}
	base := tree("chai", chai("4.5.0"), "deep-eql", `{"version": "4.1.0"}`, "kind-of", `{"version": "2.0.0"}`, "left-pad", `{"version": "1.3.0"}`)
	for _, tt := range []struct {
		what string
		head fstest.MapFS
		want []string
	}{
		{"the same", base, nil},
		{"an older one", tree("chai", chai("3.5.0"), "deep-eql", `{"version": "4.1.0"}`), []string{"chai 3.5.0 in place of 4.5.0"}},
		{"an older one that it needs", tree("chai", chai("4.5.0"), "deep-eql", `{"version": "0.1.3"}`, "kind-of", `{"version": "1.0.0"}`), []string{"deep-eql 0.1.3 in place of 4.1.0"}},
		{"an older one for it alone", tree("chai", chai("4.5.0"), "deep-eql", `{"version": "4.1.0"}`, "chai/node_modules/deep-eql", `{"version": "0.1.3"}`), []string{"deep-eql 0.1.3 in place of 4.1.0"}},
		{"an older one of what tests do not compare with", tree("chai", chai("4.5.0"), "deep-eql", `{"version": "4.1.0"}`, "left-pad", `{"version": "1.0.0"}`), nil},
		{"a newer one", tree("chai", chai("5.0.0"), "deep-eql", `{"version": "5.0.0"}`), nil},
		{"another one", tree("expect", `{"version": "1.0.0"}`), nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := olderPackages(base, tt.head, "a"); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
