package sandbox

import (
	"slices"
	"testing"
)

// Git has it for fatal that it may not read the settings of the system, so that it does not look
// for them where they are hidden and nothing can stand in their place.
func TestWithoutSettings(t *testing.T) {
	t.Parallel()
	for private, want := range map[string][]string{"/etc/gitconfig": {"GIT_CONFIG_NOSYSTEM=1"}, "/etc/maven/settings.xml": nil} {
		if got := withoutSettings([]string{"/etc/shadow", private}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", private, got, want)
		}
	}
}
