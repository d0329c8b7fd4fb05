package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/ycbot/ycbot/internal/pattern"
)

// mergeGoMod puts the base's toolchain, tool and ignore lines into the head's go.mod.
func mergeGoMod(base, head []byte) ([]byte, error) {
	into, err := modfile.Parse("go.mod", head, nil)
	if err != nil {
		return nil, err
	}
	from := &modfile.File{Syntax: &modfile.FileSyntax{}}
	if base != nil {
		if from, err = modfile.Parse("go.mod", base, nil); err != nil {
			return head, nil //nolint:nilerr // what the go command refuses steers nothing
		}
	}
	before := string(modfile.Format(into.Syntax))
	for _, t := range slices.Clone(into.Tool) {
		err = joinErrors(err, into.DropTool(t.Path))
	}
	for _, i := range slices.Clone(into.Ignore) {
		err = joinErrors(err, into.DropIgnore(i.Path))
	}
	into.DropToolchainStmt()
	for _, t := range from.Tool {
		err = joinErrors(err, into.AddTool(t.Path))
	}
	for _, i := range from.Ignore {
		err = joinErrors(err, into.AddIgnore(i.Path))
	}
	if from.Toolchain != nil {
		err = joinErrors(err, into.AddToolchainStmt(from.Toolchain.Name))
	}
	into.Cleanup()
	if after := modfile.Format(into.Syntax); err != nil || string(after) != before {
		return after, err
	}
	return head, nil
}

