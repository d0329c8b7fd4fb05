package ecosystem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// MergeJSON puts the base's values of some keys at the top of an object into the
// head's, whose order is kept.
func MergeJSON(keys ...string) func(base, head []byte) ([]byte, error) {
	return func(base, head []byte) ([]byte, error) {
		order, values, err := jsonObject(head)
		if err != nil {
			return nil, err
		}
		var was map[string]json.RawMessage
		var wasOrder []string
		if base != nil {
			if wasOrder, was, err = jsonObject(base); err != nil {
				return head, nil //nolint:nilerr // as of go.mod
			}
		}
		same := true
		for _, k := range keys {
			a, b := was[k], values[k]
			same = same && (a == nil) == (b == nil) && sameJSON(a, b)
		}
		if same {
			return head, nil
		}
		var out []string
		put := func(k string, v json.RawMessage) {
			name, _ := json.Marshal(k) //nolint:errchkjson // a string
			out = append(out, fmt.Sprintf("  %s: %s", name, v))
		}
		for _, k := range order {
			if !slices.Contains(keys, k) {
				put(k, values[k])
			} else if v, ok := was[k]; ok {
				put(k, v)
			}
		}
		for _, k := range wasOrder {
			if _, there := values[k]; !there && slices.Contains(keys, k) {
				put(k, was[k])
			}
		}
		return []byte("{\n" + strings.Join(out, ",\n") + "\n}\n"), nil
	}
}

