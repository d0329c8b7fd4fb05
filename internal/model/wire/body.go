package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Order puts the fields named last at the end of a JSON object, in the order in
// which they are named, and leaves all else as it stands. With the conversation
// before only what may differ from call to call, each request begins with the
// bytes of the one before. Of a field that parts has, they stand in the place of
// the object's own value, one after the other.
func Order(object []byte, parts map[string][][]byte, last ...string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("request: not a JSON object: %v", t)
	}
	var names []string
	fields := map[string][][]byte{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("request: %w", err)
		}
		name, ok := t.(string)
		if !ok {
			return nil, fmt.Errorf("request: field %v", t)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("request: %s: %w", name, err)
		}
		fields[name] = [][]byte{value}
		if !slices.Contains(last, name) {
			names = append(names, name)
		}
	}
	size := len(object) + 1
	for name, value := range parts {
		fields[name] = value
		size += len(name) + len(`,"":`)
		for _, p := range value {
			size += len(p)
		}
	}
	out := make([]byte, 0, size)
	for _, name := range append(names, last...) {
		value, ok := fields[name]
		if !ok {
			continue
		}
		out = append(out, ',')
		out = append(strconv.AppendQuote(out, name), ':')
		for _, p := range value {
			out = append(out, p...)
		}
	}
	if len(out) == 0 {
		return []byte("{}"), nil
	}
	out[0] = '{'
	return append(out, '}'), nil
}

// Sorted returns tools by name: the order in which they were given is no reason
// for other bytes.
func Sorted(tools []model.ToolSpec) []model.ToolSpec {
	out := slices.Clone(tools)
	sorted.By(out, func(a, b model.ToolSpec) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Guess is the usage of an exchange whose provider gave no figures.
func Guess(body []byte, m model.Message) model.Usage {
	out := len(m.Text)
	for _, c := range m.Calls {
		out += len(c.Name) + len(c.Args)
	}
	return model.Usage{Input: len(body) / 4, Output: out / 4, Estimated: true}
}

// Figures are the usage that a provider says, and an estimate of what it does not say or says
// as nothing, as servers of one's own do: no limit would hold with it.
func Figures(said *model.Usage, body []byte, m model.Message) model.Usage {
	guess := Guess(body, m)
	if said == nil {
		return guess
	}
	u := *said
	if u.Input <= 0 {
		u.Input, u.Cached, u.Written, u.Estimated = guess.Input, 0, 0, true
	}
	if u.Output <= 0 {
		u.Output, u.Estimated = guess.Output, u.Estimated || guess.Output > 0
	}
	return u
}

// Place is where in m the next part of an answer would stand, as Kept.At counts.
func Place(text string, calls int) int {
	if text == "" && calls == 0 {
		return 0
	}
	return 1 + calls
}

// Interleave walks through an answer in the order in which it was given: what api
// wants back, the text, the calls. What would come last is left out: reasoning
// without what it led to is refused.
func Interleave(m model.Message, api string, kept func(json.RawMessage), text func(string), call func(model.Call)) {
	before := func(at int) {
		for _, k := range m.Kept {
			if k.API == api && k.At == at {
				kept(k.Raw)
			}
		}
	}
	hasText := strings.TrimSpace(m.Text) != ""
	if hasText || len(m.Calls) > 0 {
		before(0)
	}
	if hasText {
		text(m.Text)
	}
	for i, c := range m.Calls {
		before(1 + i)
		call(c)
	}
}
