package ecosystem

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"go.yaml.in/yaml/v4"
)

// jsonKeys cuts an object to some of its members; nothing is left of anything else.
func jsonKeys(data []byte, keys []string) []byte {
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

// yamlKeys does the same with a mapping.
func yamlKeys(data []byte, keys []string) []byte {
	var all map[string]any
	if yaml.Unmarshal(data, &all) != nil {
		return nil
	}
	kept := map[string]any{}
	for _, k := range keys {
		if v, ok := all[k]; ok {
			kept[k] = v
		}
	}
	if len(kept) == 0 {
		return nil
	}
	out, err := yaml.Marshal(kept)
	if err != nil {
		return nil
	}
	return out
}

func keptLines(data []byte, keep func(string) bool) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); keep(line) {
			out.WriteString(WithoutUser(line) + "\n")
		}
	}
	return out.Bytes()
}

// joinJSON adds the members of a second object to those of the first.
func joinJSON(first, second []byte) []byte {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(first, &a) != nil || json.Unmarshal(second, &b) != nil || len(b) == 0 {
		return first
	}
	maps.Copy(a, b)
	out, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return first
	}
	return out
}
