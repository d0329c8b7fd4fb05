package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

// While the secret of the webhook is changed both count, and no other does: neither the
// empty one, nor a signature with one over the body that the other signed.
func TestWebhookTwoSecrets(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	with := func(key string, body []byte) string {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write(body)
		return "sha256=" + hex.EncodeToString(mac.Sum(nil))
	}
	body := opened(1)
	large := append(opened(2), strings.Repeat(" ", 2*spoolFirst)...)
	status := func(previous string, p post) int {
		t.Helper()
		h.Previous = []byte(previous)
		return h.post(t, p).Code
	}
	for name, test := range map[string]struct {
		previous string
		p        post
		want     int
	}{
		"new":                    {"old", post{body: body}, http.StatusAccepted},
		"old":                    {"old", post{body: body, signature: with("old", body)}, http.StatusAccepted},
		"old, large":             {"old", post{body: large, signature: with("old", large)}, http.StatusAccepted},
		"old, when it is over":   {"", post{body: body, signature: with("old", body)}, http.StatusUnauthorized},
		"another":                {"old", post{body: body, signature: with("older", body)}, http.StatusUnauthorized},
		"empty":                  {"", post{body: body, signature: with("", body)}, http.StatusUnauthorized},
		"empty beside an old":    {"old", post{body: body, signature: with("", body)}, http.StatusUnauthorized},
		"old, of another body":   {"old", post{body: body, signature: with("old", large)}, http.StatusUnauthorized},
		"both, one after other":  {"old", post{body: body, signature: with("old"+secret, body)}, http.StatusUnauthorized},
		"none, though two count": {"old", post{body: body, signature: "-"}, http.StatusUnauthorized},
	} {
		if got := status(test.previous, test.p); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	h.Secret, h.Previous = nil, []byte("old")
	if _, err := h.Handler(); err == nil {
		t.Error("a server with a second secret alone starts")
	}
}
