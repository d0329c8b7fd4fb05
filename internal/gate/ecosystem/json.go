package ecosystem

import "encoding/json"

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
