package ecosystem

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A tomlDoc is a manifest in TOML. What is of another type than its tool wants is taken to
// be missing: the tool itself says so when it runs.
type tomlDoc map[string]any

// parseTOML reads a manifest; broken means that it is none. Its tool must then be run all
// the same, or a change that breaks the manifest would have no tests that fail.
func parseTOML(data []byte) (d tomlDoc, broken bool) {
	if toml.Unmarshal(data, &d) != nil {
		return nil, true
	}
	return d, false
}

// table is the table of a path; nil: there is none.
func (d tomlDoc) table(names ...string) tomlDoc {
	for _, name := range names {
		next, _ := d[name].(map[string]any)
		d = next
	}
	return d
}

func (d tomlDoc) text(name string) string {
	text, _ := d[name].(string)
	return text
}

// texts are the strings of an array.
func (d tomlDoc) texts(name string) []string {
	var out []string
	items, _ := d[name].([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// tables are those of an array, and those that a table consists of.
func (d tomlDoc) tables(name string) []tomlDoc {
	var out []tomlDoc
	switch all := d[name].(type) {
	case []any:
		for _, item := range all {
			if t, ok := item.(map[string]any); ok {
				out = append(out, t)
			}
		}
	case map[string]any:
		for _, key := range tomlDoc(all).keys() {
			if t, ok := all[key].(map[string]any); ok {
				out = append(out, t)
			}
		}
	}
	return out
}

// keys are those of a table, sorted.
func (d tomlDoc) keys() []string {
	var out []string
	for key := range d {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

func (d tomlDoc) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return d[name] != nil })
}

// hasPrefix says whether a key begins so.
func (d tomlDoc) hasPrefix(prefix string) bool {
	return slices.ContainsFunc(d.keys(), func(key string) bool { return strings.HasPrefix(key, prefix) })
}
