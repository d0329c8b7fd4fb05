package classes

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A Namesake is a name that a source declares and that other files meet without asking for it by
// the file: a macro, a class, a function of a namespace, a variable of a script.
type Namesake struct {
	Name string
	rule namesakeRule
}

// A namesakeRule is how a language declares such names, and how files use and declare them. In the
// expressions NAME stands for the name.
type namesakeRule struct {
	exts     string
	declares *pattern.Pattern // a line; the group is the name
	used     string           // in tests
	stands   string           // in what is no test
	within   *pattern.Pattern // what a file says of where it belongs, which tests have to say as well; nil: anywhere
	names    bool             // tests have to name the file, but for headers
	own      string           // in tests: they say themselves what it means; empty: that does not matter
}

const (
	headers = ".h .hh .hpp .hxx"
	ofC     = ".c .cc .cpp .cxx " + headers
	ofJVM   = ".java .kt .scala .groovy"
	ofSh    = ".sh .bash .zsh .ksh .bats"
)

// functionOfC begins a function in C or C++.
var functionOfC = pattern.New(`^(?:[A-Za-z_][\w:<>,]*[\s*&]+)+([A-Za-z_]\w*)\s*\([^;]*$|^(?:[A-Za-z_][\w:<>,]*[\s*&]+)+([A-Za-z_]\w*)\s*\(.*\{`)

// builtinOfPython is a function or class that is there without an import, and that tests judge by
// (https://docs.python.org/3/library/functions.html).
const builtinOfPython = `(abs|all|any|ascii|bin|bool|bytearray|bytes|callable|chr|complex|dict|divmod|enumerate|filter|float|format|frozenset|getattr|hasattr|hash|hex|id|int|isinstance|issubclass|` +
	`iter|len|list|map|max|min|next|oct|open|ord|pow|print|range|repr|reversed|round|set|setattr|slice|sorted|str|sum|tuple|type|vars|zip|[A-Z]\w*(?:Error|Exception|Warning)|StopIteration|SystemExit)`

// noName are words that stand where a name would, and the one that each program has.
var noName = []string{"if", "while", "for", "switch", "return", "main"}

