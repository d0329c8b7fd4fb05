package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// property is what coerce reads of a schema.
type property struct {
	Type  any `json:"type"`
	Items *struct {
		Type any `json:"type"`
	} `json:"items"`
}

func (p property) is(kind string) bool { return p.Type == kind }

// coerce fixes what models commonly get wrong about the types of arguments: a
// number or truth value in quotes, a number where text is wanted, one value where
// a list is wanted, a list in quotes, and null for what is left out. Arguments
// with nothing to fix come back byte for byte.
func coerce(args, schema json.RawMessage) json.RawMessage {
	var want struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	var have map[string]json.RawMessage
	if json.Unmarshal(schema, &want) != nil || json.Unmarshal(args, &have) != nil {
		return args
	}
	changed := false
	for name, raw := range have {
		p, ok := want.Properties[name]
		if !ok {
			continue
		}
		if string(raw) == "null" && !slices.Contains(want.Required, name) {
			delete(have, name)
			changed = true
		} else if meant := p.meant(raw); meant != nil {
			have[name], changed = meant, true
		}
	}
	if !changed {
		return args
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(have) != nil {
		return args
	}
	return json.RawMessage(bytes.TrimSpace(out.Bytes()))
}

// meant returns what a value was meant to be, nil where it is right or that cannot be
// known.
func (p property) meant(raw json.RawMessage) json.RawMessage {
	var text string
	quoted := json.Unmarshal(raw, &text) == nil && raw[0] == '"'
	switch {
	case p.is("integer") && quoted:
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
			return json.RawMessage(strconv.FormatInt(n, 10))
		}
	case p.is("integer") && bytes.HasSuffix(raw, []byte(".0")):
		return raw[:len(raw)-2]
	case p.is("number") && quoted:
		if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			if out, err := json.Marshal(f); err == nil {
				return out
			}
		}
	case p.is("boolean") && quoted:
		if t := strings.ToLower(strings.TrimSpace(text)); t == "true" || t == "false" {
			return json.RawMessage(t)
		}
	case p.is("string") && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9'):
		return json.RawMessage(`"` + string(raw) + `"`)
	case p.is("array") && raw[0] != '[':
		return p.list(raw, text, quoted)
	}
	return nil
}

// list makes a list of one value, or of the list that stands in quotes.
func (p property) list(raw json.RawMessage, text string, quoted bool) json.RawMessage {
	if t := strings.TrimSpace(text); quoted && strings.HasPrefix(t, "[") && json.Valid([]byte(t)) {
		return json.RawMessage(t)
	}
	if p.Items == nil || p.Items.Type == "string" && !quoted || p.Items.Type == "object" && raw[0] != '{' || string(raw) == "null" {
		return nil
	}
	return json.RawMessage("[" + string(raw) + "]")
}
