package classes

import (
	"strings"
	"testing"
)

// TestSettingsOfManifests holds which settings of manifests are a project's own, and differ.
func TestSettingsOfManifests(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, base, head, want string }{
		"of package.json":      {"package.json", `{"name": "a", "budget": {"a.js": 200}}`, `{"name": "b", "budget": {"a.js": 900}}`, "budget"},
		"the same":             {"package.json", `{"budget": {"a": 1, "b": 2}}`, `{"budget": {"b": 2, "a": 1}}`, ""},
		"new and gone":         {"web/package.json", `{"low": 1}`, `{"high": 1}`, "high low"},
		"of tools":             {"package.json", `{"scripts": {"a": "b"}, "prettier": {}}`, `{"prettier": {"semi": false}}`, ""},
		"of pyproject.toml":    {"pyproject.toml", "[tool.shop]\nleast = 3\n", "[tool.shop]\nleast = 1\n", "shop"},
		"of Cargo.toml":        {"Cargo.toml", "[package.metadata.shop]\nleast = 3\n", "[package]\nname = \"a\"\n", "shop"},
		"of something else":    {"shop.toml", "[tool.shop]\nleast = 3\n", "[tool.shop]\nleast = 1\n", ""},
		"what cannot be read":  {"package.json", `{"budget": 1}`, `{`, "budget"},
		"what could not be it": {"package.json", `[`, `{`, ""},
	} {
		if got := strings.Join(OwnSettings(tt.file, []byte(tt.base), []byte(tt.head)), " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
