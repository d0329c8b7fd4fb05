package agents

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/pattern"
)

// split cuts a file into its settings and its prompt. A byte order mark and
// carriage returns make no difference. The settings begin in line 2.
func split(text string) (head, body string, ok bool) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff"))
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || !isFence(first) {
		return "", "", false
	}
	for at := 0; at <= len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		if isFence(line) {
			return rest[:at], rest[min(at+len(line)+1, len(rest)):], true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", "", false
}

func isFence(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// A kind says what a node is.
type kind int

const (
	scalar kind = iota + 1
	list
	mapping
	unreadable // an alias, or lines that mean nothing
)

// A node is a value in the settings, whether it was read as YAML or not.
type node struct {
	kind   kind
	text   string // of a scalar; empty also for null
	line   int    // in the file
	items  []node
	fields []setting // in the order of the file, keys may repeat
}

// A setting is a key with its value.
type setting struct {
	key string
	node
}

// settings reads the settings as YAML. Files in use are not always YAML: an
// unquoted "*" or a colon in a description is none. Of those, each key with
// what belongs to it is read on its own, so that a broken one costs the others
// nothing. stray are lines that belong to no key.
func settings(head string) (all []setting, stray []int) {
	// Other ends of lines, which YAML knows and editors do not count, are blanks.
	head = strings.NewReplacer("\u0085", " ", "\u2028", " ", "\u2029", " ").Replace(head)
	if root, ok := parseYAML(head, 1); ok {
		if root.kind == mapping {
			return root.fields, nil
		}
		if root.kind == 0 {
			return nil, nil
		}
	}
	chunks, stray := cut(head)
	for _, c := range chunks {
		root, ok := parseYAML(strings.Join(c.lines, "\n"), c.line-1)
		if ok && root.kind == mapping && len(root.fields) == 1 {
			all = append(all, root.fields[0])
		} else {
			all = append(all, c.raw())
		}
	}
	return all, stray
}

// parseYAML reads one YAML document, whose lines follow on those before. An
// empty one is the zero node.
func parseYAML(text string, before int) (node, bool) {
	loader, err := yaml.NewLoader(bytes.NewReader([]byte(text)))
	if err != nil {
		return node{}, false
	}
	var doc, second yaml.Node
	if err := loader.Load(&doc); err != nil {
		return node{}, errors.Is(err, io.EOF)
	}
	if err := loader.Load(&second); !errors.Is(err, io.EOF) {
		return node{}, false
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return node{}, true
	}
	return fromYAML(doc.Content[0], before), true
}

// fromYAML keeps what settings can use. Aliases stay unread, so that a small
// file is a small tree.
func fromYAML(n *yaml.Node, before int) node {
	out := node{line: n.Line + before}
	switch n.Kind {
	case yaml.ScalarNode:
		out.kind = scalar
		if n.ShortTag() != "!!null" {
			out.text = n.Value
		}
	case yaml.SequenceNode:
		out.kind = list
		for _, e := range n.Content {
			out.items = append(out.items, fromYAML(e, before))
		}
	case yaml.MappingNode:
		out.kind = mapping
		for i := 0; i+1 < len(n.Content); i += 2 {
			out.fields = append(out.fields, setting{key: n.Content[i].Value, node: fromYAML(n.Content[i+1], before)})
			out.fields[len(out.fields)-1].line = n.Content[i].Line + before
		}
	default:
		out.kind = unreadable
	}
	return out
}

// A chunk is a key at the left margin and the lines that belong to it.
type chunk struct {
	key   string
	rest  string // of the first line
	line  int
	lines []string
}

var (
	keyLine  = pattern.New(`^["']?([A-Za-z][A-Za-z0-9_-]*)["']?\s*:\s*(.*)$`)
	itemLine = pattern.New(`^\s*-\s+(.+)$`)
)

// cut divides the settings by their keys.
func cut(head string) (chunks []chunk, stray []int) {
	n := 1
	for line := range strings.SplitSeq(head, "\n") {
		n++
		line = strings.TrimRight(line, " \t")
		m := keyLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			chunks = append(chunks, chunk{key: m[1], rest: m[2], line: n, lines: []string{line}})
		case len(chunks) > 0 && (line == "" || strings.ContainsAny(line[:1], " \t-")):
			last := &chunks[len(chunks)-1]
			last.lines = append(last.lines, line)
		case line != "" && line[0] != '#':
			stray = append(stray, n)
		}
	}
	return chunks, stray
}

// raw reads a chunk that is no YAML.
func (c chunk) raw() setting {
	s := setting{key: c.key, node: node{kind: scalar, line: c.line}}
	rest := c.rest
	var below []lineOf
	for i, line := range c.lines[1:] {
		if t := strings.TrimSpace(line); t != "" && t[0] != '#' {
			below = append(below, lineOf{c.line + 1 + i, line})
		}
	}
	if k := fold(c.key); k != "description" && k != "name" {
		rest = uncomment(rest)
	}
	if rest == "" && len(below) > 0 {
		if items, ok := rawList(below); ok {
			s.kind, s.items = list, items
			return s
		}
		if fields, ok := rawMap(below); ok {
			s.kind, s.fields = mapping, fields
			return s
		}
		s.kind = unreadable
		return s
	}
	for _, l := range below {
		rest += " " + strings.TrimSpace(l.text)
	}
	if strings.HasPrefix(rest, "{") {
		s.kind = unreadable
		return s
	}
	s.text = unquote(strings.TrimSpace(rest))
	return s
}

type lineOf struct {
	n    int
	text string
}

// rawList reads "- item" lines.
func rawList(lines []lineOf) ([]node, bool) {
	var out []node
	for _, l := range lines {
		m := itemLine.FindStringSubmatch(l.text)
		if m == nil {
			return nil, false
		}
		out = append(out, node{kind: scalar, line: l.n, text: unquote(uncomment(m[1]))})
	}
	return out, true
}

// rawMap reads indented "key: value" lines, where a key without a value has
// those that are indented deeper.
func rawMap(lines []lineOf) ([]setting, bool) {
	var out []setting
	for i := 0; i < len(lines); {
		if indent(lines[i].text) != indent(lines[0].text) {
			return nil, false
		}
		end := i + 1
		for end < len(lines) && indent(lines[end].text) > indent(lines[i].text) {
			end++
		}
		s, ok := rawPair(lines[i], lines[i+1:end])
		if !ok {
			return nil, false
		}
		out = append(out, s)
		i = end
	}
	return out, true
}

func rawPair(l lineOf, below []lineOf) (setting, bool) {
	text := uncomment(strings.TrimSpace(l.text))
	s := setting{node: node{kind: scalar, line: l.n}}
	if key, ok := strings.CutSuffix(text, ":"); ok {
		s.key = unquote(key)
		if len(below) == 0 {
			return s, true
		}
		s.kind = mapping
		s.fields, ok = rawMap(below)
		return s, ok
	}
	i := strings.LastIndex(text, ": ") // patterns may hold one, what is said of them does not
	if i < 0 || len(below) > 0 {
		return s, false
	}
	s.key, s.text = unquote(strings.TrimSpace(text[:i])), unquote(strings.TrimSpace(text[i+2:]))
	return s, true
}

func indent(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// uncomment takes a comment off the end of a line.
func uncomment(s string) string {
	var quote rune
	blank := false
	for i, r := range s {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '#' && blank:
			return strings.TrimSpace(s[:i])
		}
		blank = r == ' ' || r == '\t'
	}
	return strings.TrimSpace(s)
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
