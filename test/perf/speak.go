package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A speech is an API that a program may speak with its model.
type speech struct {
	path   string // how the address of a question ends
	answer func(text string, calls []call, n, tokens int) []byte
}

// speeches are the APIs that the peers speak. The n-th answer of a conversation
// gets its number, as no two calls of one may have the same id.
func speeches() []speech {
	return []speech{{"/chat/completions", answer}, {"/responses", response}, {"/messages", message}}
}

// A stream is an answer of events that have names.
type stream struct{ bytes.Buffer }

func (s *stream) send(kind string, fields map[string]any) {
	fields["type"] = kind
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // plain maps
	}
	fmt.Fprintf(s, "event: %s\ndata: %s\n\n", kind, data)
}

// response is a whole streamed answer of OpenAI's responses.
func response(text string, calls []call, n, tokens int) []byte {
	var s stream
	id := fmt.Sprintf("resp_%d", n)
	s.send("response.created", map[string]any{"response": map[string]any{"id": id, "object": "response", "status": "in_progress", "output": []any{}}})
	var items []any
	if text != "" || len(calls) == 0 {
		items = append(items, map[string]any{
			"type": "message", "id": fmt.Sprintf("msg_%d", n), "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}},
		})
	}
	for i, c := range calls {
		items = append(items, map[string]any{
			"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", n, i), "call_id": fmt.Sprintf("call_%d_%d", n, i),
			"name": c.name, "arguments": c.args, "status": "completed",
		})
	}
	for i, item := range items {
		s.send("response.output_item.added", map[string]any{"output_index": i, "item": item})
		s.send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	s.send("response.completed", map[string]any{"response": map[string]any{
		"id": id, "object": "response", "status": "completed", "output": items,
		"usage": map[string]any{"input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10},
	}})
	return s.Bytes()
}

// message is a whole streamed answer of Anthropic's messages.
func message(text string, calls []call, n, tokens int) []byte {
	var s stream
	s.send("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": peerModel, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{"input_tokens": tokens, "output_tokens": 1},
	}})
	at := 0
	block := func(start, delta map[string]any) {
		s.send("content_block_start", map[string]any{"index": at, "content_block": start})
		s.send("content_block_delta", map[string]any{"index": at, "delta": delta})
		s.send("content_block_stop", map[string]any{"index": at})
		at++
	}
	if text != "" || len(calls) == 0 {
		block(map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": text})
	}
	reason := "end_turn"
	for i, c := range calls {
		reason = "tool_use"
		block(map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": c.args})
	}
	s.send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 10}})
	s.send("message_stop", map[string]any{})
	return s.Bytes()
}

// speechOf finds the API of a question by its address.
func speechOf(path string) (speech, bool) {
	for _, s := range speeches() {
		if strings.HasSuffix(path, s.path) {
			return s, true
		}
	}
	return speech{}, false
}
