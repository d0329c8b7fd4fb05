package results

import (
	"strings"
	"testing"
)

// TestTAPNames holds that names which many results share take no more than a document.
func TestTAPNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 1<<20)
	for what, data := range map[string]string{
		"a subtest": "# Subtest: " + long + "\n" + strings.Repeat("    # Subtest: b\n    ok 1 - b\n", 100) + "ok 1\n1..1\n",
		"a group":   "1..100\n# " + long + "\n" + strings.Repeat("ok 1 - b\n", 100),
	} {
		out, err := ParseTAP([]byte(data))
		if err == nil || !strings.Contains(err.Error(), "the names of the tests have more than 64 MiB") || len(out) > 64 {
			t.Errorf("%s: %d results, %v", what, len(out), err)
		}
	}
}
