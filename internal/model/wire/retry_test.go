package wire

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/model"
)

// How often and for how long a provider is asked again is what docs/models.md says, unless
// an operator says otherwise.
func TestRetryDefaults(t *testing.T) {
	t.Parallel()
	want := model.Retry{Tries: 5, Base: 500 * time.Millisecond, Max: time.Minute, IdleFor: 2 * time.Minute}
	if got := retry(model.Retry{}); got != want || idles != 2 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	own := model.Retry{Tries: 1, Base: time.Second, Max: 3 * time.Second, IdleFor: 4 * time.Second}
	if got := retry(own); got != own {
		t.Errorf("got %+v, want %+v", got, own)
	}
	page, err := os.ReadFile("../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"asked again, five times in all", "up to a minute", "grows from half a second", "nothing for two minutes"} {
		if !strings.Contains(string(page), words) {
			t.Errorf("docs/models.md does not say %q", words)
		}
	}
}
