package model_test

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
)

// A count that no tokenizer comes to means that a part of the request was left out.
func TestCutShort(t *testing.T) {
	t.Parallel()
	long := &model.Request{System: strings.Repeat("word ", 8000)} // 40 000 bytes
	for _, tc := range []struct {
		name  string
		req   *model.Request
		usage model.Usage
		want  bool
	}{
		{"as many as are usual", long, model.Usage{Input: 8000}, false},
		{"a window of 4096", long, model.Usage{Input: 4096}, true},
		{"a guess", long, model.Usage{Input: 100, Estimated: true}, false},
		{"no count", long, model.Usage{}, false},
		{"a short request", &model.Request{System: "word"}, model.Usage{Input: 1}, false},
	} {
		if _, cut := tc.req.CutShort(tc.usage); cut != tc.want {
			t.Errorf("%s: %t", tc.name, cut)
		}
	}
}

// A model is known by its family, in whatever spelling of a router; others are not.
func TestWindow(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"gpt-4o-2024-08-06": 128_000, "openai/gpt-5-mini": 272_000, "claude-sonnet-4-5": 200_000, "qwen3-coder": 0, "script": 0} {
		if got := model.Window(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
