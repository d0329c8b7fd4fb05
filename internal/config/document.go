package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// With returns c with the settings of a further file laid over it. A list
// replaces the list before it, env and the settings of agents are merged by
// name, and of two limits the lower holds. The error is of type [Problems]; c
// itself does not change.
func (c *Config) With(name string, data []byte) (*Config, error) { return c.with(name, data) }

// with is With for a file that may have more keys.
func (c *Config) with(name string, data []byte, more ...field) (*Config, error) {
	return c.lay(name, func(d *document, s section) {
		if root := d.parse(data); root != nil && d.version(root) {
			d.section(root, "", append(s, more...))
		}
	})
}

// lay lays what read sets over c.
func (c *Config) lay(name string, read func(*document, section)) (*Config, error) {
	d := &document{file: name}
	over := *c
	over.Env = maps.Clone(c.Env)
	over.Agents.Settings = maps.Clone(c.Agents.Settings)
	over.Limits = Limits{}
	read(d, schema(&over))
	if len(d.problems) > 0 {
		d.problems.sort()
		return nil, d.problems
	}
	over.Limits = over.Limits.lower(c.Limits)
	return &over, nil
}

// A document is a file while it is read: it collects what is wrong.
type document struct {
	file     string
	problems Problems
}

func (d *document) problem(line, col int, key, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Line: line, Col: col, Key: key, Text: fmt.Sprintf(format, args...)})
}

func (d *document) at(n *yaml.Node, key, format string, args ...any) {
	d.problem(n.Line, n.Column, key, format, args...)
}

// parse returns the top node, nil where there is none or the file is no YAML.
// Aliases stay as they are written: no node is ever expanded, so that a small
// file is a small tree.
func (d *document) parse(data []byte) *yaml.Node {
	if len(data) > MaxSize {
		d.problem(0, 0, "", "%d bytes; a configuration has at most %d", len(data), MaxSize)
		return nil
	}
	if !d.plainText(data) {
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		d.syntax(err, data)
		return nil
	}
	var first, second yaml.Node
	if err := loader.Load(&first); err != nil {
		if !errors.Is(err, io.EOF) {
			d.syntax(err, data)
		}
		return nil
	}
	switch err := loader.Load(&second); {
	case err == nil:
		d.at(&second, "", "a second YAML document; a configuration is one")
		return nil
	case !errors.Is(err, io.EOF):
		d.syntax(err, data)
		return nil
	}
	if first.Kind != yaml.DocumentNode || len(first.Content) == 0 || isEmpty(first.Content[0]) {
		return nil
	}
	return first.Content[0]
}

// plainText reports whether data is UTF-8 without control characters. The YAML
// library refuses the rest too, but cannot say where.
func (d *document) plainText(data []byte) bool {
	line, col := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			d.problem(line, col, "", "not UTF-8 text")
			return false
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			d.problem(line, col, "", "control character %U", r)
			return false
		}
		i, col = i+size, col+1
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	return true
}

// syntax reports an error of the YAML library at the place that it names.
func (d *document) syntax(err error, data []byte) {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		d.problem(0, 0, "", "%s", err)
		return
	}
	text := load.Message
	if load.ContextMsg != "" && load.ContextMark.Line > 0 {
		text += fmt.Sprintf(" (%s that begins at %d:%d)", load.ContextMsg, load.ContextMark.Line, load.ContextMark.Column)
	}
	lines := bytes.Split(data, []byte("\n"))
	if n := load.Mark.Line; n > 0 && n <= len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[n-1], " "), []byte("\t")) {
		text += "; YAML is indented with spaces, not with tabs"
	}
	if strings.HasPrefix(load.Message, "mapping values are not allowed") {
		text += "; a text with \": \" in it needs quotes, and keys of one map begin in the same column"
	}
	d.problem(load.Mark.Line, load.Mark.Column, "", "%s", escape(text))
}

// version reports whether root says that it is of this version. Of a file of
// another version nothing else is said: its keys may be right there.
func (d *document) version(root *yaml.Node) bool {
	if root.Kind != yaml.MappingNode {
		d.at(root, "", "want keys with values, found %s", describe(root))
		return false
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if key.Value != "version" {
			continue
		}
		if isScalar(value, "!!int") && value.Value != "1" {
			d.at(value, "version", "%s is not known to this ycbot; it reads version 1", plain(value.Value))
			return false
		}
		return true
	}
	d.at(root, "version", "missing; a configuration begins with `version: 1`")
	return true
}

// section reads a mapping whose keys are known.
func (d *document) section(n *yaml.Node, path string, s section) {
	d.mapping(n, path, func(key, value *yaml.Node) {
		f, ok := s.find(key.Value)
		if !ok {
			d.unknown(key, path)
			return
		}
		if f.sub != nil {
			d.section(value, join(path, f.key), f.sub)
			return
		}
		f.set(d, value, join(path, f.key))
	})
}

// mapping calls each for every key of n that is a plain word and not given twice.
func (d *document) mapping(n *yaml.Node, path string, each func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, path, "keys with values")
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		line, twice := lines[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.at(key, path, "a key must be a word, found %s", describe(key))
		case key.ShortTag() == "!!merge":
			d.at(key, path, "merge keys are not read; write the keys out")
		case twice:
			d.at(key, join(path, plain(key.Value)), "given twice, first in line %d", line)
		default:
			lines[key.Value] = key.Line
			each(key, value)
		}
	}
}

// wrongType reports a node that is not what was wanted.
func (d *document) wrongType(n *yaml.Node, path, want string) {
	switch {
	case n.Kind == yaml.AliasNode:
		d.at(n, path, "aliases are not read; write the value out")
	case isEmpty(n):
		d.at(n, path, "want %s, found nothing; leave the key out to keep the default", want)
	default:
		d.at(n, path, "want %s, found %s", want, describe(n))
	}
}

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// isScalar reports a single value with one of the tags, such as "!!int".
func isScalar(n *yaml.Node, tags ...string) bool {
	return n.Kind == yaml.ScalarNode && slices.Contains(tags, n.ShortTag())
}

// isEmpty reports a value that is not written at all.
func isEmpty(n *yaml.Node) bool {
	return isScalar(n, "!!null") && n.Value == ""
}

// describe names what n is, for people.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch tag := n.ShortTag(); tag {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "the number " + plain(n.Value)
	case "!!bool":
		return "the boolean " + plain(n.Value)
	case "!!null":
		return "null"
	default:
		return "a value tagged " + plain(strings.TrimPrefix(tag, "!!"))
	}
}

// shorten keeps a quoted word of a file from filling a message.
func shorten(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// escape keeps control characters, which escapes in double quotes can put into
// any text, out of terminals and logs.
func escape(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// plain is a word of a file as a message may show it.
func plain(s string) string { return escape(shorten(s)) }
