package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// body is the request as it is sent, the same bytes for the same conversation.
func (m *Model) body(req *model.Request) ([]byte, error) {
	p := request{Model: m.o.Model, Stream: true, MaxTokens: req.MaxOut}
	if p.MaxTokens <= 0 {
		p.MaxTokens = defaultMaxOut
	}
	p.think(req.Effort)
	if req.System != "" {
		system := textBlock(req.System)
		system.CacheControl = ephemeral()
		p.System = []block{system}
	}
	tools, items, err := wire.Writer{Tools: toolList, Message: blocksOf}.Write(req.Tools, req.Messages)
	if err != nil {
		return nil, err
	}
	if items, err = marked(req.Messages, items); err != nil {
		return nil, err
	}
	parts := map[string][][]byte{"messages": turns(req.Messages, items)}
	if len(req.Tools) > 0 {
		parts["tools"] = [][]byte{tools}
	}
	if req.NoCalls && len(req.Tools) > 0 {
		p.ToolChoice = &kind{"none"}
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return wire.Order(raw, parts, "tools", "system", "messages", "tool_choice", "max_tokens")
}

// toolList is all tools, with a cache breakpoint behind the last.
func toolList(specs []model.ToolSpec) ([]byte, error) {
	out := make([]tool, len(specs))
	for i, t := range specs {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out[i] = tool{Name: t.Name, Description: t.Description}
		if err := json.Unmarshal(schema, &out[i].InputSchema); err != nil {
			return nil, fmt.Errorf("schema of tool %s: %w", t.Name, err)
		}
	}
	if len(out) > 0 {
		out[len(out)-1].CacheControl = ephemeral()
	}
	return marshal(out)
}

// The roles of the API.
const (
	user      = "user"
	assistant = "assistant"
)

// role is whose turn a message belongs to: results of tools, and what the user says
// after them, are one turn of the user.
func role(msg model.Message) string {
	if msg.Role == model.Assistant {
		return assistant
	}
	return user
}

// turns puts what messages were written as together to the list of the API: those of
// one side that follow each other are one turn.
func turns(messages []model.Message, items [][]byte) [][]byte {
	list := append(make([][]byte, 0, 2*len(items)+2), []byte("["))
	end := "" // of the turn that is open
	for i, msg := range messages {
		if len(items[i]) == 0 {
			continue
		}
		between := `{"content":[`
		switch closing := `],"role":"` + role(msg) + `"}`; {
		case closing == end:
			between = ","
		case end != "":
			between = end + "," + between
			fallthrough
		default:
			end = closing
		}
		list = append(list, []byte(between), items[i])
	}
	return append(list, []byte(end+"]"))
}

// marked sets a cache breakpoint behind the last two turns of the user: the earlier
// one is where the request before this one had its last. items stays as it is.
func marked(messages []model.Message, items [][]byte) ([][]byte, error) {
	out := slices.Clone(items)
	after := "" // whose turn comes next
	for i, left := len(messages)-1, 2; i >= 0 && left > 0; i-- {
		if len(items[i]) == 0 {
			continue
		}
		now := role(messages[i])
		if now == user && now != after {
			b, err := userBlock(messages[i])
			if err != nil {
				return nil, err
			}
			b.CacheControl = ephemeral()
			if out[i], err = marshal(b); err != nil {
				return nil, err
			}
			left--
		}
		after = now
	}
	return out, nil
}

// blocksOf is a message as blocks of the API, with commas between them.
func blocksOf(msg model.Message) ([]byte, error) {
	if msg.Role != model.Assistant {
		b, err := userBlock(msg)
		if err != nil {
			return nil, err
		}
		return marshal(b)
	}
	blocks, err := answerBlocks(msg)
	if err != nil || len(blocks) == 0 {
		return nil, err
	}
	return bytes.Join(blocks, []byte(",")), nil
}

// userBlock is a message of the user, or the result of a tool.
func userBlock(msg model.Message) (block, error) {
	switch msg.Role {
	case model.User:
		return textBlock(msg.Text), nil
	case model.Tool:
		content := []block{textBlock(msg.Text)}
		for _, i := range msg.Images {
			content = append(content, imageBlock(i))
		}
		return block{ToolUseID: msg.CallID, Content: content, Type: "tool_result"}, nil
	}
	return block{}, fmt.Errorf("request: role %q", msg.Role)
}

func marshal(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return raw, nil
}

// answerBlocks is an answer of the model, block by block, as JSON. Kept blocks are
// given back as they came.
func answerBlocks(msg model.Message) (blocks [][]byte, err error) {
	add := func(v any) {
		raw, failed := marshal(v)
		if failed != nil {
			err = failed
		}
		blocks = append(blocks, raw)
	}
	wire.Interleave(msg, Messages, func(raw json.RawMessage) { add(raw) }, func(text string) { add(textBlock(text)) }, func(c model.Call) {
		var args map[string]json.RawMessage
		if json.Unmarshal([]byte(c.Args), &args) != nil || args == nil {
			err = fmt.Errorf("request: call %s: arguments are not a JSON object", c.ID)
			return
		}
		add(block{ID: c.ID, Input: json.RawMessage(c.Args), Name: c.Name, Type: "tool_use"})
	})
	return blocks, err
}
