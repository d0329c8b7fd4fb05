package terminal

import "testing"

// What a change may name, such as a folder, steers neither the terminal nor the
// runner of a job, which reads the progress on standard output.
func TestPrintable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"head: go test (a/b)":             "head: go test (a/b)",
		"##[set-output name=verdict]pass": "## [set-output name=verdict]pass",
		"$ echo ####[add-mask]x":          "$ echo #### [add-mask]x",
		"##\x1b[add-mask]x":               "## [add-mask]x",
		"a\u202etxt.exe \u2800x":          "a<U+202E>txt.exe <U+2800>x",
		"a\r\n::error::b\x07\u009b2J":     "a  ::error::b  2J",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
