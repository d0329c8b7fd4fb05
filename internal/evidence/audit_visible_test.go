package evidence

import "testing"

// What a reader would not see is shown, as in reports; line ends, tabs and the colour of an
// emoji stay.
func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\tb\r\n☺\ufe0f":    "a\tb\r\n☺\ufe0f",
		"\x1b[31mred\x1b[0m": "red",
		"x\u202ey\x00":       "x<U+202E>y<U+0000>",
		"\u2800\ufffe\ue000": "<U+2800><U+FFFE><U+E000>",
		"\u3164\U000e0041":   "<U+3164><U+E0041>",
		"\U0001d159":         "<U+1D159>",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
