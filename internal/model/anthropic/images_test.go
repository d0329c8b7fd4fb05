package anthropic

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
)

// The pictures of a tool's answer stand behind its text.
func TestImages(t *testing.T) {
	t.Parallel()
	got, err := blocksOf(model.Message{Role: model.Tool, CallID: "c1", Text: "title: x", Images: []model.Image{{MIME: "image/png", Data: []byte("png")}}})
	want := `{"tool_use_id":"c1","content":[{"text":"title: x","type":"text"},{"source":{"data":"cG5n","media_type":"image/png","type":"base64"},"type":"image"}],"type":"tool_result"}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	plain, err := blocksOf(model.Message{Role: model.Tool, CallID: "c1", Text: "x"})
	if err != nil || strings.Contains(string(plain), "image") {
		t.Errorf("%s %v", plain, err)
	}
}