var namesakeRules = []namesakeRule{
	// Macros, which hold for all of a crate below them, and those of the standard library.
	{exts: ".rs", declares: pattern.New(`^\s*macro_rules!\s*(\w+)`), used: `\bNAME!`, stands: `macro_rules!\s*NAME\b`},
	// What a file of tests has of a module by "import *" comes before what the language has.
	{
		exts: ".py", declares: pattern.New(`^(?:async\s+)?(?:def|class)\s+` + builtinOfPython + `\b|^` + builtinOfPython + `\s*(?::[^=]+)?=[^=]|^(?:from\s+[\w.]+\s+)?import\b.*\b` + builtinOfPython + `\s*(?:[,#].*)?$`),
		used: `(?s)\bfrom\s+[\w.]+\s+import\s+\*.*[^\w.]NAME\s*[(,)\]]`, stands: `(?m)^(?:async\s+)?(?:def|class)\s+NAME\b|^NAME\s*=`, own: `(?m)\b(?:def|class)\s+NAME\b|^\s*NAME\s*=|\bimport\s[^\n*]*\bNAME\b`,
	},
	// A method by which tests judge, in a class that they may be made of.
	{exts: ".py", declares: pattern.New(`^\s+(?:async\s+)?def\s+((?:assert|fail)\w*)\s*\(|^\s+(assert\w+)\s*=[^=]`), used: `\bself\.NAME\s*\(`, stands: `\bdef\s+NAME\b`, own: `\bdef\s+NAME\b`},
	// A namespace that only tests have: what stands in it is found before what PHP has, or in place of a file of tests.
	{exts: ".php", declares: pattern.New(`^\s*(?:<\?php\s+)?namespace\s+([\w\\]+)\s*[;{]`), used: `\bnamespace\s+NAME\s*[;{]`, stands: `\bnamespace\s+NAME\s*[;{]`},
	{exts: ".php", declares: pattern.New(`^\s*function\s+&?(\w+)\s*\(`), used: `(^|[^\w>:\\$])NAME\s*\(`, stands: `\bfunction\s+&?NAME\s*\(`, within: pattern.New(`\bnamespace\s+([\w\\]+)\s*[;{]`)},
	{exts: ".php", declares: pattern.New(`\bclass_alias\s*\(.*['"\\](\w+)['"]`), used: `\b(class|trait|interface|enum)\s+NAME\b`, stands: `\b(class|trait|interface|enum)\s+NAME\b`},
	{exts: ".php", declares: pattern.New(`^\s+(?:(?:public|protected|final|static)\s+)*function\s+((?:assert|fail|expect)\w*)\s*\(`), used: `(?:\$this->|\b(?:self|static|parent)::)NAME\s*\(`, stands: `\bfunction\s+&?NAME\s*\(`, own: `\bfunction\s+&?NAME\s*\(`},
	{exts: ".rb .rake", declares: pattern.New(`^\s*(?:class|module)\s+(?:\w+::)*([A-Z]\w*)|^\s*([A-Z]\w*)\s*=[^=~>]`), used: `(^|[^\w:@$.])NAME\b`, stands: `\b(class|module)\s+(\w+::)*NAME\b|(^|[^\w:.])NAME\s*=[^=~>]`},
	{exts: ".rb .rake", declares: pattern.New(`^\s*def\s+((?:assert|refute|must|wont|be)_\w+|flunk|expect|eq|eql|equal|match_array|raise_error)\b`), used: `(^|[^\w:@$])NAME\b`, stands: `\bdef\s+NAME\b`, own: `\bdef\s+NAME\b`},
	{exts: ".ex .exs", declares: pattern.New(`^\s*defmodule\s+([\w.]+)`), used: `\bdefmodule\s+NAME\b`, stands: `\bdefmodule\s+NAME\b`},
	{exts: ofJVM, declares: pattern.New(`^\s*(?:(?:public|final|abstract|sealed|data|open)\s+)*(?:class|interface|enum|record|object)\s+([A-Z]\w*)`), used: `\bNAME\b`, stands: `\b(class|interface|enum|record|object)\s+NAME\b`, within: pattern.New(`(?m)^\s*package\s+([\w.]+)`), own: `\bimport\s+[\w.]+\.NAME\b|\b(class|interface|enum|record|object)\s+NAME\b`},
	{exts: ofJVM, declares: pattern.New(`^\s+(?:[\w<>\[\],?]+\s+)+((?:assert|verify)\w*|fail)\s*\([^;]*\{`), used: `(^|[^\w.])NAME\s*\(`, stands: `\s(?:[\w<>\[\],?]+\s+)+NAME\s*\([^;]*\{`, own: `\s(?:[\w<>\[\],?]+\s+)+NAME\s*\([^;]*\{`},
	{exts: ofC, names: true, declares: pattern.New(`^\s*#\s*define\s+([A-Za-z]\w*)`), used: `\bNAME\b`, stands: `\bNAME\b`, own: `#\s*(define|ifdef|ifndef|undef)\s+NAME\b|\bdefined\b\W*NAME\b`},
	// A function of a header is found beside one that a test has for other types.
	{exts: headers, declares: functionOfC, used: `(^|[^\w.>])NAME\s*\(`, stands: `\bNAME\b`},
	{exts: ".c .cc .cpp .cxx", declares: functionOfC, used: `(^|[^\w.>])NAME\s*\(`, stands: `\bNAME\b`, own: `(?m)^\w[\w\s*&:<>,]*[\s*&]NAME\s*\(`},
	{exts: ofSh, declares: pattern.New(`^\s*(?:function\s+)?([\w-]+)\s*\(\s*\)`), used: `(?m)(^|[;&|({!]|\b(if|then|while|do|until|else))\s*NAME(\s|$)`, stands: `(?m)^\s*(function\s+)?NAME\s*\(\s*\)`, own: `(?m)^\s*(function\s+)?NAME\s*\(\s*\)`},
	// A variable that tests set where it is not set, or that they cannot set any more.
	{exts: ofSh, declares: pattern.New(`^\s*(?:export\s+)?(\w+)=`), used: `\$\{NAME:?[=+?-]`, stands: `(?m)^\s*(export\s+)?NAME=`},
	{exts: ofSh, declares: pattern.New(`^\s*(?:readonly|(?:declare|typeset)\s+-\w*[ri]\w*)\s(.*)`), used: `(?m)(^|[\s;&|({])NAME=`, stands: `\b(readonly|(declare|typeset)\s+-\w*[ri]\w*)\s[^\n]*\bNAME\b`},
}

