package agents

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// split cuts a file into its settings and its prompt. A byte order mark and
// carriage returns make no difference.
func split(text string) (head, body string, ok bool) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, " \t") != "---" {
		return "", "", false
	}
	var lines []string
	for line := range strings.SplitSeq(rest, "\n") {
		if strings.TrimRight(line, " \t") == "---" {
			head = strings.Join(lines, "\n")
			// Behind the settings and the closing line, a line's end each.
			at := 0
			for range len(lines) + 1 {
				i := strings.IndexByte(rest[at:], '\n')
				if i < 0 {
					return head, "", true
				}
				at += i + 1
			}
			return head, rest[at:], true
		}
		lines = append(lines, line)
	}
	return "", "", false
}

// A setting is one key of an agent file.
type setting struct {
	key    string
	values []string // one for a scalar
	list   bool
}

func (s setting) text() string { return strings.Join(s.values, " ") }

// words returns the elements of a list, or of a scalar that lists with commas
// or blanks.
func (s setting) words() []string {
	if s.list {
		return s.values
	}
	return strings.FieldsFunc(strings.Trim(s.text(), "[]"), func(r rune) bool { return strings.ContainsRune(", \t\n\"'", r) })
}

// settings reads the settings as YAML. Files in use are not always YAML: an
// unquoted "*" or a colon in a description is none. Those are read line by line.
func settings(head string) []setting {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(head), &doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return byLine(head)
	}
	var out []setting
	m := doc.Content[0]
	for i := 0; i+1 < len(m.Content); i += 2 {
		s := setting{key: m.Content[i].Value}
		switch v := m.Content[i+1]; v.Kind {
		case yaml.SequenceNode:
			s.list = true
			for _, e := range v.Content {
				s.values = append(s.values, e.Value)
			}
		case yaml.ScalarNode:
			if v.Tag != "!!null" {
				s.values = []string{v.Value}
			}
		default: // a map or an alias is no setting that is read here
		}
		out = append(out, s)
	}
	return out
}

var (
	keyLine  = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)\s*:\s*(.*)$`)
	itemLine = regexp.MustCompile(`^\s*-\s+(.+)$`)
)

// byLine reads "key: value" lines, and "- item" lines below a key without value.
func byLine(head string) []setting {
	var out []setting
	for line := range strings.SplitSeq(head, "\n") {
		if m := keyLine.FindStringSubmatch(line); m != nil {
			s := setting{key: m[1]}
			if v := unquote(strings.TrimSpace(m[2])); v != "" {
				s.values = []string{v}
			}
			out = append(out, s)
			continue
		}
		if m := itemLine.FindStringSubmatch(line); m != nil && len(out) > 0 {
			last := &out[len(out)-1]
			if len(last.values) == 0 || last.list {
				last.list = true
				last.values = append(last.values, unquote(strings.TrimSpace(m[1])))
			}
		}
	}
	return out
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
