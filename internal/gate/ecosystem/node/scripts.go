package node

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// A nodeScript is what the scripts of a package run as its tests, one after the other.
type nodeScript struct {
	scripts map[string]string
	hooks   bool // scripts named pre and post run, too
	left    *int // how much text may still be taken apart, in bytes; below zero: there was more
}

// A nodePart is one command of a script: the call of a runner that is known, or a text.
type nodePart struct {
	text   string
	runs   []string // of a text, where it runs scripts of the package: what these run
	call   nodeCall
	runner *nodeRunner
}

// Bounds of what is taken apart: how deep scripts call one another, how many bytes of text there
// are in all, each time that a script is called, and how many words of a command are looked up.
const (
	maxScripts = 6
	maxTaken   = 128 << 10
	maxWords   = 200
	perText    = 100 // what a text takes besides
)

// takes counts bytes that are looked at, and says whether that many were left.
func (n nodeScript) takes(bytes int) bool {
	if *n.left >= 0 {
		*n.left -= bytes
	}
	return *n.left >= 0
}

// named returns what a script runs, with the scripts before and after it.
func (n nodeScript) named(name string, more []string, depth int) []nodePart {
	text := n.scripts[name]
	if len(more) > 0 {
		text += " " + strings.Join(more, " ")
	}
	parts := n.parts(text, depth)
	if !n.hooks {
		return parts
	}
	return slices.Concat(n.parts(n.scripts["pre"+name], depth), parts, n.parts(n.scripts["post"+name], depth))
}

// parts takes a text apart where one command follows another, as far as there are calls
// of runners in them.
func (n nodeScript) parts(text string, depth int) []nodePart {
	if strings.TrimSpace(text) == "" || !n.takes(len(text)+perText) {
		return nil
	}
	list, ok := andList(text)
	if !ok {
		return []nodePart{{text: text}}
	}
	var out []nodePart
	for _, st := range list {
		words := stmtWords(st)
		if call, r := nodeWords(words); r != nil && !n.calls(words) {
			out = append(out, nodePart{call: call, runner: r})
			continue
		}
		part := nodePart{text: ecosystem.Printed(st)}
		inner := n.called(words, depth)
		if slices.ContainsFunc(inner, func(p nodePart) bool { return p.runner != nil }) {
			out = append(out, inner...)
			continue
		}
		for _, p := range inner {
			if part.runs = append(part.runs, p.runs...); len(p.runs) == 0 {
				part.runs = append(part.runs, p.text)
			}
		}
		out = append(out, part)
	}
	return out
}

// calls says whether words run a script of the package, which goes before a program of
// the same name.
func (n nodeScript) calls(words []string) bool {
	names, _ := n.names(words)
	return len(names) > 0
}

// called returns what the scripts run that a command calls by their names.
func (n nodeScript) called(words []string, depth int) []nodePart {
	if depth >= maxScripts || len(words) == 0 {
		return nil
	}
	names, more := n.names(words)
	var out []nodePart
	for _, name := range names {
		out = append(out, n.named(name, more, depth+1)...)
	}
	return out
}

// names are the scripts that a command runs, and the words that the last of them gets.
func (n nodeScript) names(words []string) (names, more []string) {
	if at := slices.Index(words, "--"); at >= 0 {
		words, more = words[:at], words[at+1:]
	}
	plain := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
	elsewhere := func(w string) bool { return slices.Contains(nodeElsewhere, strings.Split(w, "=")[0]) }
	if len(plain) < 2 || slices.ContainsFunc(words, elsewhere) {
		return nil, nil
	}
	switch plain[0] {
	case "npm", "yarn", "pnpm", "bun":
		plain = plain[1:]
		switch plain[0] {
		case "run", "run-script":
			plain = plain[1:]
		case "t":
			plain[0] = "test"
		}
		if len(plain) > 0 && n.scripts[plain[0]] != "" {
			return plain[:1], slices.Concat(plain[1:], more)
		}
	case "run-s", "run-p", "npm-run-all", "npm-run-all2":
		for _, pattern := range plain[1:] {
			names = append(names, n.matching(strings.Trim(pattern, `"'`))...)
		}
	}
	return names, nil
}

