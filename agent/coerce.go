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
	Type       any                 `json:"type"`
	Items      *property           `json:"items"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

func (p property) is(kind string) bool { return p.Type == kind }

// Arguments are the arguments of a call, as a model wrote them, as a tool with that schema takes
// them; none are an empty object. What is no JSON object is an error.
func Arguments(args string, schema json.RawMessage) (json.RawMessage, error) {
	object, err := object(args)
	if err != nil {
		return nil, err
	}
	return coerce(object, schema), nil
}

// coerce fixes what models commonly get wrong about the types of arguments: a
// number or truth value in quotes, a number or a list of texts where text is wanted, one value
// where a list is wanted, a list in quotes, and null for what is left out, in objects and lists within
// them, too. Arguments with nothing to fix come back byte for byte.
func coerce(args, schema json.RawMessage) json.RawMessage {
	var want property
	if json.Unmarshal(schema, &want) != nil {
		return args
	}
	if meant := want.object(args); meant != nil {
		return meant
	}
	return args
}

// object returns what an object was meant to be, nil as meant does.
func (p property) object(raw json.RawMessage) json.RawMessage {
	var have map[string]json.RawMessage
	if json.Unmarshal(raw, &have) != nil {
		return nil
	}
	changed := false
	for name, raw := range have {
		of, ok := p.Properties[name]
		if !ok {
			continue
		}
		if string(raw) == "null" && !slices.Contains(p.Required, name) {
			delete(have, name)
			changed = true
		} else if meant := of.meant(raw); meant != nil {
			have[name], changed = meant, true
		}
	}
	if !changed {
		return nil
	}
	return encoded(have)
}

// elements is object for a list.
func (p property) elements(raw json.RawMessage) json.RawMessage {
	var have []json.RawMessage
	if p.Items == nil || json.Unmarshal(raw, &have) != nil {
		return nil
	}
	changed := false
	for i := range have {
		if meant := p.Items.meant(have[i]); meant != nil {
			have[i], changed = meant, true
		}
	}
	if !changed {
		return nil
	}
	return encoded(have)
}

// encoded is a value as JSON, nil where it cannot be.
func encoded(v any) json.RawMessage {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil
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
	case p.is("string") && raw[0] == '[':
		var texts []string
		if json.Unmarshal(raw, &texts) == nil {
			return encoded(strings.Join(texts, ", "))
		}
	case p.is("array") && raw[0] == '[':
		return p.elements(raw)
	case p.is("array"):
		list := p.list(raw, text, quoted)
		if meant := p.elements(list); meant != nil {
			return meant
		}
		return list
	case p.is("object") && raw[0] == '{':
		return p.object(raw)
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
