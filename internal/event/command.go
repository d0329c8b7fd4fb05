package event

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxWords is how many characters of a command's words are kept.
const MaxWords = 2000

// How many hex digits of a commit a command may name.
const (
	MinSHA = 7
	MaxSHA = 40
)

// A Verb is what a command asks for.
type Verb string

// The verbs. The strings are stored: do not change them.
const (
	VerbVerify Verb = "verify"
	VerbStop   Verb = "stop"
	VerbStatus Verb = "status"
	VerbAccept Verb = "accept" // a person accepts given-up expectations; Admit makes it a job of VerbVerify
	VerbHelp   Verb = "help"   // asked for, or the answer to what is no command

	VerbForget Verb = "forget" // no command: the App may not see a repository any more, or a merge group is gone
	VerbReturn Verb = "return" // no command: the App may see more than it did
)

// A Command is what a comment asks for. Only Words holds text of the person's
// own making.
type Command struct {
	Verb   Verb
	Full   bool
	SHA    string // lower case, MinSHA to MaxSHA hex digits; empty: none was named
	Words  string // what to look at, or the reason of an acceptance; valid UTF-8, several lines
	Cut    bool   // there were more than MaxWords
	Reason string // why it is help that was not asked for; safe to show
}

// name is how a command begins.
const name = "/verify"

// ParseCommand reads the command in a comment and reports whether there is one.
// The grammar is closed: a command that it does not have comes back as help with
// a Reason.
//
//	/verify [full] [SHA] [-- words about what to look at]
//	/verify accept SHA [reason]
//	/verify stop | status | help, and whatever else [forms] has
//
// A comment is a command when its very first word is "/verify", in lower case.
// Empty lines and up to three spaces may stand before it; what Markdown shows as
// a quotation or as code (">", a fence, a tab or four spaces) is none, and
// neither is "/verify-all". Words after the command are lower case too and are
// separated by spaces, tabs and line ends of any system. The words after "--" are
// all the rest of the comment. A no-break space or an invisible character right
// after "/verify" is answered with help: the person sees a command there.
func ParseCommand(body string) (Command, bool) {
	rest, ok := strings.CutPrefix(start(body), name)
	if !ok {
		return Command{}, false
	}
	if next, _ := utf8.DecodeRuneInString(rest); rest != "" && !separator(next) {
		if unicode.IsSpace(next) || unicode.Is(unicode.Cf, next) {
			return help("an unusual space or an invisible character follows `/verify`"), true
		}
		return Command{}, false
	}
	return arguments(rest), true
}

// start returns the comment from its first word on, empty where that is code.
func start(body string) string {
	body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	for {
		line, rest, more := strings.Cut(body, "\n")
		if strings.Trim(line, " \t") != "" {
			break
		}
		if !more {
			return ""
		}
		body = rest
	}
	text := strings.TrimLeft(body, " ")
	if len(body)-len(text) > 3 {
		return ""
	}
	return text
}

func separator(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }

// arguments reads what follows "/verify".
func arguments(rest string) Command {
	c := Command{Verb: VerbVerify}
	for first := true; ; first = false {
		var word string
		word, rest = next(rest)
		switch {
		case word == "":
			return c
		case word == "--":
			c.Words, c.Cut = words(rest)
			return c
		case first && isVerb(word):
			return verb(word, rest)
		case word == "full" && !c.Full && c.SHA == "":
			c.Full = true
		case IsSHA(strings.ToLower(word)) && c.SHA == "":
			c.SHA = strings.ToLower(word)
		default:
			return help(misfit(word))
		}
	}
}

// A form is a command with a word of its own after "/verify".
type form struct {
	verb  Verb   // the word
	after string // what may follow it, for people
	does  string // for people, in Markdown
	// read reads what follows the word; nil: nothing may.
	read func(rest string) Command
}

// forms are the commands with a word of their own, in the order of the help.
func forms() []form {
	return []form{
		{VerbAccept, "SHA reason", "the changed or removed expectations that the report of this commit lists are meant: the verdict is concluded again from the recorded run, without running anything; a broken test cannot be accepted", acceptance},
		{VerbStatus, "", "says what runs (GitHub App only)", nil},
		{VerbStop, "", "stops what runs (GitHub App only)", nil},
		{VerbHelp, "", "this text", nil},
	}
}

// Verbs are the words that commands may begin with after "/verify".
func Verbs() []Verb {
	var out []Verb
	for _, f := range forms() {
		out = append(out, f.verb)
	}
	return out
}

func isVerb(word string) bool {
	return slices.Contains(Verbs(), Verb(word))
}

// verb reads what follows a verb's word.
func verb(word, rest string) Command {
	f := forms()[slices.IndexFunc(forms(), func(f form) bool { return string(f.verb) == word })]
	if f.read != nil {
		return f.read(rest)
	}
	if more, _ := next(rest); more != "" {
		return help("`/verify " + word + "` takes nothing more")
	}
	return Command{Verb: f.verb}
}

// acceptance reads what follows "/verify accept": a commit, then a reason in free
// words.
func acceptance(rest string) Command {
	word, reason := next(rest)
	if !IsSHA(strings.ToLower(word)) {
		return help("`/verify accept` is followed by the commit that is accepted, such as `/verify accept 0123456789ab the old limit was wrong`")
	}
	c := Command{Verb: VerbAccept, SHA: strings.ToLower(word)}
	c.Words, c.Cut = words(reason)
	return c
}

// next returns the first word of s and what follows it.
func next(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t\n")
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// IsSHA reports whether s can name a commit in a command.
func IsSHA(s string) bool {
	return len(s) >= MinSHA && len(s) <= MaxSHA && strings.Trim(s, "0123456789abcdef") == ""
}

// misfit says what is wrong with a word. The word is repeated only where it
// is plain, for the answer is posted in ycbot's name.
func misfit(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	switch {
	case word == "\u2014" || word == "\u2013":
		return "words about what to look at follow two hyphens (`--`), not a dash"
	case len(word) > MaxSHA || strings.Trim(word, plain) != "":
		return "it has a word that is not known here; words about what to look at follow `--`"
	}
	return "`" + word + "` is not known here; words about what to look at follow `--`"
}

func help(reason string) Command { return Command{Verb: VerbHelp, Reason: reason} }

// words tidies the words of a person: no control characters but tab and line
// end, no space around them, at most MaxWords characters.
func words(s string) (text string, cut bool) {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	count := 0
	for i := range s {
		if count == MaxWords {
			return strings.TrimSpace(s[:i]), true
		}
		count++
	}
	return s, false
}

// Help is the text that explains the commands, in Markdown.
func Help() string {
	var b strings.Builder
	b.WriteString("A new comment that begins with `/verify`, by someone who may start a run, is a command:\n\n" +
		"| Comment | What happens |\n" +
		"| --- | --- |\n" +
		"| `/verify` | the head of this pull request is verified |\n" +
		"| `/verify full` | the same, taking nothing over from earlier runs |\n" +
		"| `/verify SHA` | the same, if the head is this commit (7 or more hex digits; 12 or more, and required, where the pull request comes from a fork or its author has no write permission) |\n" +
		"| `/verify -- words` | the same, with words about what to look at; may follow `full` and a commit |\n")
	for _, f := range forms() {
		b.WriteString("| `" + strings.TrimSpace("/verify "+string(f.verb)+" "+f.after) + "` | " + f.does + " |\n")
	}
	b.WriteString("\nEdited comments are not read: write a new one.\n")
	return b.String()
}