// nodeElsewhere are options by which a package manager runs scripts of other packages.
var nodeElsewhere = strings.Fields("-r --recursive -w --workspace --workspaces -ws --filter -F --prefix --cwd -C --dir")

// matching are the scripts that a name with stars stands for. A star is a part between
// colons, two are any number of them.
func (n nodeScript) matching(pattern string) []string {
	if n.scripts[pattern] != "" {
		return []string{pattern}
	}
	if !n.takes(len(n.scripts) * perText) {
		return nil
	}
	var out []string
	for name := range n.scripts {
		at, of := strings.ReplaceAll(name, ":", "/"), strings.ReplaceAll(pattern, ":", "/")
		ok, err := path.Match(strings.ReplaceAll(of, "**", "*"), at)
		if err == nil && ok || strings.HasSuffix(of, "/**") && strings.HasPrefix(at, strings.TrimSuffix(of, "**")) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Words that begin commands which lint or report, and those that have "lint" in the name of
// a script.
var (
	nodeLinters = strings.Fields("eslint standard semistandard ts-standard xo prettier tslint biome stylelint jshint jscs oxlint dprint knip cspell commitlint markdownlint remark publint attw depcheck ls-lint lockfile-lint")
	nodeReports = strings.Fields("codecov coveralls rimraf rm del del-cli shx echo open-cli")
)

// Programs that run tests and report none one by one, and those that build or put in order.
var (
	nodeTesters  = strings.Fields("borp uvu jasmine jasmine-node qunit karma testem playwright cypress lab zora japa wtr web-test-runner intern brittle poku bats nodeunit vows airtap")
	nodeBuilders = strings.Fields("tsc vue-tsc tsup tsdown rollup webpack esbuild babel vite swc unbuild microbundle parcel ncc gulp grunt rm rimraf del del-cli mkdir mkdirp cp cpy copyfiles cpx mv shx echo git ncp node-gyp prebuildify node-pre-gyp cmake-js npm yarn pnpm bun lerna turbo nx cd touch sleep docker export source . unset umask ulimit set napi wasm-pack cargo")
)

// tests says whether a part of a script before a known runner runs tests as well, and whether
// that is all that it does. read returns a file of the package, nil where there is none.
func (p nodePart) tests(read func(name string) []byte) (some, alone bool) {
	texts := p.runs
	if len(texts) == 0 {
		texts = []string{p.text}
	}
	alone = true
	left := maxWords
	for _, text := range texts {
		words := programWords(text)
		if len(words) > 0 && slices.Contains(nodeTesters, path.Base(words[0])) {
			some = true
			continue
		}
		alone = false
		if len(words) == 0 || (nodePart{text: text}).lints() || slices.Contains(nodeBuilders, path.Base(words[0])) {
			continue
		}
		for _, w := range words[1:] {
			w = strings.TrimPrefix(strings.Trim(w, `"'`), "./")
			if some = some || isNodeTest(w) || testWord.MatchString(w); some || strings.HasPrefix(w, "-") || left == 0 {
				continue
			}
			left--
			for _, end := range []string{"", ".js", ".mjs", ".cjs", ".ts"} {
				some = some || testWord.Match(read(w+end))
			}
		}
	}
	return some, alone
}

// testWord is a word of what runs tests, in a call or in a script.
var testWord = pattern.New(`(?i)(?:^|[^\pL])(?:tests?|specs?|assert)(?:[^\pL]|$)`)

// programWords are the words of a command from the program on that it calls.
func programWords(text string) []string {
	words := strings.Fields(text)
	for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains([]string{"npx", "yarn", "pnpm", "npm", "bun", "run", "run-s", "run-p", "npm-run-all", "-s", "--silent", "cross-env", "c8", "nyc", "exec"}, words[0])) {
		words = words[1:]
	}
	return words
}

// lints says whether a part of a script only looks at the style of the code.
func (p nodePart) lints() bool {
	words := programWords(p.text)
	if len(words) == 0 {
		return false
	}
	first := path.Base(words[0])
	return slices.Contains(nodeLinters, first) || strings.Contains(first, "lint") || strings.HasPrefix(first, "format") || strings.HasPrefix(first, "prettier")
}

// reports says whether a part of a script behind the tests only shows or removes what
// they wrote.
func (p nodePart) reports() bool {
	words := strings.Fields(p.text)
	return len(words) == 0 || slices.Contains(nodeReports, path.Base(words[0])) ||
		slices.ContainsFunc(words[:min(2, len(words))], func(w string) bool { return strings.Contains(w, "report") || strings.Contains(w, "coverage") }) ||
		len(words) > 1 && (words[0] == "nyc" || words[0] == "c8") && !strings.HasPrefix(words[1], "-")
}

// andList returns the commands of a text that is nothing but commands one after the
// other, each if the one before it went well.
func andList(text string) ([]*syntax.Stmt, bool) {
	file, err := shelltext.Parse(text)
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	var out []*syntax.Stmt
	var walk func(*syntax.Stmt)
	walk = func(st *syntax.Stmt) {
		if c, ok := st.Cmd.(*syntax.BinaryCmd); ok && c.Op == syntax.AndStmt && len(st.Redirs) == 0 && !st.Background && !st.Negated {
			walk(c.X)
			walk(c.Y)
			return
		}
		out = append(out, st)
	}
	walk(file.Stmts[0])
	return out, true
}

// tapShown are the programs that only show TAP in another form.
var tapShown = strings.Fields("faucet tap-spec tap-dot tap-min tap-difflet tap-diff tap-nyan tap-arc tap-nirvana tap-summary colortape tap-spot tap-mocha-reporter tap-parser")

// stmtWords are the words of a plain call as they are written, assignments first; of a
// runner whose output another program only shows, those of the runner.
func stmtWords(st *syntax.Stmt) []string {
	if len(st.Redirs) > 0 || st.Background || st.Negated {
		return nil
	}
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		return ecosystem.Written(c)
	case *syntax.BinaryCmd:
		shown := stmtWords(c.Y)
		if len(shown) > 0 && shown[0] == "npx" {
			shown = shown[1:]
		}
		if c.Op == syntax.Pipe && len(shown) > 0 && slices.Contains(tapShown, shown[0]) {
			return stmtWords(c.X)
		}
	}
	return nil
}

