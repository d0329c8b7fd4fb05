package ecosystem

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A TOML is a manifest in TOML. What is of another type than its tool wants is taken to
// be missing: the tool itself says so when it runs.
type TOML map[string]any

// ParseTOML reads a manifest; broken means that it is none. Its tool must then be run all
// the same, or a change that breaks the manifest would have no tests that fail.
func ParseTOML(data []byte) (d TOML, broken bool) {
	if toml.Unmarshal(data, &d) != nil {
		return nil, true
	}
	return d, false
}

// Table is the table of a path; nil: there is none.
func (d TOML) Table(names ...string) TOML {
	for _, name := range names {
		next, _ := d[name].(map[string]any)
		d = next
	}
	return d
}

// Text is a string; empty for what is none.
func (d TOML) Text(name string) string {
	text, _ := d[name].(string)
	return text
}

// Texts are the strings of an array.
func (d TOML) Texts(name string) []string {
	var out []string
	items, _ := d[name].([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Tables are those of an array, and those that a table consists of.
func (d TOML) Tables(name string) []TOML {
	var out []TOML
	switch all := d[name].(type) {
	case []any:
		for _, item := range all {
			if t, ok := item.(map[string]any); ok {
				out = append(out, t)
			}
		}
	case map[string]any:
		for _, key := range TOML(all).Keys() {
			if t, ok := all[key].(map[string]any); ok {
				out = append(out, t)
			}
		}
	}
	return out
}

// Keys are those of a table, sorted.
func (d TOML) Keys() []string {
	var out []string
	for key := range d {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// Has says whether one of these keys is there.
func (d TOML) Has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return d[name] != nil })
}

// HasPrefix says whether a key begins so.
func (d TOML) HasPrefix(prefix string) bool {
	return slices.ContainsFunc(d.Keys(), func(key string) bool { return strings.HasPrefix(key, prefix) })
}
