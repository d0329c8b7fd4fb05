package ecosystem

import (
	"bytes"
	"encoding/json"
)

// JSONKeys cuts an object to some of its members; nothing is left of anything else.
func JSONKeys(data []byte, keys []string) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return []byte("{}")
	}
	kept := map[string]json.RawMessage{}
	for _, k := range keys {
		if v, ok := all[k]; ok {
			kept[k] = v
		}
	}
	out, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return []byte("{}")
	}
	return out
}

// PlainJSON is JSON without the comments and the commas before a bracket that compilers and editors
// allow in their settings.
func PlainJSON(src []byte) []byte {
	var out []byte
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '"':
			end := i + 1
			for end < len(src) && src[end] != '"' {
				if src[end] == '\\' {
					end++
				}
				end++
			}
			out = append(out, src[i:min(end+1, len(src))]...)
			i = end
		case bytes.HasPrefix(src[i:], []byte("//")):
			line, _, _ := bytes.Cut(src[i:], []byte("\n"))
			i += len(line) - 1
		case bytes.HasPrefix(src[i:], []byte("/*")):
			_, rest, _ := bytes.Cut(src[i+2:], []byte("*/"))
			i = len(src) - len(rest) - 1
		case c == '}' || c == ']':
			out = append(bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")), c)
		default:
			out = append(out, c)
		}
	}
	return out
}
