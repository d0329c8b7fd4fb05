package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/redact"
)

// A line of JSON loses its tokens, also those that begin a line of a text in it,
// and stays JSON, also where a key was cut before its end.
func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	token := "ghs_" + strings.Repeat("a1", 20)
	for _, text := range []string{
		"one\n" + token + "\n", "tab\t" + token, "\"" + token + "\"", `C:\n` + token,
		"key = \"-----BEGIN RSA PRIVATE KEY-----\\nMIIEabc\"", "-----BEGIN PRIVATE KEY-----\nMIIEabc\n\"rest\"", `-----BEGIN PRIVATE KEY-----\`,
	} {
		line, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		got := (&redact.Redactor{}).Bytes(line)
		if !json.Valid(got) {
			t.Errorf("%q became %s", text, got)
		}
		if strings.Contains(string(got), token) || strings.Contains(string(got), "MIIEabc") {
			t.Errorf("%q: left in %s", text, got)
		}
	}
}
