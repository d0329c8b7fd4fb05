package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
)

// runners are the options with which a command runs a program that they name, by
// command; without them it runs none.
func runners() map[string][]string {
	tar := []string{"-I", "-F", "--use-compress-program", "--checkpoint-action", "--to-command", "--rsh-command", "--info-script", "--new-volume-script"}
	fd := []string{"-x", "-X", "--exec", "--exec-batch"}
	return map[string][]string{
		"cpio":    {"--rsh-command"},
		"fd":      fd,
		"fdfind":  fd,
		"go":      {"-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool"},
		"install": {"--strip-program"},
		"make":    {"--eval"},
		"man":     {"-P", "-H", "--pager", "--html"},
		"rg":      {"--pre", "--hostname-bin"},
		"rsync":   {"-e", "--rsh", "--rsync-path"},
		"sort":    {"--compress-program"},
		"split":   {"--filter"},
		"tar":     tar,
		"bsdtar":  tar,
		"tcpdump": {"-z"},
		"zip":     {"-TT", "--unzip-command"},
	}
}

// runnerTrap finds an option of [runners], also where it is abbreviated, has its value
// in the same word or stands in a group of short ones.
func runnerTrap(name string, rest []string) string {
	for _, a := range rest {
		if strings.Contains(a, dynamic) && runners()[name] != nil && name != "go" && name != "make" { // what those build is theirs to run
			return "a computed word of " + name + " can be an option that runs a program"
		}
		word, _, _ := strings.Cut(a, "=")
		for _, opt := range runners()[name] {
			long := strings.HasPrefix(opt, "--")
			switch {
			case word == opt,
				long && len(word) > 3 && strings.HasPrefix(opt, word),
				len(opt) == 2 && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, opt[1:]):
				return name + " " + opt + " runs a program of its choice"
			}
		}
	}
	return ""
}

// writerTrap finds the options with which a command that reads writes a file.
func writerTrap(name string, rest []string) string {
	for _, a := range rest {
		long := strings.HasPrefix(a, "--")
		switch name {
		case "git":
			if word, _, _ := strings.Cut(a, "="); len(word) > 4 && strings.HasPrefix("--output", word) {
				return "git --output writes a file"
			}
		case "sort":
			if long && strings.HasPrefix(a, "--o") || !long && strings.HasPrefix(a, "-") && strings.Contains(a, "o") {
				return "sort -o writes a file"
			}
		case "sed":
			if long && strings.HasPrefix(a, "--i") || !long && strings.HasPrefix(a, "-") && strings.Contains(a, "i") {
				return "sed -i writes a file"
			}
		}
	}
	return ""
}

// commandVariables are variables whose value is a command line, or a file of options,
// for programs that otherwise only do what their words say.
var commandVariables = pattern.New(`^(PAGER|GIT_PAGER|MANPAGER|GIT_EXTERNAL_DIFF|GIT_SSH|GIT_SSH_COMMAND|GIT_EDITOR|GIT_SEQUENCE_EDITOR|EDITOR|VISUAL|GIT_ASKPASS|SSH_ASKPASS|GIT_PROXY_COMMAND|GIT_CONFIG.*|GIT_EXEC_PATH|LESSOPEN|LESSCLOSE|BASH_ENV|ENV|PROMPT_COMMAND|PS0|PS4|LD_PRELOAD|LD_AUDIT|TAR_OPTIONS|RIPGREP_CONFIG_PATH|RSYNC_RSH|PERL5OPT|RUBYOPT|RUSTC_WRAPPER)$`)

// variable notes that a script sets a variable: what its commands do no longer follows
// from their words alone.
func (c *checker) variable(name string, value *syntax.Word) {
	if !c.collect {
		return
	}
	if commandVariables.MatchString(name) {
		c.doubt("the variable " + name + " can make other commands run a program")
	}
	if value == nil {
		return
	}
	for _, p := range value.Parts {
		if q, ok := p.(*syntax.SglQuoted); ok && substitutes(q.Value) {
			c.doubt("a variable holds a command that bash may run when it is expanded")
		}
	}
}

