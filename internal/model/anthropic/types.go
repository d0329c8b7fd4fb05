package anthropic

import (
	"encoding/json"

	"github.com/ycbot/ycbot/internal/model"
)

// The parts of the Messages API that are used here, as
// https://docs.claude.com/en/api/messages and
// https://docs.claude.com/en/docs/build-with-claude/streaming describe them.

// A request is the body of a call but for what is written beside it: tools and messages.
type request struct {
	Model      string    `json:"model"`
	Stream     bool      `json:"stream"`
	System     []block   `json:"system,omitempty"`
	Thinking   *thinking `json:"thinking,omitempty"`
	Output     *output   `json:"output_config,omitempty"`
	ToolChoice *kind     `json:"tool_choice,omitempty"`
	MaxTokens  int       `json:"max_tokens"`
}

// kind is an object that has nothing but a type.
type kind struct {
	Type string `json:"type"`
}

type thinking struct {
	Budget int    `json:"budget_tokens,omitempty"` // in tokens
	Type   string `json:"type"`                    // enabled or adaptive
}

type output struct {
	Effort model.Effort `json:"effort"`
}

// ephemeral marks a cache breakpoint: what stands up to there is cached.
func ephemeral() *kind { return &kind{"ephemeral"} }

type tool struct {
	InputSchema  map[string]any `json:"input_schema"`
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	CacheControl *kind          `json:"cache_control,omitempty"`
}

// A block is a part of a message that is sent: text, a call of a tool, or its result.
type block struct {
	ID           string          `json:"id,omitempty"`    // of tool_use
	Input        json.RawMessage `json:"input,omitempty"` // the same
	Name         string          `json:"name,omitempty"`  // the same
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      []block         `json:"content,omitempty"` // of tool_result
	Source       *source         `json:"source,omitempty"`  // of image
	Text         *string         `json:"text,omitempty"`
	CacheControl *kind           `json:"cache_control,omitempty"`
	Type         string          `json:"type"`
}

// A source is the data of a picture, which JSON has in base64.
type source struct {
	Data      []byte `json:"data"`
	MediaType string `json:"media_type"`
	Type      string `json:"type"`
}

func imageBlock(i model.Image) block {
	return block{Source: &source{Data: i.Data, MediaType: i.MIME, Type: "base64"}, Type: "image"}
}

func textBlock(text string) block { return block{Text: &text, Type: "text"} }

// A signedThought is thinking as it is given back: unchanged, with its signature.
type signedThought struct {
	Signature string `json:"signature"`
	Thinking  string `json:"thinking"`
	Type      string `json:"type"`
}

// A hiddenThought is thinking that the provider encrypted.
type hiddenThought struct {
	Data string `json:"data"`
	Type string `json:"type"`
}

// An event is one event of a stream; its type says which fields it has.
type event struct {
	Type    string `json:"type"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"` // of message_start
	Block received `json:"content_block"` // of content_block_start
	Delta struct {
		received

		PartialJSON string `json:"partial_json"` // of the arguments of a call
		StopReason  string `json:"stop_reason"`  // of message_delta
	} `json:"delta"`
	Usage usage `json:"usage"` // of message_delta: of the whole message so far
	Error *struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// received is a block of the answer, or a piece of one.
type received struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"` // whole, of a server that does not stream arguments
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"` // of redacted_thinking
}

// usage counts tokens. What was read from the cache or written into it is not part of
// the input.
type usage struct {
	Input   int `json:"input_tokens"`
	Read    int `json:"cache_read_input_tokens"`
	Written int `json:"cache_creation_input_tokens"`
	Output  int `json:"output_tokens"`
}
