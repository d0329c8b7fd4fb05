package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines of a settings file mean what they mean in others' env files.
func TestSettingsFile(t *testing.T) {
	t.Parallel()
	got, err := ParseSettings("# a comment\n\nA=1\nexport B=\"two words\"\nC='x=y'\nD=\nE=\"a\\nb\"\r\n")
	if diff := cmp.Diff([]string{"A=1", "B=two words", "C=x=y", "D=", `E=a\nb`}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, bad := range []string{"nothing", "A B=1", "A=\"open", "=1", "ycbot_login=required"} {
		if got, err := ParseSettings(bad); err == nil {
			t.Errorf("%q is read as %q", bad, got)
		}
	}
}
