package openai

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
)

// Models that take pictures: the beginnings of the names of OpenAI's, and what stands in
// those of others that servers of this API offer. Those of blindOnes are exceptions.
var (
	seeing    = []string{"gpt-4o", "gpt-4.1", "gpt-5", "o3", "o4"}
	seeingToo = []string{"-vl", "vl:", "llava", "pixtral", "vision", "gemini-", "gemma3:", "gemma-3-", "claude-", "llama4", "llama-4"}
	blindOnes = []string{"o3-mini", "gemma3:1b", "gemma-3-1b", "gemma3:270m", "gemma-3-270m"}
)

// sees says whether a model of this name is known to take pictures. A router's prefix, as
// in "openai/gpt-5", makes no difference.
func sees(name string) bool {
	name = strings.ToLower(name[strings.LastIndex(name, "/")+1:])
	begins := func(p string) bool { return strings.HasPrefix(name, p) }
	holds := func(p string) bool { return strings.Contains(name, p) }
	return !slices.ContainsFunc(blindOnes, begins) && (slices.ContainsFunc(seeing, begins) || slices.ContainsFunc(seeingToo, holds))
}

// blind takes the pictures out of messages for a model that is not known to see.
func blind(name string, messages []model.Message) []model.Message {
	if sees(name) || !slices.ContainsFunc(messages, pictured) {
		return messages
	}
	out := slices.Clone(messages)
	for i := range out {
		out[i].Images = nil
	}
	return out
}

// apart puts the pictures of tools' answers into messages of the user, as chat
// completions take none in answers. They come behind all answers to one message,
// between which nothing else may stand.
func apart(messages []model.Message) []model.Message {
	if !slices.ContainsFunc(messages, pictured) {
		return messages
	}
	var out, waiting []model.Message
	for _, m := range messages {
		if m.Role != model.Tool {
			out = append(out, waiting...)
			waiting = nil
		} else if pictured(m) {
			waiting = append(waiting, model.Message{Role: model.User, Text: heading(m), Images: m.Images})
			m.Images = nil
		}
		out = append(out, m)
	}
	return append(out, waiting...)
}

func pictured(m model.Message) bool { return len(m.Images) > 0 }

// heading stands before the pictures of a tool's answer.
func heading(msg model.Message) string { return "The pictures of " + msg.CallID + ":" }

func dataURL(i model.Image) string {
	return "data:" + i.MIME + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}