// ofMembers says whether a script of a workspace does no more than to have its package
// manager call those of the same name of its members. Programs such as turbo and nx run what
// their own settings put before them too, such as code generators.
func ofMembers(name string, scripts map[string]string) bool {
	return scripts["pre"+name]+scripts["post"+name] == "" && callsMembers(scripts[name], name)
}

// callsMembers says whether a text is one call of a package manager that runs the scripts of a
// name of the members.
func callsMembers(text, name string) bool {
	list, ok := andList(text)
	if !ok || len(list) != 1 {
		return false
	}
	words := stmtWords(list[0])
	if len(words) < 2 {
		return false
	}
	manager := slices.Contains([]string{"npm", "pnpm", "yarn", "bun"}, words[0])
	reaches := slices.ContainsFunc(words, func(w string) bool {
		return w == "workspaces" || !slices.Contains([]string{"--prefix", "--cwd", "-C", "--dir"}, w) && slices.Contains(nodeElsewhere, strings.Split(w, "=")[0])
	})
	return manager && reaches && slices.Contains(words, name)
}

// nodeSpreads are programs that run scripts of the members of a workspace by their names.
var nodeSpreads = strings.Fields("lerna turbo nx wsrun ultra")

// onlyMembers says whether what the test script of a workspace runs are the members' own tests,
// which are run one by one, and what looks for style or builds before them.
func onlyMembers(parts []nodePart) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p nodePart) bool {
		texts := p.runs
		if len(texts) == 0 {
			texts = []string{p.text}
		}
		return slices.ContainsFunc(texts, func(text string) bool {
			one, words := (nodePart{text: text}), programWords(text)
			if one.lints() || one.reports() || callsMembers(text, "test") {
				return false
			}
			if len(words) == 0 {
				return true
			}
			if program := path.Base(words[0]); !slices.Contains(nodeSpreads, program) {
				return !slices.Contains(nodeBuilders, program) || program == "cargo"
			}
			return slices.ContainsFunc(words[1:], func(w string) bool { // others than "test" are not run one by one
				return !strings.HasPrefix(w, "-") && w != "test" && testScript.MatchString(w)
			})
		})
	})
}

// testScript is a word in the name of a script for tests.
var testScript = pattern.New(`(?i)test|spec|e2e|integration|cypress|playwright`)
