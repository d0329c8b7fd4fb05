package gate

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/compare"
	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// docs/gate.md has a row for each class of what became of a test, and for each state of the
// tests of a change over the base's sources, as result.go declares them.
func TestWordsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("result.go")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, m := range regexp.MustCompile(`ReproState += "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		words = append(words, m[1])
	}
	if len(words) < 10 {
		t.Errorf("only the states %q", words)
	}
	for _, c := range compare.Classes() {
		words = append(words, string(c))
	}
	for _, w := range words {
		if !regexp.MustCompile("(?m)^\\| (?:`\\w+`, )*`" + w + "`[ ,]").MatchString(string(page)) {
			t.Errorf("no row of docs/gate.md is of %s", w)
		}
	}
}

// The pages have the parts of the time that is left as they are.
func TestBoundsAreDocumented(t *testing.T) {
	t.Parallel()
	docstest.Says(t, "../../docs/detection.md", map[string]bool{
		"in half of the time that is left": restShare == 2,
	})
	docstest.Says(t, "../../docs/gate.md", map[string]bool{
		"in an eighth of the time that is left and three minutes at most": linesShare == 8 && linesMost == 3*time.Minute && linesTime(Limits{}, time.Hour) == linesMost && linesTime(Limits{}, 8*time.Minute) == time.Minute,
	})
}