// ofDeclaration is a variable that a declaration of a script names.
var ofDeclaration = pattern.New(`(?:^|\s)(\w+)(?:=|\s|$)`)

// Namesakes are the names that a line of a source declares and that other files meet without
// asking for them.
func Namesakes(name, line string) []Namesake {
	var out []Namesake
	for _, rule := range namesakeRules {
		if !slices.Contains(strings.Fields(rule.exts), path.Ext(name)) {
			continue
		}
		m := rule.declares.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		names := []string{strings.Join(m[1:], "")}
		if strings.ContainsAny(names[0], " =") {
			names = nil
			for _, v := range ofDeclaration.FindAllStringSubmatch(m[1], -1) {
				names = append(names, v[1])
			}
		}
		for _, n := range names {
			if !slices.Contains(noName, n) {
				out = append(out, Namesake{Name: n, rule: rule})
			}
		}
	}
	return out
}

// Belongs says whether files meet the name: they are of the language, and of the part of the
// program that the source with the text belongs to.
func (n Namesake) Belongs(source, text, file, other string) bool {
	if !OfOneLanguage(path.Ext(source), path.Ext(file)) {
		return false
	}
	if n.rule.names && !strings.HasPrefix(path.Ext(source), ".h") && !strings.Contains(other, path.Base(source)) {
		return false
	}
	if n.rule.within == nil {
		return true
	}
	in, at := n.rule.within.FindStringSubmatch(text), n.rule.within.FindStringSubmatch(other)
	return in != nil && at != nil && in[1] == at[1]
}

// OfOneLanguage says whether files with two extensions are of one language.
func OfOneLanguage(ext, other string) bool {
	return ext == other || slices.ContainsFunc([]string{ofC, ofJVM, ofSh, ".rb .rake", ".ex .exs"}, func(list string) bool {
		exts := strings.Fields(list)
		return slices.Contains(exts, ext) && (slices.Contains(exts, other) || list == ofSh && (other == "" || other == ".t"))
	})
}

// Used says whether the text of a test uses the name, and does not say itself what it means.
func (n Namesake) Used(name, text string) bool {
	hash := slices.Contains(strings.Fields(".rb .rake .ex .exs "+ofSh), path.Ext(name))
	if !strings.Contains(n.rule.exts, ".sh") { // where strings have variables in them
		text, _ = withoutStrings(text, hash)
	}
	return n.find(n.rule.used, text) && (n.rule.own == "" || !n.find(n.rule.own, text))
}

// Stands says whether the text of another source declares the name.
func (n Namesake) Stands(text string) bool { return n.find(n.rule.stands, text) }

func (n Namesake) find(expression, text string) bool {
	return strings.Contains(text, n.Name) && regexp.MustCompile(strings.ReplaceAll(expression, "NAME", regexp.QuoteMeta(n.Name))).MatchString(text)
}

// IsSourcedIn says whether the text of a script of tests sources another one, or one that a variable
// names: what that declares then holds in the test. [TakesIn] asks for what is called as well.
func IsSourcedIn(text, script string) bool {
	base := path.Base(script)
	return regexp.MustCompile(`(?m)(^|[;&|{]\s*)\s*((\.|source)\s+[^\n;]*(` + regexp.QuoteMeta(base) + `|\$)|load\s[^\n;]*` + regexp.QuoteMeta(strings.TrimSuffix(base, path.Ext(base))) + `)`).MatchString(text)
}

// MarkOfNamesake is the mark of a line that declares a name that tests have from elsewhere.
func MarkOfNamesake(name string, line int, text string) Mark {
	return markOf(name, line, "declares a name that tests have from elsewhere", text)
}

