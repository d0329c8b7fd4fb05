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
	for name, sees := range map[string]bool{
		"gpt-5-mini": true, "gpt-4o": true, "o3": true, "openai/gpt-4.1": true, "qwen2.5-vl:7b": true, "gemma3:12b": true, "google/gemini-2.5-pro": true,
		"o3-mini": false, "gpt-3.5-turbo": false, "qwen3-coder": false, "gemma3:1b": false,
	} {
		chat, err := (&Model{o: Options{Model: name}}).chatBody(&model.Request{Messages: []model.Message{
			{Role: model.User, Text: "look"}, {Role: model.Assistant, Calls: []model.Call{{ID: "c1", Name: "screenshot"}, {ID: "c2", Name: "screenshot"}}}, msg, {Role: model.Tool, CallID: "c2", Text: "none"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		answers := `{"content":"title: x","tool_call_id":"c1","role":"tool"},{"content":"none","tool_call_id":"c2","role":"tool"}`
		if sees {
			answers += `,{"content":[{"text":"The pictures of c1:","type":"text"},{"image_url":{"url":"data:image/png;base64,cG5n"},"type":"image_url"}],"role":"user"}`
		}
		if !strings.Contains(string(chat), answers+"]") {
			t.Errorf("%s: %s", name, chat)
		}
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
