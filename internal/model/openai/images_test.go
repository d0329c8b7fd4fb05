package openai

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
)

// Models that take pictures get those of a tool's answer as a message behind it; others get
// its text alone, by either API.
func TestImages(t *testing.T) {
	t.Parallel()
	msg := model.Message{Role: model.Tool, CallID: "c1", Text: "title: x", Images: []model.Image{{MIME: "image/png", Data: []byte("png")}}}
	for name, sees := range map[string]bool{"gpt-5-mini": true, "gpt-4o": true, "o3": true, "o3-mini": false, "gpt-3.5-turbo": false, "qwen3-coder": false} {
		got, err := responsesItems(blind(name, []model.Message{msg})[0])
		text := string(got)
		if err != nil || strings.Contains(text, "data:image/png;base64,cG5n") != sees || !strings.HasPrefix(text, `{"call_id":"c1","output":"title: x","type":"function_call_output"}`) {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
	if len(msg.Images) != 1 {
		t.Error("the conversation itself lost its picture")
	}
}
