package agent

import (
	"encoding/json"
	"testing"
)

// What models get wrong about types is put right, at any depth; the rest comes back byte for byte.
func TestArguments(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type": "object", "required": ["n"], "properties": {
		"n": {"type": "integer"}, "b": {"type": "boolean"}, "s": {"type": "string"}, "words": {"type": "array", "items": {"type": "string"}},
		"list": {"type": "array", "items": {"type": "object", "properties": {"s": {"type": "string"}, "words": {"type": "array", "items": {"type": "string"}}}}},
		"any": {"type": "array"}, "one": {"type": "object", "properties": {"n": {"type": "integer"}}}}}`)
	for args, want := range map[string]string{
		` {"n":1 , "s":"2"}`:                ` {"n":1 , "s":"2"}`,
		``:                                  `{}`,
		`{"n":"7","b":"True","s":12}`:       `{"b":true,"n":7,"s":"12"}`,
		`{"n":null,"b":null}`:               `{"n":null}`,
		`{"words":"a","list":"[]"}`:         `{"list":[],"words":["a"]}`,
		`{"s":["E3","E4"]}`:                 `{"s":"E3, E4"}`,
		`{"s":[3]}`:                         `{"s":[3]}`,
		`{"list":[{"s":["E3"]},{"s":"a"}]}`: `{"list":[{"s":"E3"},{"s":"a"}]}`,
		`{"list":{"words":"a"}}`:            `{"list":[{"words":["a"]}]}`,
		`{"any": ["1", 2]}`:                 `{"any": ["1", 2]}`,
		`{"list":"none"}`:                   `{"list":"none"}`,
		`{"one":{"n":"7"}}`:                 `{"one":{"n":7}}`,
	} {
		got, err := Arguments(args, schema)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", args, got, err, want)
		}
	}
	if _, err := Arguments(`[1]`, schema); err == nil {
		t.Error("a list is taken for an object")
	}
}