func joinErrors(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// mergeJSON puts the base's values of some keys at the top of an object into the
// head's, whose order is kept.
func mergeJSON(keys ...string) func(base, head []byte) ([]byte, error) {
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

// mergeSections puts the base's sections and keys whose names begin with one of
// these, as "section" or "section.key", into the head's TOML or INI file.
func mergeSections(names ...string) func(base, head []byte) ([]byte, error) {
	mine := func(name string) bool {
		name = strings.NewReplacer(`"`, "", `'`, "").Replace(name)
		return slices.ContainsFunc(names, func(n string) bool {
			return name == n || strings.HasPrefix(name, n+".") || strings.HasPrefix(name, n+":") || strings.HasPrefix(n, "tool.pytest") && strings.HasPrefix(name, n+"-")
		})
	}
	return func(base, head []byte) ([]byte, error) {
		rest, theirs := sections(string(head), mine)
		_, ours := sections(string(base), mine)
		if trimmed(ours) == trimmed(theirs) {
			return head, nil
		}
		return []byte(strings.TrimRight(rest, "\n") + "\n" + ours), nil
	}
}

func trimmed(s string) string { return strings.Join(strings.Fields(s), " ") }

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

// surefire is a plugin of a pom that runs tests, and properties is what steers it.
var (
	pomPlugin  = pattern.New(`(?s)<plugin>.*?</plugin>\s*`)
	pomTests   = pattern.New(`maven-(?:surefire|failsafe)-plugin`)
	pomSetting = pattern.New(`(?s)<(skipTests|skipITs|maven\.test\.skip|maven\.test\.failure\.ignore|surefire\.[\w.]+|test)>[^<]*</[\w.]+>\s*`)
)

// mergePom puts the base's test plugins and their properties into the head's pom.
func mergePom(base, head []byte) ([]byte, error) {
	plugins := func(pom []byte) []string {
		return slices.DeleteFunc(pomPlugin.FindAllString(string(pom), -1), func(p string) bool { return !pomTests.MatchString(p) })
	}
	settings := func(pom []byte) []string { return pomSetting.FindAllString(string(pom), -1) }
	out := string(head)
	for _, part := range []struct {
		of     func([]byte) []string
		parent string
	}{{plugins, "</plugins>"}, {settings, "</properties>"}} {
		ours, theirs := part.of(base), part.of(head)
		if trimmed(strings.Join(ours, "")) == trimmed(strings.Join(theirs, "")) {
			continue
		}
		for i, p := range theirs {
			with := ""
			if i < len(ours) {
				with = ours[i]
			}
			out = strings.Replace(out, p, with, 1)
		}
		if len(ours) <= len(theirs) {
			continue
		}
		at := strings.LastIndex(out, part.parent)
		if at < 0 {
			return nil, fmt.Errorf("the head's pom.xml has no %s for what the base sets for tests", part.parent)
		}
		out = out[:at] + strings.Join(ours[len(theirs):], "") + out[at:]
	}
	return []byte(out), nil
}

// mergeCalls puts the base's calls of some functions in place of the head's, at
// the end where the head has other ones.
func mergeCalls(names ...string) func(base, head []byte) ([]byte, error) {
	start := regexp.MustCompile(`(?m)^[ \t]*(?:` + strings.Join(names, "|") + `)\s*\(`)
	calls := func(src string) (all []string, rest string) {
		var left strings.Builder
		for {
			m := start.FindStringIndex(src)
			if m == nil {
				return all, left.String() + src
			}
			end := closing(src, m[1])
			all = append(all, strings.TrimSpace(src[m[0]:end]))
			left.WriteString(src[:m[0]])
			src = src[end:]
		}
	}
	return func(base, head []byte) ([]byte, error) {
		ours, _ := calls(string(base))
		theirs, rest := calls(string(head))
		if trimmed(strings.Join(ours, "\n")) == trimmed(strings.Join(theirs, "\n")) {
			return head, nil
		}
		return []byte(strings.TrimRight(rest, "\n") + "\n" + strings.Join(ours, "\n") + "\n"), nil
	}
}

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

// rustTests is the head of a module of tests inside a source file.
var rustTests = pattern.New(`(?m)^[ \t]*#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{`)

// mergeRustTests puts the base's modules of tests into the head's source, one for
// one, those that the head does not have at the end.
func mergeRustTests(base, head []byte) ([]byte, error) {
	ours, _ := rustModules(string(base))
	theirs, rest := rustModules(string(head))
	if slices.Equal(ours, theirs) || head == nil {
		return head, nil
	}
	out := rest[0]
	for i := range theirs {
		if i < len(ours) {
			out += ours[i]
		}
		out += rest[i+1]
	}
	for i := len(theirs); i < len(ours); i++ {
		out = strings.TrimRight(out, "\n") + "\n\n" + ours[i] + "\n"
	}
	return []byte(out), nil
}

// rustModules splits a source at its modules of tests.
func rustModules(src string) (modules, between []string) {
	for {
		m := rustTests.FindStringSubmatchIndex(src)
		if m == nil {
			return modules, append(between, src)
		}
		end := rustEnd(src, m[1])
		modules, between = append(modules, src[m[0]:end]), append(between, src[:m[0]])
		src = src[end:]
	}
}

// rustSkipped are literals and comments of Rust, in which braces mean nothing.
var rustSkipped = pattern.New(`^(?s://[^\n]*|/\*.*?\*/|b?"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^'\\])')`)

// rustEnd returns the place behind the brace that closes the one before at.
func rustEnd(src string, at int) int {
	for depth := 1; at < len(src); at++ {
		switch src[at] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return at + 1
			}
		case '/', '"', '\'', 'b':
			if m := rustSkipped.FindStringSubmatch(src[at:]); m != nil {
				at += len(m[0]) - 1
			}
		case 'r':
			at += rustRaw(src[at:])
		}
	}
	return len(src)
}

var rustRawHead = pattern.New(`^r(#*)"`)

// rustRaw returns how far a raw string at the beginning of src reaches beyond its
// first byte; 0 where there is none.
func rustRaw(src string) int {
	m := rustRawHead.FindStringSubmatch(src)
	if m == nil {
		return 0
	}
	if end := strings.Index(src[len(m[0]):], `"`+m[1]); end >= 0 {
		return len(m[0]) + end + len(m[1])
	}
	return len(src) - 1
}
