package classes

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Lines are those of a source by what they are to one of its tests, without spaces around them.
type Lines struct {
	Edges []string // of the calls that it and the groups around it are: up to their functions, and behind these; without titles
	Inner []string // of its function
	Apart []string // those that are in no other test
}

// A call is one of a source that declares a test or a group of tests; or a method or class that does.
type call struct {
	from, to     int          // its lines
	edges        map[int]bool // those that are not in its function
	head         string       // these, as far as they stand behind what is above it
	group, apart bool         // a group; settings of what stands beside it
	open         bool         // it ends nowhere, as indents have it
}

// A grammar is how calls look in sources of a language.
type grammar struct {
	declares, settings, body *pattern.Pattern // begins a call; begins settings; opens the function of a call
}

// never is in no line.
var never = pattern.New(`^\b$`)

var (
	grammars = map[string]grammar{
		".php": {
			pattern.New(`^(?:(?:final|abstract|readonly|public|protected|private|static)\s+)*(?:class|function)\s+\w+|^(?:it|test|describe)\s*\(`),
			never, pattern.New(`\{\s*$`),
		},
		".rb": {
			pattern.New(`^(?:RSpec\.)?[fx]?(?:it|specify|example|describe|context|feature|scenario|test|should)(?:\s*\(|\s+["':A-Z]|\s+do\b|\s*\{|$)|^(?:def|class|module)\s`),
			never, pattern.New(`^(?:def|class|module)\b|\bdo\b(?:\s*\|[^|]*\|)?\s*$|[^,\s]\s*\{\s*(?:\|[^|]*\|)?\s*$`),
		},
		".rs": {pattern.New(`^(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|const|unsafe)\s+)*(?:fn|mod)\s+\w+`), never, pattern.New(`\{\s*$`)},
		".ex": {pattern.New(`^(?:test|describe|property)\s+"|^(?:defmodule|defp?)\s`), never, pattern.New(`\bdo\s*$`)},
	}
	javascript = grammar{
		pattern.New(`^(?:(?:await|return|export|default|void)\s+)*(?:[\w$]+\.)*[fx]?(?:it|test|specify|example|describe|suite|context|feature|scenario|property|bench)(?:\.\w+)*(?:<[^>]*>)?` +
			"(?:\\s*\\(\\s*(?:[\"'`]|$|[\\w$.]+\\s*[,+])|(?:\\.(?:each|for|cases)|\\.(?:skip|run)If)\\s*[(`<])"),
		pattern.New(`\bdescribe\.configure\(|\bvi(?:test)?\.setConfig\(`), pattern.New(`=>|\bfunction\b`),
	}
	groupWord = pattern.New(`^[\w\s.$]*\b[fx]?(?:describe|suite|context|feature|class|module|defmodule|mod)\b`)
	goesOn    = pattern.New("^(?:[)\\]}{.`]|->|end\\b)") // a call in a line as deep as its first one
	unclosed  = pattern.New(`(?:[({\[,]|=>|\bdo(?:\s*\|[^|]*\|)?|\{\s*\|[^|]*\|)\s*$`)
	anyCall   = pattern.New("^(?:(?:await|return)\\s+)?[\\w$.]+[!?]?(?:\\s*\\(\\s*|\\s+)[\"'`]")
	defines   = pattern.New(`\b(?:def|function|fn)\s+(\w+[?!]?)`)
	attribute = pattern.New(`^(?:@|#|//|/?\*)`) // or a comment among them
	comment   = pattern.New(`^(?:#(?:[^\[]|$)|//|/?\*[^@]*$)`)
	tagsAll   = pattern.New(`@(?:module|describe)tag\b`) // of a module, or of a group
)

// LinesOf are the lines of a source by what they are to a test: false where the call of the test is not found.
func LinesOf(name, src, test string) (Lines, bool) {
	ext := path.Ext(name)
	if ext == ".exs" {
		ext = ".ex"
	}
	g, ok := grammars[ext]
	if !ok {
		g = javascript
	}
	lines := strings.Split(src, "\n")
	all := g.calls(lines)
	own := slices.DeleteFunc(slices.Clone(all), func(c call) bool { return c.group || !c.declares(ext, test) })
	if len(own) == 0 {
		own = g.wrapped(lines, ext, test)
		all = append(all, own...)
	}
	if len(own) == 0 || slices.ContainsFunc(all, func(c call) bool { return c.open && (c.group || c.declares(ext, test)) }) {
		return Lines{}, false
	}
	ofLine := make([][]call, len(lines))
	for _, c := range all {
		for i := c.from; i < c.to; i++ {
			ofLine[i] = append(ofLine[i], c)
		}
	}
	var out Lines
	for i, line := range lines {
		in := ofLine[i]
		mine := slices.ContainsFunc(in, func(c call) bool { return holds(own, c) })
		switch text := strings.TrimSpace(line); {
		case text == "", comment.MatchString(text):
		case mine && slices.ContainsFunc(in, func(c call) bool { return holds(own, c) && !c.edges[i] }):
			out.Inner = append(out.Inner, text)
		case !mine && slices.ContainsFunc(in, func(c call) bool { return !c.apart && !c.around(own) }): // another test's
		case slices.ContainsFunc(in, func(c call) bool { return c.edges[i] }):
			out.Edges = append(out.Edges, untitled(text, in))
		default:
			out.Apart = append(out.Apart, text)
		}
	}
	return out, true
}