// loosens are what makes a shell go on after failures, not run what follows, or read it otherwise: also inside
// of a block, with other options before it, and by another word for it.
var loosens = pattern.New(`(?:^|[;&|{(!]|\b(?:then|else|do)\b)\s*(?:(?:builtin|command|eval|export)\s+["']?)*(?:` +
	`set\s+(?:[-+]\w*o\s+\w+\s+|[-+]\w+\s+)*["']?(?:\+[a-zA-Z]*e|-[a-zA-Z]*[nft]|\+\w*o\s+(?:errexit|pipefail)\b|-\w*o\s+(?:noexec|noglob|onecmd)\b)` +
	`|trap\s+(?:--\s+)?(?:-|:|true|(?:''|""|["']\s*(?::|true)\s*;?\s*["']))\s+(?:\w+\s+)*ERR\b` +
	`|shopt\s+(?:-\w+\s+)*(?:\w+\s+)*(?:nocase\w+|failglob|extdebug|nullglob)\b|shopt\s+(?:-\w+\s+)*-\w*u\w*\s+(?:-\w+\s+)*(?:\w+\s+)*(?:errexit|pipefail)\b` +
	`|GLOBIGNORE=)`)

var (
	goesOnFor  = pattern.New(`^\s+set\s+\+e\s*$`)
	stopsAgain = pattern.New(`^\s+set\s+-e\s*$`)
	leaves     = pattern.New(`\b(?:return|exit|break|continue|exec)\b`)
)

// Loosens are the marks of lines that a change adds to a script that others take in. One that goes on after
// failures for some lines of its own, and stops at them again, leaves those as they were.
func Loosens(name string, added map[int]string) []Mark {
	var out []Mark
	for _, line := range sortedKeys(added) {
		if IsScript(name) && loosens.MatchString(added[line]) && !forOwnLines(added, line) {
			out = append(out, markOf(name, line, "sets how the shell reads tests that take this in", added[line]))
		}
	}
	return out
}

// forOwnLines says whether a line that has a script go on after failures is followed by one of the same block
// that takes that back, with nothing between them that leaves the block.
func forOwnLines(added map[int]string, line int) bool {
	indent := func(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }
	if !goesOnFor.MatchString(added[line]) {
		return false
	}
	for at := line + 1; ; at++ {
		text, ok := added[at]
		switch in := indent(text); {
		case !ok, strings.TrimSpace(text) != "" && in < indent(added[line]), leaves.MatchString(text):
			return false
		case in == indent(added[line]) && stopsAgain.MatchString(text):
			return true
		}
	}
}

// exit ends a process as a success, in languages whose runners see that a test does not come to its end.
var exit = map[string]*pattern.Pattern{
	"js":   pattern.New(`\bprocess\s*\.\s*exit\(\s*(?:0\s*)?\)|\bDeno\.exit\(\s*0?\s*\)`),
	"py":   pattern.New(`\bsys\.exit\(\s*(?:0|None)?\s*\)|\braise\s+SystemExit(?:\(\s*(?:0|None)?\s*\))?\s*(?:#|$)|(?:^|[\s:;])(?:exit|quit)\(\s*(?:0|None)?\s*\)`),
	"rb":   pattern.New(`(?:^|[\s;{(])exit(?:\s*\(?\s*(?:0|true)\s*\)?)?\s*(?:$|[;}#]|if\b|unless\b)`),
	"php":  pattern.New(`\b(?:exit|die)\s*(?:\(\s*(?:0|["'][^"']*["'])?\s*\))?\s*;`),
	"pl":   pattern.New(`\bexit\s*\(?\s*0?\s*\)?\s*(?:;|if\b|unless\b)`),
	"bash": pattern.New(`(?:^|[;&|{]|\bthen\b|\belse\b|\bdo\b)\s*exit(?:\s+0)?\s*(?:$|[;}#&|])`),
}

// Exits are the marks of lines that a change adds to a source and that end a process as a success.
func Exits(name string, added map[int]string) []Mark {
	kind := strings.TrimPrefix(path.Ext(name), ".")
	switch kind {
	case "cjs", "mjs", "ts", "cts", "mts":
		kind = "js"
	case "sh":
		kind = "bash"
	}
	var out []Mark
	for _, line := range sortedKeys(added) {
		if ends := exit[kind]; ends != nil && ends.MatchString(added[line]) {
			out = append(out, markOf(name, line, "ends the process as a success, whatever its tests found", added[line]))
		}
	}
	return out
}
