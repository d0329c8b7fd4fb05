package node

import (
	"encoding/json"
	"testing"
)

// TestInstallsAlone holds of which manifests alone it follows what is installed.
func TestInstallsAlone(t *testing.T) {
	t.Parallel()
	for scripts, want := range map[string]bool{`{}`: true, `{"scripts": {"test": "x"}}`: true, `{"scripts": {"prepare": "tsc"}}`: false, `{"dependencies": {"a": "file:../a"}}`: false, `{"dependencies": {"a": "^1.0.0"}}`: true} {
		var m manifest
		if err := json.Unmarshal([]byte(scripts), &m); err != nil || m.installsAlone() != want {
			t.Errorf("%s: %v, %v", scripts, !want, err)
		}
	}
}
