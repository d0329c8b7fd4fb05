package reproduce

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/shelltext"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// Grounds are what the committed files of both sides say of a failing check. They are
// found when its command is run again, and recorded: a finished run is judged by the
// same. The names of the fields are stored: do not change them.
type Grounds struct {
	HeadOnly []string `json:"head_only,omitempty"` // flags, commands, routes and files of the check that the head has and the base has not
	Words    []string `json:"words,omitempty"`     // symbols and strings of the check's code, likewise: they mean something where the base fails
	Probe    bool     `json:"probe,omitempty"`     // the command runs code of the check's own, which calls the project's
	Files    []string `json:"files,omitempty"`     // files of the head that its output names
	Quote    string   `json:"quote,omitempty"`     // a sentence of the head's documentation, help or comments that the check quotes
	QuoteAt  string   `json:"quote_at,omitempty"`  // and its file
	LeftOut  []string `json:"left_out,omitempty"`  // what the agent built of the head and the command names: the base had it not
}

// Objects are the committed files of a change.
type Objects interface {
	Files(ctx context.Context, commit string) ([]objects.Entry, error)
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	Occurrences(ctx context.Context, commit string, texts ...string) (map[string][]string, error)
}

// A Subject is a failing check, as far as grounds for it are looked for.
type Subject struct {
	Claim   report.AgentCheck
	Command string   // as it was run again on the head
	Output  string   // what that wrote
	OnBase  string   // what the same command wrote on the base
	Probes  []string // texts of the check's own files that travelled along
	LeftOut []string // what did not, and was not built on the base
}

// Ground finds what the committed files say of a check.
func Ground(ctx context.Context, o Objects, c change.Change, s Subject) (Grounds, error) {
	g := Grounds{
		Probe:   len(s.Probes) > 0 || inlineCode.MatchString(s.Command),
		LeftOut: namedIn(s.Command+"\n"+strings.Join(s.Probes, "\n"), s.LeftOut),
	}
	files, err := o.Files(ctx, c.HeadSHA)
	if err != nil {
		return g, err
	}
	onBase, err := o.Files(ctx, c.BaseSHA)
	if err != nil {
		return g, err
	}
	tracked := paths(files)
	for _, name := range namedFiles.FindAllString(s.Output, 500) {
		if f := cmp.Or(trackedAs(tracked, name), onlyFile(tracked, name)); f != "" && !slices.Contains(g.Files, f) {
			g.Files = append(g.Files, f)
		}
	}
	slices.Sort(g.Files)
	names := candidates(s, tracked)
	names = append(names, newFiles(s, tracked, paths(onBase))...)
	only, err := headOnly(ctx, o, c, names)
	if err != nil {
		return g, err
	}
	for _, n := range only {
		if n.word {
			g.Words = append(g.Words, n.text)
		} else {
			g.HeadOnly = append(g.HeadOnly, n.text)
		}
	}
	g.Quote, g.QuoteAt, err = quoted(ctx, o, c, files, s.Claim)
	return g, err
}

// A name is something that a check is about, with the spellings in which a tree may
// have it. One without spellings is known to be the head's alone.
type name struct {
	text      string
	spellings []string
	code      bool // prose that has it does not count
	word      bool // it stands in a program, whose own names may be the same by chance
}

// mostNames bounds how many names of a check are looked for.
const mostNames = 60

// candidates are the names in a check's command and code.
func candidates(s Subject, tracked []string) []name {
	var out []name
	add := func(n name) {
		i := slices.IndexFunc(out, func(o name) bool { return o.text == n.text })
		switch {
		case i >= 0:
			out[i].word = out[i].word && n.word
		case len(n.text) > 2 && len(out) < mostNames:
			out = append(out, n)
		}
	}
	texts := append([]string{s.Command}, s.Probes...)
	for _, text := range texts {
		commands := simpleCommands(text)
		for _, args := range commands {
			for _, w := range ownArguments(args, tracked) {
				switch {
				case flagWord.MatchString(w):
					flag := strings.TrimLeft(flagWord.FindStringSubmatch(w)[1], "-")
					add(name{text: "--" + flag, spellings: []string{"--" + flag, "'" + flag + "'", `"` + flag + `"`}})
				case bareWord.MatchString(w):
					add(name{text: w, spellings: []string{`"` + w + `"`, "'" + w + "'", w + ")", w + "|"}, code: true})
				}
			}
		}
		if len(commands) > 0 && !inlineCode.MatchString(text) {
			continue
		}
		for _, m := range longFlag.FindAllStringSubmatch(text, mostNames) {
			add(name{text: m[1], spellings: []string{m[1], "'" + m[1][2:] + "'", `"` + m[1][2:] + `"`}, word: true})
		}
	}
	for _, text := range texts {
		for _, m := range urlPath.FindAllStringSubmatch(text, mostNames) {
			for _, seg := range strings.Split(m[1], "/") {
				if seg != "" && !strings.ContainsAny(seg, "$%") {
					add(name{text: "/" + seg, spellings: []string{"/" + seg}, code: true})
				}
			}
		}
	}
	for i, text := range texts {
		if i == 0 && !inlineCode.MatchString(text) {
			continue
		}
		for _, m := range usedName.FindAllStringSubmatch(text, 4*mostNames) {
			word := cmp.Or(m[1], m[2], m[3], m[4])
			add(name{text: word, spellings: []string{word}, code: true, word: true})
		}
	}
	for _, m := range missed.FindAllStringSubmatch(s.OnBase, mostNames) {
		word := strings.TrimLeft(m[1], "-")
		add(name{text: word, spellings: []string{word}, code: true, word: true})
	}
	return out
}