// substitutes reports whether a text that bash does not expand here has a command in it
// that it runs where it expands the text later.
func substitutes(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "`")
}

// declared looks at what export, declare and the like set; such a variable reaches all
// commands after it.
func (c *checker) declared(d *syntax.DeclClause, depth int) {
	for _, a := range d.Args {
		text := ""
		if a.Value != nil {
			text = value(a.Value)
			c.evaluates(d.Variant.Value, text, depth)
		}
		if a.Name == nil { // an option, or a quoted word
			c.aliased(text)
			continue
		}
		c.aliased(a.Name.Value + "=" + text)
		c.variable(a.Name.Value, a.Value)
		if d.Variant.Value != "local" {
			c.ambient = d.Variant.Value + " sets variables for the commands after it"
		}
	}
}

// aliased refuses a word that sets a variable that gives git an alias.
func (c *checker) aliased(word string) {
	if c.mutations && aliases(word) {
		name, _, _ := strings.Cut(word, "=")
		c.mutates("git alias", []string{name})
	}
}

// assigns looks at variables that are set before a command, or, where there is none,
// for the rest of the script. The shell's own are in small letters by custom, and
// those that programs read are not.
func (c *checker) assigns(call *syntax.CallExpr) {
	c.assigned = len(call.Assigns) > 0
	for _, a := range call.Assigns {
		if a.Name == nil {
			continue
		}
		if a.Value != nil {
			c.aliased(a.Name.Value + "=" + value(a.Value))
		}
		c.variable(a.Name.Value, a.Value)
		if len(call.Args) == 0 && strings.ToLower(a.Name.Value) != a.Name.Value {
			c.ambient = "the variable " + a.Name.Value + " is set for the commands after it"
		}
	}
}

// evaluators are builtins that evaluate words which are quoted.
func evaluators() []string {
	return []string{"[", "test", "let", "printf", "read", "unset", "mapfile", "readarray", "declare", "typeset", "local", "export", "readonly", "wait", "getopts", "compgen", "complete"}
}

// index finds a command in the index of an array, which bash runs where it evaluates a text.
var index = pattern.New("\\[[^\\]]*(\\$\\(|`)")

// evaluated looks into the quoted words of a builtin that evaluates them.
func (c *checker) evaluated(name string, args []string, depth int) {
	if !slices.Contains(evaluators(), name) {
		return
	}
	for _, a := range args {
		c.evaluates(name, a, depth)
	}
	if name == "compgen" || name == "complete" {
		for _, list := range grouped(args, "W") {
			c.substituted(list, depth)
		}
	}
}

// evaluatesAll looks into all quoted words of a test or of arithmetic.
func (c *checker) evaluatesAll(n syntax.Node, depth int) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			c.evaluates("a test or arithmetic", value(w), depth)
		}
		return c.denial == nil
	})
}

// evaluates looks into a text that name evaluates.
func (c *checker) evaluates(name, text string, depth int) {
	if !strings.Contains(text, dynamic) && index.MatchString(text) {
		c.doubt(name + " evaluates a word with a command in it")
		c.substituted(text, depth)
	}
}

// substituted looks into the commands in a text which bash expands like a here-document.
func (c *checker) substituted(text string, depth int) {
	end := "END_OF_TEXT"
	for strings.Contains(text, end) { // else what stands behind it would be looked at as commands
		end += "_"
	}
	c.literal(": <<"+end+"\n"+text+"\n"+end+"\n", depth)
}

// grouped are the values of a short option of bash's builtins, in its word or in the next.
func grouped(rest []string, option string) []string {
	var out []string
	for i, a := range rest {
		switch _, text, ok := strings.Cut(a, option); {
		case !ok || !strings.HasPrefix(a, "-"):
		case text != "":
			out = append(out, text)
		case i+1 < len(rest):
			out = append(out, rest[i+1])
		}
	}
	return out
}
