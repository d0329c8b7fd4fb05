package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What no reader sees and what has no honest use is named; what other scripts,
// emoji and files of Windows need is not.
func TestTrick(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"if access == \"user\u202e \u2066// admin\u2069 \u2066\"": "U+202E, U+2066, U+2069",
		"pass\u200bword":             "U+200B",
		"ad\u200dmin":                "U+200D",
		"x\ufeff":                    "U+FEFF",
		"hello \U000E0068\U000E0069": "U+E0068, U+E0069",
		"\ufeffpackage main":         "",
		"\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645":                 "",
		"\U0001F468\u200d\U0001F4BB":                                             "",
		"\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F": "",
		"soft\u00adhyphen, caf\u00e9":                                            "",
		"bad \xff bytes":                                                         "",
		"":                                                                       "",
	} {
		if got := trick(text); got != want {
			t.Errorf("trick(%+q) = %q, want %q", text, got, want)
		}
	}
}

// Added lines are found with their places, also where they look like headings.
func TestAddedLines(t *testing.T) {
	t.Parallel()
	patch := "diff --git a/a.go b/a.go\nindex 1..2 100644\n--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,3 @@ func f\n one\n-two\n+++ b/fake.go\n+@@ -1 +9 @@\n" +
		"diff --git a/d/b b/d/b\n--- /dev/null\n+++ \"b/d/\\303\\244 b\"\n@@ -0,0 +7 @@\n+last\n\\ No newline at end of file\n"
	want := []addedLine{{"a.go", 2, "++ b/fake.go"}, {"a.go", 3, "@@ -1 +9 @@"}, {"d/\u00e4 b", 7, "last"}}
	if diff := cmp.Diff(want, addedLines(patch), cmp.AllowUnexported(addedLine{})); diff != "" {
		t.Error(diff)
	}
}
