package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// description is OpenAI's own of its API, cut to chat completions; read once.
var description = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("../openai/testdata/openai-openapi-cut.json")
	if err != nil {
		return nil, err
	}
	doc.Servers = openapi3.Servers{{URL: "/v1"}}
	return doc, nil
})

func checkChat(r *http.Request, body []byte) error {
	doc, err := description()
	if err != nil {
		return err
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return err
	}
	req := r.Clone(r.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := router.FindRoute(req)
	if err != nil {
		return err
	}
	return openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true},
	})
}

// checkResponses holds what OpenAI refuses: calls without an answer, answers
// without a call, reasoning that nothing follows or that is not stored anywhere.
func checkResponses(_ *http.Request, body []byte) error {
	var req struct {
		Model, Instructions string
		Stream              bool
		Store               *bool
		Include             []string
		Input               []struct {
			Type, Role            string
			Content, Output, Name string
			CallID                string `json:"call_id"`
			Arguments             *string
			EncryptedContent      string `json:"encrypted_content"`
			ID                    string
		}
		Tools []struct {
			Type, Name, Description string
			Parameters              map[string]any
			Strict                  *bool
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if req.Model == "" || !req.Stream || req.Store == nil || *req.Store || len(req.Input) == 0 {
		return errors.New("want a model, stream, store: false and input")
	}
	for _, t := range req.Tools {
		if t.Type != "function" || t.Name == "" || t.Parameters["type"] != "object" || t.Strict == nil {
			return fmt.Errorf("tool %+v", t)
		}
	}
	open := map[string]bool{}
	for i, item := range req.Input {
		switch {
		case item.Type == "reasoning":
			if item.EncryptedContent == "" || item.ID == "" || i+1 == len(req.Input) || req.Input[i+1].Type == "function_call_output" || req.Input[i+1].Role == "user" {
				return fmt.Errorf("item %d: reasoning that cannot be read or that nothing follows", i)
			}
		case item.Type == "function_call":
			if item.CallID == "" || item.Name == "" || item.Arguments == nil {
				return fmt.Errorf("item %d: %+v", i, item)
			}
			open[item.CallID] = true
		case item.Type == "function_call_output":
			if !open[item.CallID] || item.Output == "" {
				return fmt.Errorf("item %d answers call %q", i, item.CallID)
			}
			delete(open, item.CallID)
		case item.Role == "user" || item.Role == "assistant":
			if item.Content == "" {
				return fmt.Errorf("item %d is empty", i)
			}
			if len(open) > 0 {
				return fmt.Errorf("item %d comes before the answers to %v", i, open)
			}
		default:
			return fmt.Errorf("item %d: %+v", i, item)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no answers to %v", open)
	}
	return nil
}

// checkMessages holds what Anthropic refuses.
func checkMessages(r *http.Request, body []byte) error {
	type block struct {
		Type, Text, ID, Name, Thinking, Signature, Data string
		Input                                           map[string]any
		ToolUseID                                       string `json:"tool_use_id"`
		Content                                         []struct{ Type, Text string }
	}
	var req struct {
		Model     string
		Stream    bool
		MaxTokens int `json:"max_tokens"`
		Messages  []struct {
			Role    string
			Content []block
		}
		Tools []struct {
			Name        string
			InputSchema map[string]any `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return err
	}
	if r.Header.Get("Anthropic-Version") == "" || req.Model == "" || !req.Stream || req.MaxTokens <= 0 || len(req.Messages) == 0 {
		return errors.New("want a version, a model, stream, max_tokens and messages")
	}
	if n := bytes.Count(body, []byte(`"cache_control"`)); n > 4 {
		return fmt.Errorf("%d cache breakpoints, 4 are taken", n)
	}
	for _, t := range req.Tools {
		if t.Name == "" || t.InputSchema["type"] != "object" {
			return fmt.Errorf("tool %+v", t)
		}
	}
	var open []string
	for i, msg := range req.Messages {
		if want := []string{"user", "assistant"}[i%2]; msg.Role != want || len(msg.Content) == 0 {
			return fmt.Errorf("message %d is of %s with %d blocks, want %s", i, msg.Role, len(msg.Content), want)
		}
		answered := 0
		var now []string
		for j, b := range msg.Content {
			switch {
			case b.Type == "text" && strings.TrimSpace(b.Text) != "":
			case b.Type == "thinking" && b.Signature != "" && j+1 < len(msg.Content):
			case b.Type == "redacted_thinking" && b.Data != "" && j+1 < len(msg.Content):
			case b.Type == "tool_use" && b.ID != "" && b.Input != nil && msg.Role == "assistant":
				now = append(now, b.ID)
			case b.Type == "tool_result" && j == answered && answered < len(open) && b.ToolUseID == open[answered]:
				answered++
			default:
				return fmt.Errorf("message %d: block %d: %+v", i, j, b)
			}
		}
		if answered != len(open) {
			return fmt.Errorf("message %d answers %d of %d calls", i, answered, len(open))
		}
		open = now
	}
	if len(open) > 0 {
		return fmt.Errorf("no answers to %v", open)
	}
	return nil
}