var (
	flagWord   = pattern.New(`^(--?[A-Za-z][A-Za-z0-9_-]+)(?:=.*)?$`)
	longFlag   = pattern.New(`(?:^|[\s"'])(--[A-Za-z][\w-]+)`)
	bareWord   = pattern.New(`^[a-z][a-z0-9_-]+$`)
	urlPath    = pattern.New(`(?:https?://[^/\s"']+|localhost:\d+|127\.0\.0\.1:\d+)(/[^\s"'?#)]*)`)
	usedName   = pattern.New(`\.([A-Za-z_]\w+)|\bimport\s+([A-Za-z_]\w+)|\b([A-Za-z_]\w+)\s*\(|["']([A-Za-z_]\w+)["']`)
	inlineCode = pattern.New(`\b(?:python[0-9.]*|node|ruby|perl|php|deno|bun|lua)\b[^|;&\n]*\s(?:-c|-e|-r|--eval|-p|-)(?:\s|$)|<<-?\s*['"\\]?\w`)
	// missed finds what a program says that it does not have.
	missed     = pattern.New(`(?:undefined: (?:\w+\.)?|has no attribute '|cannot import name '|No module named '|is not defined: |NameError: name '|unknown (?:flag|option|command|subcommand)[: ]+["'` + "`" + `]?|unrecognized (?:arguments|option)[: ]+["'` + "`" + `]?|no such (?:option|command)[: ]+["'` + "`" + `]?|undefined method ['` + "`" + `]|cannot find symbol\s+symbol:\s+\w+ )(-{0,2}[A-Za-z_][\w-]*)`)
	namedFiles = pattern.New(`[\w./@+-]*\w\.\w{1,5}\b`)
)

// ownArguments are the words that a command gives to a program of the project: those of
// other programs, such as -run of go test, mean nothing in its files.
func ownArguments(args, tracked []string) []string {
	for i, w := range args {
		switch {
		case trackedAs(tracked, w) != "", strings.HasPrefix(w, "./") && w != "./...":
			return args[i+1:]
		case i > 0 && w == "." && args[i-1] == "run", i > 0 && w == "--" && slices.Contains(args[:i], "run"), i > 1 && args[i-1] == "-m" && strings.HasPrefix(args[0], "python"):
			return args[i+1:]
		}
	}
	if len(args) == 0 || commonPrograms.MatchString(path.Base(args[0])) {
		return nil
	}
	return args[1:]
}

// commonPrograms are those that are not the project's.
var commonPrograms = pattern.New(`^(?:\$.*|sh|bash|dash|zsh|env|test|\[|timeout|time|xargs|find|ls|rm|cp|mv|sed|awk|sort|uniq|wc|tr|cut|tee|diff|cmp|seq|jq|curl|wget|nc|git|make|cmake|ctest|go|gofmt|cargo|rustc|npm|npx|pnpm|yarn|bun|deno|node|tsc|jest|mocha|vitest|eslint|python[0-9.]*|pip[0-9.]*|pytest|tox|uv|poetry|ruby|rake|bundle|rspec|php|composer|java|javac|mvn|mvnw|gradle|gradlew|dotnet|docker|gcc|g\+\+|clang|ps|kill|trap|wait|set|exit|true|false|command|type|which|touch|chmod|ln|date|pwd|stat|dd|od|xxd|base64|sha256sum|md5sum|openssl|sqlite3|psql|redis-cli|chromium|nohup|nice|setsid|stdbuf|yes|read|source|\.|eval|exec)$`)

