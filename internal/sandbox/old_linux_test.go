package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A bubblewrap that does not know an option is called too old, with what is needed; one that
// may not make namespaces is not.
func TestOldBubblewrap(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]string{
		"bwrap: Unknown option --size":                          {"bubblewrap 0.6.1 is too old: 0.7 or later is needed"},
		"bwrap: setting up uid map: Permission denied":          {"bubblewrap does not work here", "user namespaces must be allowed"},
		"bwrap: Creating new namespace failed: No such process": {"bubblewrap does not work here"},
	} {
		program := filepath.Join(t.TempDir(), "bwrap")
		script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo bubblewrap 0.6.1; exit 0; fi\necho '" + said + "' >&2\nexit 1\n"
		if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		b := &bubblewrap{o: Options{Now: time.Now, TempDir: t.TempDir(), OutputLimit: 1 << 20}, program: program}
		err := b.trial(t.Context())
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %q", said, err, text)
			}
		}
		if err != nil && strings.Contains(said, "Unknown") && strings.Contains(err.Error(), "namespaces") {
			t.Errorf("%s: %v", said, err)
		}
	}
}