// calls are those of a source.
func (g grammar) calls(lines []string) []call {
	var out []call
	for i, line := range lines {
		text := strings.TrimSpace(line)
		settings := g.settings.MatchString(text)
		if settings || g.declares.MatchString(text) {
			c := g.callAt(lines, i)
			c.apart = settings
			c.group = c.group && !settings
			out = append(out, c)
		}
	}
	return out
}

// wrapped are calls of other functions for a test, by its title.
func (g grammar) wrapped(lines []string, ext, test string) []call {
	var out []call
	for i, line := range lines {
		text, before := strings.TrimSpace(line), ""
		if i > 0 {
			before = strings.TrimSpace(lines[i-1])
		}
		switch {
		case text == "" || !titled(firstLiteral(text), ext, test):
		case anyCall.MatchString(text):
			out = append(out, g.callAt(lines, i))
		case strings.HasSuffix(before, "("):
			out = append(out, g.callAt(lines, i-1))
		}
	}
	return out
}

// callAt is the call that a line opens: it, what is indented deeper behind it, what closes that, and
// attributes above.
func (g grammar) callAt(lines []string, at int) call {
	c := call{from: at, edges: map[int]bool{}, group: groupWord.MatchString(strings.TrimSpace(lines[at]))}
	depth, inside, last := depthOf(lines[at]), -1, ""
	for i := at; i < len(lines); i++ {
		text, deep := strings.TrimSpace(lines[i]), depthOf(lines[i])
		if text == "" {
			continue
		}
		if i > at && (deep < depth || deep == depth && !goesOn.MatchString(text)) {
			break
		}
		c.to, last = i+1, text
		if inside >= 0 && deep > inside {
			continue
		}
		inside, c.edges[i] = -1, true
		c.head += text + "\n"
		if g.body.MatchString(text) && (g != javascript || unclosed.MatchString(text) || strings.Count(text, "(") != strings.Count(text, ")")) {
			inside = deep
		}
	}
	c.open = inside >= 0 || unclosed.MatchString(last)
	c.takeAttributes(lines, depth)
	return c
}

// takeAttributes adds what stands right above a call, as deep, of which comments are no part of it.
func (c *call) takeAttributes(lines []string, depth int) {
	inside := false // of an attribute over several lines
	for at, edges := c.from-1, []int(nil); at >= 0; at-- {
		text, deep := strings.TrimSpace(lines[at]), depthOf(lines[at])
		switch {
		case attribute.MatchString(text) && !tagsAll.MatchString(text):
			inside = false
		case text != "" && (deep == depth && strings.ContainsAny(text[:1], ")]") || deep > depth && inside):
			inside = true
		default:
			return
		}
		if edges = append(edges, at); inside {
			continue
		}
		for _, i := range edges {
			c.edges[i] = !comment.MatchString(strings.TrimSpace(lines[i]))
		}
		c.from, edges = at, nil
	}
}

// declares says whether a call is that of a test, by the title or the method in it.
func (c call) declares(ext, test string) bool {
	if m := defines.FindStringSubmatch(c.head); m != nil {
		return titled(m[1], ext, test)
	}
	return titled(firstLiteral(c.head), ext, test)
}

// around says whether a call has one of others in it.
func (c call) around(others []call) bool {
	return slices.ContainsFunc(others, func(o call) bool { return c.from <= o.from && o.to <= c.to })
}

func holds(calls []call, c call) bool {
	return slices.ContainsFunc(calls, func(o call) bool { return o.from == c.from && o.to == c.to })
}

// titled says whether a test is called by a title, or by a method.
func titled(title, ext, test string) bool {
	if title == "" {
		return false
	}
	_, name, ok := withoutNamespace(ext, test)
	name, _, _ = strings.Cut(name, " with data set ")
	names := []string{results.LastName(test), name}
	for _, w := range addedWords[ext] {
		if rest, ok := strings.CutPrefix(name, w); ok {
			names = append(names, rest)
		}
	}
	if ext == ".rs" { // modules stand before it, and cases behind
		names = append(names, strings.Split(test, "::")...)
	}
	return slices.ContainsFunc(names, func(n string) bool { return calledSo(title, n) || ok && strings.HasSuffix(n, " "+title) })
}

// firstLiteral is the first string of a source.
func firstLiteral(src string) string {
	if _, literals := withoutStrings(src, false); len(literals) > 0 {
		return literals[0].text
	}
	return ""
}

// untitled is a line without the titles of calls, which can speak of anything.
func untitled(line string, of []call) string {
	for _, c := range of {
		title := firstLiteral(c.head)
		for _, q := range []string{"'", `"`, "`"} {
			before, rest, ok := strings.Cut(line, q+title+q)
			if next := strings.TrimSpace(rest); ok && title != "" && !strings.HasPrefix(next, ":") && !strings.HasPrefix(next, "=>") {
				line = before + q + q + rest
			}
		}
	}
	return line
}
