package ecosystem

import "testing"

func TestLeast(t *testing.T) {
	t.Parallel()
	for requirement, want := range map[string]string{
		"1.99": "1.99", ">=3.13,<4": "3.13", "~> 1.17": "1.17", "^18 || >=20.1": "18", ">= 3.1, >= 3.2": "3.2", "v24": "24",
		"<4": "", "!=3.9": "", "": "", ">=3 || <2": "", "~=3.12": "3.12",
	} {
		if got := least(requirement); got != want {
			t.Errorf("least(%q) = %q, want %q", requirement, got, want)
		}
	}
}

func TestNewer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, than string
		want          bool
	}{
		{"3.13", "3.11.7", true}, {"3.11", "3.11.7", false}, {"24", "20.20.2", true}, {"20", "20.20.2", false}, {"1.9", "1.10", false}, {"3.11.8", "3.11", true},
	} {
		if got := newer(c.version, c.than); got != c.want {
			t.Errorf("newer(%q, %q) = %v", c.version, c.than, got)
		}
	}
}
