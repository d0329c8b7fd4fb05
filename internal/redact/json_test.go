package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// Of a JSON text that is gone over string by string nothing but a secret is lost: no end of a
// string, whatever stands before it, and no secret by an escape in it.
func TestInJSON(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"S": "abcdefghijkl", "N": "1234567890", "Q": `quo"ted\value`})
	for text, want := range map[string]string{
		"nothing":                                 "nothing",
		"machine h login u password abcd":         "machine h login u password [redacted:token]",
		"machine h login u password":              "machine h login u password",
		"machine h login u password ":             "machine h login u password ",
		"x _authToken =":                          "x _authToken =",
		"-----BEGIN PRIVATE KEY-----":             "[redacted:token]",
		"abcdef\x1b[0mghijkl":                     "[redacted:S]",
		"abcdef\x00ghijkl \\":                     "[redacted:S] \\",
		"abcdef\u009bghijkl\"":                    "[redacted:S]\"",
		`is quo"ted\value`:                        `is [redacted:Q]`,
		`{"in": "quo\"ted\\value, abcdefghijkl"}`: `{"in": "[redacted:Q], [redacted:S]"}`,
	} {
		type doc struct {
			Text string         `json:"text"`
			Next string         `json:"next"`
			N    int            `json:"n"`
			Map  map[string]any `json:"map"`
		}
		in := doc{text, "fail", 1234567890, map[string]any{text: []any{text, true, nil, -1.5e10}}}
		line, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var got doc
		out := redact.InJSON(r.Bytes, line)
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%q: %v: %s", text, err, out)
		}
		if diff := cmp.Diff(doc{want, "fail", 0, map[string]any{want: []any{want, true, nil, -1.5e10}}}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	if got := redact.InJSON(r.Bytes, []byte("no JSON: abcdefghijkl")); string(got) != "no JSON: [redacted:S]" {
		t.Errorf("%s", got)
	}
}

func FuzzInJSON(f *testing.F) {
	f.Add([]byte(`{"a":"machine h login u password abcd","b":[1,-2.5e3,"\u001b\\\""]}`))
	f.Add([]byte(`"`))
	r := redact.New(map[string]string{"S": "abcdefghijkl"})
	f.Fuzz(func(t *testing.T, doc []byte) {
		if got := redact.InJSON(r.Bytes, doc); json.Valid(doc) && !json.Valid(got) {
			t.Errorf("%q became %q", doc, got)
		}
	})
}