// MergeAll puts several mixtures of one file after each other.
func MergeAll(all ...func(base, head []byte) ([]byte, error)) func(base, head []byte) ([]byte, error) {
	return func(base, head []byte) (out []byte, err error) {
		out = head
		for _, merge := range all {
			if out, err = merge(base, out); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// MergeShared puts the base's values of what both sides have in an object and is mine, such as
// the names of modules in package.json's imports; what the head adds stays its own.
func MergeShared(key string, mine func(name string) bool) func(base, head []byte) ([]byte, error) {
	return func(base, head []byte) ([]byte, error) {
		order, values, err := jsonObject(head)
		if err != nil {
			return nil, err
		}
		_, was, err := jsonObject(base)
		if base == nil || err != nil {
			return head, nil //nolint:nilerr // as of go.mod
		}
		names, now, err := jsonObject(values[key])
		_, old, oldErr := jsonObject(was[key])
		if err != nil || oldErr != nil {
			return head, nil //nolint:nilerr // one of both has none
		}
		same := true
		var inner []string
		for _, n := range names {
			v := now[n]
			if before, ok := old[n]; ok && mine(n) && !sameJSON(before, v) {
				v, same = before, false
			}
			quoted, _ := json.Marshal(n) //nolint:errchkjson // a string
			inner = append(inner, fmt.Sprintf("%s: %s", quoted, v))
		}
		if same {
			return head, nil
		}
		var out []string
		for _, k := range order {
			v := values[k]
			if k == key {
				v = json.RawMessage("{" + strings.Join(inner, ", ") + "}")
			}
			name, _ := json.Marshal(k) //nolint:errchkjson // a string
			out = append(out, fmt.Sprintf("  %s: %s", name, v))
		}
		return []byte("{\n" + strings.Join(out, ",\n") + "\n}\n"), nil
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

// jsonObject returns the keys of an object, in their order, and their values.
func jsonObject(data []byte) ([]string, map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, fmt.Errorf("no JSON object: %w", err)
	}
	var order []string
	values := map[string]json.RawMessage{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, nil, err
		}
		key, _ := t.(string)
		if _, there := values[key]; !there {
			order = append(order, key)
		}
		values[key] = v
	}
	return order, values, nil
}

var (
	sectionHead = pattern.New(`^\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(?:[#;].*)?$`)
	sectionKey  = pattern.New(`^([\w."'-]+)\s*=`)
)

// MergeSections puts the base's sections and keys whose names begin with one of
// these, as "section" or "section.key", into the head's TOML or INI file.
func MergeSections(names ...string) func(base, head []byte) ([]byte, error) {
	mine := func(name string) bool {
		name = strings.NewReplacer(`"`, "", `'`, "", " ", "", "\t", "").Replace(name)
		return slices.ContainsFunc(names, func(n string) bool {
			return name == n || strings.HasPrefix(name, n+".") || strings.HasPrefix(name, n+":") || strings.HasPrefix(n, "tool.pytest") && strings.HasPrefix(name, n+"-")
		})
	}
	return func(base, head []byte) ([]byte, error) {
		rest, theirs := sections(string(head), mine)
		_, ours := sections(string(base), mine)
		if Trimmed(ours) == Trimmed(theirs) {
			return head, nil
		}
		return []byte(strings.TrimRight(rest, "\n") + "\n" + ours), nil
	}
}

// MergeLines puts the base's lines of one sort in place of the head's, one after the other. What
// the base has more of stands where its last one does; what the head has more of is left out.
func MergeLines(is func(line string) bool) func(base, head []byte) ([]byte, error) {
	return func(base, head []byte) ([]byte, error) {
		var ours, theirs []string
		for line := range strings.Lines(string(base)) {
			if is(line) {
				ours = append(ours, strings.TrimRight(line, "\n"))
			}
		}
		all := strings.Split(string(head), "\n")
		for _, line := range all {
			if is(line) {
				theirs = append(theirs, line)
			}
		}
		if base == nil || Trimmed(strings.Join(ours, "\n")) == Trimmed(strings.Join(theirs, "\n")) {
			return head, nil
		}
		if len(theirs) == 0 {
			return nil, fmt.Errorf("the change has none of the base's %d lines that say how tests are run", len(ours))
		}
		var out []string
		at := 0
		for _, line := range all {
			if !is(line) {
				out = append(out, line)
				continue
			}
			at++
			switch {
			case at == len(theirs) && at <= len(ours):
				out = append(out, ours[at-1:]...)
			case at <= len(ours):
				out = append(out, ours[at-1])
			}
		}
		return []byte(strings.Join(out, "\n")), nil
	}
}

// Trimmed is a text with one space in place of each that it has, and none around it.
func Trimmed(s string) string { return strings.Join(strings.Fields(s), " ") }

// sections splits a file into what is of some sections and keys, and the rest.
// A key that is moved out of its section stands below a head of its own.
func sections(text string, mine func(string) bool) (rest, own string) {
	var left, taken strings.Builder
	section, taking, key := "", false, false
	depth := 0
	for line := range strings.Lines(text) {
		if m := sectionHead.FindStringSubmatch(line); m != nil && depth <= 0 {
			section, key, depth = m[1], false, 0
			taking = mine(section)
		} else if m := sectionKey.FindStringSubmatch(line); m != nil && depth <= 0 && !taking || key && m != nil && depth <= 0 {
			name := m[1]
			if section != "" {
				name = section + "." + name
			}
			taking, key = mine(name), mine(name)
			if taking && section != "" {
				fmt.Fprintf(&taken, "[%s]\n", section)
			}
		}
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			depth += strings.Count(line, "[") - strings.Count(line, "]")
		}
		if taking {
			taken.WriteString(line)
		} else {
			left.WriteString(line)
		}
	}
	return left.String(), taken.String()
}

// MergeCalls puts the base's calls of some functions in place of the head's, at
// the end where the head has other ones. A name may be a pattern that goes on behind the
// parenthesis that opens the call; case does not matter.
func MergeCalls(names ...string) func(base, head []byte) ([]byte, error) {
	var all []string
	for _, n := range names {
		if !strings.Contains(n, `\(`) {
			n += `\s*\(`
		}
		all = append(all, n)
	}
	start := regexp.MustCompile(`(?mi)^[ \t]*(?:` + strings.Join(all, "|") + `)`)
	calls := func(src string) (all []string, rest string) {
		var left strings.Builder
		for {
			m := start.FindStringIndex(src)
			if m == nil {
				return all, left.String() + src
			}
			end := closing(src, m[1])
			if defines.MatchString(src[m[0]:m[1]]) { // with its body
				if to := defined.FindStringSubmatchIndex(src[end:]); to != nil {
					end += to[1]
				}
			}
			all = append(all, strings.TrimSpace(src[m[0]:end]))
			left.WriteString(src[:m[0]])
			src = src[end:]
		}
	}
	return func(base, head []byte) ([]byte, error) {
		ours, _ := calls(string(base))
		theirs, rest := calls(string(head))
		if Trimmed(strings.Join(ours, "\n")) == Trimmed(strings.Join(theirs, "\n")) {
			return head, nil
		}
		return []byte(strings.TrimRight(rest, "\n") + "\n" + strings.Join(ours, "\n") + "\n"), nil
	}
}

// defines begins the definition of a command of CMake, and defined ends one.
var (
	defines = pattern.New(`(?i)^\s*(?:macro|function)\b`)
	defined = pattern.New(`(?i)\bend(?:macro|function)\s*\([^)]*\)`)
)

// closing returns the place behind the parenthesis that closes the one before at.
func closing(src string, at int) int {
	depth, quote := 1, byte(0)
	for ; at < len(src); at++ {
		switch c := src[at]; {
		case quote != 0:
			switch c {
			case '\\':
				at++
			case quote:
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return len(src)
}

// An Example is a text of documentation that has examples, or may have them, of what has a name.
type Example struct {
	Of       string // the name of what is documented
	From, To int    // in the source
	Bare     bool   // it has none, as it stands on the head
	// Open and Close are put around an example that stands there: nothing, where the documentation does.
	Open, Close string
}

// MergeExamples puts the base's examples in place of the head's that are of the same thing, and where what
// they are of is documented without one.
func MergeExamples(find func(string) []Example) func(base, head []byte) ([]byte, error) {
	bare := func(e Example) bool { return e.Bare }
	return func(base, head []byte) ([]byte, error) {
		was := map[string]string{}
		for _, e := range numbered(slices.DeleteFunc(find(string(base)), bare)) {
			was[e.Of] = string(base[e.From:e.To])
		}
		all := find(string(head))
		times := map[string]int{}
		for _, e := range all {
			times[e.Of]++
		}
		places := numbered(slices.DeleteFunc(slices.Clone(all), bare))
		for _, e := range all {
			if e.Bare && times[e.Of] == 1 {
				places = append(places, e)
			}
		}
		slices.SortStableFunc(places, func(a, b Example) int { return a.From - b.From })
		var out strings.Builder
		at := 0
		for _, e := range places {
			if text, ok := was[e.Of]; ok {
				out.WriteString(string(head[at:e.From]) + e.Open + text + e.Close)
				at = e.To
			}
		}
		out.Write(head[at:])
		return []byte(out.String()), nil
	}
}

// numbered gives several of one name names of their own, by their order.
func numbered(all []Example) []Example {
	seen := map[string]int{}
	for i, e := range all {
		seen[e.Of]++
		all[i].Of += strings.Repeat("'", seen[e.Of]-1)
	}
	return all
}
