package ecosystem

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestIsOlder holds the order of versions.
func TestIsOlder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		is, than string
		want     bool
	}{
		{"3.5.0", "4.5.0", true},
		{"4.5.0", "3.5.0", false},
		{"4.5.0", "4.5.0", false},
		{"4.10.0", "4.9.0", false},
		{"v1.7.0", "v1.9.0", true},
		{"5.0.0-rc.1", "5.0.0", true},
		{"5.0.0", "5.0.0-rc.1", false},
		{"8", "8.0.0", false},
		{"7.4.4", "8.0", true},
		{"8.0rc1", "8.0", false},
		{"1.0.0+2", "1.0.0+3", false},
	} {
		if got := IsOlder(tt.is, tt.than); got != tt.want {
			t.Errorf("%s older than %s: %v", tt.is, tt.than, got)
		}
	}
}

// TestOlderIn holds which older packages of a lockfile are those that tests compare with.
func TestOlderIn(t *testing.T) {
	t.Parallel()
	read := func(src []byte) map[string][]string {
		return map[string][]string{"rspec-expectations": {string(src)}, "rails": {string(src)}, "diff-lcs": {string(src), "1.0.0"}}
	}
	tree := func(version string) fstest.MapFS { return fstest.MapFS{"a/lock": {Data: []byte(version)}} }
	older := OlderIn("lock", read)
	if got := older(tree("3.1.0"), tree("3.0.0"), "a"); !slices.Equal(got, []string{"rspec-expectations 3.0.0 in place of 3.1.0"}) {
		t.Errorf("%q", got)
	}
	if got := older(tree("3.0.0"), tree("3.1.0"), "a"); got != nil {
		t.Errorf("of newer ones: %q", got)
	}
	if got := older(tree("3.0.0"), fstest.MapFS{}, "a"); got != nil {
		t.Errorf("without a lockfile: %q", got)
	}
}