// simpleCommands are the words of the commands of a script, as far as they are literal.
func simpleCommands(script string) [][]string {
	file, err := shelltext.Parse(script)
	if err != nil {
		return nil // it is a program in another language
	}
	var out [][]string
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			var words []string
			for _, w := range c.Args {
				words = append(words, literal(w))
			}
			if !slices.Contains([]string{"echo", "printf", "cd", "sleep", "kill", "grep", "export", "mkdir", "head", "tail", "cat"}, words[0]) {
				out = append(out, words)
			}
		}
		return true
	})
	return out
}

func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, p := range w.Parts {
		switch x := p.(type) {
		case *syntax.Lit:
			b.WriteString(x.Value)
		case *syntax.SglQuoted:
			b.WriteString(x.Value)
		case *syntax.DblQuoted:
			if len(x.Parts) == 1 {
				if l, ok := x.Parts[0].(*syntax.Lit); ok {
					b.WriteString(l.Value)
				}
			}
		}
	}
	return b.String()
}

// newFiles are the files that only the head has and that a check names.
func newFiles(s Subject, head, base []string) []name {
	var out []name
	text := s.Command + "\n" + strings.Join(s.Probes, "\n")
	for _, word := range namedFiles.FindAllString(text, 500) {
		if f := trackedAs(head, word); f != "" && trackedAs(base, word) == "" && trackedAs(base, f) == "" {
			out = append(out, name{text: f})
		}
	}
	return out
}

// trackedAs is the file of a tree that a program means by a path; "" for none. Of an
// absolute path the end decides, since trees lie elsewhere each time.
func trackedAs(tree []string, name string) string {
	name = path.Clean(strings.TrimPrefix(name, "file://"))
	if _, ok := slices.BinarySearch(tree, name); ok {
		return name
	}
	if at := copyOf.FindStringSubmatch(name); at != nil {
		if _, ok := slices.BinarySearch(tree, at[1]); ok {
			return at[1]
		}
		return ""
	}
	return ""
}

// onlyFile is the one file of a tree whose path ends with a relative one, as programs
// print it that work in a folder; "" where there are others.
func onlyFile(tree []string, name string) string {
	if path.IsAbs(name) {
		return ""
	}
	found := ""
	for _, f := range tree {
		if strings.HasSuffix(f, "/"+path.Clean(name)) {
			if found != "" {
				return ""
			}
			found = f
		}
	}
	return found
}

// copyOf finds a path within the tree of a copy.
var copyOf = pattern.New(`/again/E\d+-(?:head|base)/(.+)$`)

func paths(entries []objects.Entry) []string {
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Path)
	}
	slices.Sort(out)
	return out
}

// headOnly are the names that the head has and the base has not.
func headOnly(ctx context.Context, o Objects, c change.Change, names []name) ([]name, error) {
	var spellings []string
	for _, n := range names {
		for _, s := range n.spellings {
			if !slices.Contains(spellings, s) {
				spellings = append(spellings, s)
			}
		}
	}
	var sides [2]map[string][]string
	for i, commit := range []string{c.HeadSHA, c.BaseSHA} {
		found, err := o.Occurrences(ctx, commit, spellings...)
		if errors.Is(err, git.ErrTooLarge) {
			spellings = nil // too common to mean anything
			continue
		}
		if err != nil {
			return nil, err
		}
		sides[i] = found
	}
	var out []name
	for _, n := range names {
		has := func(found map[string][]string) bool {
			return slices.ContainsFunc(n.spellings, func(s string) bool {
				return slices.ContainsFunc(found[s], func(f string) bool { return !n.code || !prose(f) })
			})
		}
		if n.spellings == nil || has(sides[0]) && !has(sides[1]) && sides[1] != nil {
			out = append(out, n)
		}
	}
	sorted.By(out, func(a, b name) int { return strings.Compare(a.text, b.text) })
	return slices.CompactFunc(out, func(a, b name) bool { return a.text == b.text }), nil
}

// prose says whether a file is documentation.
func prose(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".rst", ".txt", ".adoc", ".markdown", ".html", ".1":
		return true
	}
	base := strings.ToUpper(path.Base(name))
	return strings.HasPrefix(base, "README") || strings.HasPrefix(base, "CHANGELOG")
}

// Subject is what is asked of the trees about a check whose command was run again on
// both sides. o is the command of the agent.
func (s *Sides) Subject(j Judge, o Original, claim report.AgentCheck, head, base evidence.Record) Subject {
	return Subject{
		Claim: claim, Command: CommandOf(head), Output: wrote(j.Dir, head), OnBase: wrote(j.Dir, base),
		Probes: probeTexts(o.Workspace, s.Head.Dir, CommandOf(o.Record)),
	}
}
