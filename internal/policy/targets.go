package policy

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"
)

// A Subject is one thing that a call is about, as its tool declares it.
type Subject struct {
	Name  string // of the rules that apply
	Text  string
	Aside bool
}

// Targets are the things that a call is about, in the words of rules, from what its tool
// declares of it.
func Targets(declared []Subject) []Target {
	out := make([]Target, 0, len(declared))
	for _, s := range declared {
		made := []Target{{Name: s.Name, Text: s.Text}}
		switch s.Name {
		case "Bash":
			made = Command(s.Text)
		case "Fetch":
			made = []Target{Address(s.Text)}
		}
		for _, t := range made {
			t.Aside = s.Aside
			out = append(out, t)
		}
	}
	return out
}

// Undeclared are the targets of a call whose tool declares nothing: all that its arguments
// name, in the words of every kind of rule that its class can be about. So a rule that is
// meant for such tools holds for one that was added after it was written. rel makes a path of
// a call one below the root of the project, as [Relative] does.
func Undeclared(tool, class string, args json.RawMessage, rel func(string) string) []Target {
	named := texts(args)
	text := strings.Join(append([]string{tool}, named...), " ")
	paths := func(kinds ...string) (out []Target) {
		for _, p := range append(slices.Clone(named), "") {
			for i, kind := range kinds {
				out = append(out, Target{Name: kind, Text: rel(p), Aside: i > 0})
			}
		}
		return out
	}
	switch class {
	case classSession, classDelegate:
		return nil
	case classRead:
		return append(paths("Read", "List", "Glob", "Grep"), Target{Name: "Github", Text: text, Aside: true})
	case classGitRead:
		return append([]Target{{Name: "Git", Text: text}}, asides(paths("Read"))...)
	case classNet:
		out := []Target{{Name: "Fetch", Text: text, Aside: true}}
		for _, n := range named {
			if u, err := url.Parse(n); err == nil && u.Host != "" {
				out = append(out, Address(n))
			}
		}
		return out
	case classExec:
		out := []Target{{Name: "Bash", Text: text, trap: "what the tool " + tool + " runs is not known", Aside: true}}
		for _, n := range named {
			out = append(out, Command(n)...)
		}
		return out
	}
	var out []Target
	for _, kind := range slices.Concat(pathNames, textNames) {
		out = append(out, Target{Name: kind, Text: text})
	}
	return out
}

func asides(targets []Target) []Target {
	for i := range targets {
		targets[i].Aside = true
	}
	return targets
}

// texts are all texts in a JSON document, in its order.
func texts(raw json.RawMessage) []string {
	var out []string
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	depth, key := []bool{}, false // of objects: whether a key comes next
	for {
		t, err := dec.Token()
		if err != nil {
			return out
		}
		switch v := t.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				depth = append(depth, v == '{')
				key = v == '{'
				continue
			default:
				depth = depth[:len(depth)-1]
			}
		case string:
			if key {
				key = false
				continue
			}
			out = append(out, v)
		}
		key = len(depth) > 0 && depth[len(depth)-1]
	}
}

// Command makes a target of each command of a script.
func Command(command string) []Target {
	s := Read(command)
	var out []Target
	for _, seg := range s.Segments {
		t := Target{Name: "Bash", Text: seg.Text, base: seg.Base, behind: seg.Behind, trap: seg.Trap}
		switch {
		case t.trap != "":
		case s.Doubt != "":
			t.trap = s.Doubt
		case s.Writes:
			t.trap = "the output goes to a file"
		}
		out = append(out, t)
	}
	return out
}

// Tests are the targets of running a test command of the project: it is a command of the
// harness, which rules about commands can forbid and rules about tests allow.
func Tests(command string) []Target {
	return append([]Target{{Name: "Tests", Text: command}}, asides(Command(command))...)
}

// Relative is a path as rules have it: below the root of the project, clean, and
// "." for the root itself. What is outside stays absolute. roots are absolute paths of
// folders that stand for the root.
func Relative(p string, roots ...string) string {
	if p == "" {
		return "."
	}
	p = path.Clean(p)
	for _, r := range roots {
		if r == "" {
			continue
		}
		if r = path.Clean(r); p == r {
			return "."
		}
		if rest, ok := strings.CutPrefix(p, r+"/"); ok {
			return rest
		}
	}
	return p
}
