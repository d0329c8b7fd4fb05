package agent

import (
	"testing"

	"github.com/ycbot/ycbot/internal/model"
)

// A picture takes of a window what its pixels are counted as, however well it is packed.
func TestSizeOfImages(t *testing.T) {
	t.Parallel()
	msg := model.Message{Role: model.Tool, Text: "title", Images: []model.Image{{Data: make([]byte, 1<<20)}, {Data: make([]byte, 10)}}}
	if got, want := size([]model.Message{msg}), len("title")+2*imageSize; got != want {
		t.Errorf("%d characters, want %d", got, want)
	}
}
