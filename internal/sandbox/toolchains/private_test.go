package toolchains

import "testing"

// The user of an address may be a token; that of ssh is one with a password alone.
func TestAddressesWithUsers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"insteadOf = ssh://git@github.com/":             false,
		"git+ssh://git@github.com:22/a":                 false,
		"ssh://git:word@github.com/":                    true,
		"https://token@github.com/":                     true,
		"https://me:word@pypi.example.org/":             true,
		"https://a.example.org/b ssh://git@github.com ": false,
		"ssh://git@github.com https://t@example.org":    true,
		"https://example.org:8080/me@example":           false,
	} {
		if got := urlWithUser([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
