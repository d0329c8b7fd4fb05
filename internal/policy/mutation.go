package policy

import (
	"slices"
	"strings"
)

// MutationHint is what every refusal of a mutation says, whatever tool asked for it.
const MutationHint = "nothing in the project may be changed or published; report what you found instead (git_log_file, git_diff_files and similar tools read the history)"

// Mutation is the refusal of what changes or publishes something: one code and one text
// for all of them. rule names what was asked for.
func Mutation(rule, target string) *Denial {
	return &Denial{Code: CodeBackground, Target: target, Rule: rule, Source: builtIn, Reason: "agents change nothing in the project and publish nothing", Hint: MutationHint}
}

// CheckMutation refuses a command that changes git's history, refs, configuration or
// index, or that publishes something, as far as its words show. What an interpreter or
// a script does is the sandbox's business.
func CheckMutation(command string) *Denial {
	c := checker{mutations: true}
	c.script(command, 0)
	return c.denial
}

// mutation looks at one simple command.
func (c *checker) mutation(name string, rest []string, depth int) {
	sub, isGit := strings.CutPrefix(name, "git-")
	switch {
	case name == "git":
		c.git(rest, depth)
		return
	case isGit && gitMutates(sub, rest):
		c.mutates("git "+sub, append([]string{name}, rest...))
		return
	}
	if what := publishes(name, rest); what != "" {
		c.mutates(what, append([]string{name}, rest...))
	}
	for _, first := range running()[name] {
		if words := strings.Fields(first); len(words) == 0 || slices.Contains(rest, words[0]) {
			c.candidates(name, rest, len(words)+1, depth) // one may be an environment
			c.called(rest, words, depth)
		}
	}
	if name == "env" && slices.ContainsFunc(rest, aliases) {
		c.mutates("git alias", append([]string{name}, rest...))
	}
}

// called looks into the text that such a program gives to a shell: behind an option, or in one
// word behind its own.
func (c *checker) called(rest, words []string, depth int) {
	for i, a := range rest {
		option, text, given := strings.Cut(a, "=")
		switch {
		case given && (option == "--call" || option == "--command"):
			c.literal(text, depth)
		case i == 0:
		case slices.Contains([]string{"-c", "--call", "--command"}, rest[i-1]),
			len(words) > 0 && rest[i-1] == words[len(words)-1] && strings.Contains(a, " "):
			c.literal(a, depth)
		}
	}
}

// aliases says whether a word sets a variable that gives git an alias.
func aliases(word string) bool {
	return strings.HasPrefix(word, "GIT_CONFIG") && strings.Contains(strings.ToLower(word), "alias.")
}

func (c *checker) mutates(rule string, args []string) {
	if c.denial == nil {
		c.denial = Mutation(rule, strings.ReplaceAll(strings.Join(args, " "), dynamic, computed))
	}
}

// git skips git's own options to its command, and follows an alias that is defined on
// the spot.
func (c *checker) git(args []string, depth int) {
	if depth > maxNesting {
		c.doubt("aliases nested too deeply to be checked")
		return
	}
	aliases := map[string]string{} // by names in small letters: git compares them so
	unseen := false                // what a word means is not shown
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-c" && i+1 < len(args):
			i++
			key, value, _ := strings.Cut(args[i], "=")
			if key = strings.ToLower(key); strings.HasPrefix(key, "alias.") {
				aliases[key[len("alias."):]] = value
			}
			unseen = unseen || key == "help.autocorrect"
		case strings.HasPrefix(a, "--config-env="):
			unseen = unseen || strings.HasPrefix(strings.ToLower(a), "--config-env=alias.")
		case slices.Contains([]string{"-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env", "--attr-source", "--exec-path"}, a):
			i++
			unseen = unseen || a == "--config-env" && i < len(args) && strings.HasPrefix(strings.ToLower(args[i]), "alias.")
		case strings.HasPrefix(a, "-"):
		default:
			sub, rest := a, args[i+1:]
			if alias, ok := aliases[strings.ToLower(sub)]; ok {
				if script, shell := strings.CutPrefix(alias, "!"); shell {
					c.script(script+" "+strings.Join(rest, " "), depth+1)
				} else { // which may be of another alias
					c.git(slices.Concat(args[:i], strings.Fields(unquoted.Replace(alias)), rest), depth+1)
				}
				return
			}
			if unseen || gitMutates(sub, rest) {
				c.mutates("git "+sub, append([]string{"git"}, args...))
			}
			return
		}
	}
}

// unquoted takes out what git's aliases may be quoted with.
var unquoted = strings.NewReplacer(`"`, "", `'`, "", `\`, "")

// valued are options of git's commands whose value is the next word, which is none of the
// words and options that say what the command does.
var valued = table(`
branch: --format, --sort
config: -f, --file, --blob, --type, --default, --comment, --value
notes: --ref
tag: --format, --sort`)

// withoutValues is rest without the values of such options.
func withoutValues(sub string, rest []string) []string {
	var out []string
	for i := 0; i < len(rest); i++ {
		out = append(out, rest[i])
		if slices.ContainsFunc(valued()[sub], func(f string) bool { return short(rest[i], f) }) {
			i++
		}
	}
	return out
}

// short says whether a word is an option, or the beginning of a long one, which git takes for it.
func short(word, option string) bool {
	return word == option || len(word) > 3 && strings.HasPrefix(word, "--") && strings.HasPrefix(option, word)
}

// triesOnly says whether a command of git only says what it would do: by an option that
// cannot be the value of another.
func triesOnly(sub string, rest []string) bool {
	var flags []string
	switch sub {
	case "add", "stage", "rm", "mv", "push":
		flags = []string{"-n", "--dry-run"}
	case "commit":
		flags = []string{"--dry-run"}
	}
	tried := false
	for i, a := range rest {
		if takesBack := strings.HasPrefix(a, "--no-d"); a == "--" || takesBack {
			return tried && !takesBack
		}
		tried = tried || slices.Contains(flags, a) && (i == 0 || !strings.HasPrefix(rest[i-1], "-"))
	}
	return tried
}

// gitMutates says whether a command of git changes history, refs, configuration or the
// index, or sends something away.
func gitMutates(sub string, rest []string) bool {
	if triesOnly(sub, rest) {
		return false
	}
	rest = withoutValues(sub, rest)
	first, operands := "", 0
	for _, a := range rest {
		if !strings.HasPrefix(a, "-") {
			if first == "" {
				first = a
			}
			operands++
		}
	}
	has := func(text string) bool {
		flags := strings.Fields(text)
		return slices.ContainsFunc(rest, func(a string) bool {
			word, _, _ := strings.Cut(a, "=")
			return slices.ContainsFunc(flags, func(f string) bool {
				return short(word, f) || len(f) == 2 && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, f[1:])
			})
		})
	}
	lists := func(text string) bool { // what a later word may take back counts for nothing
		flags := strings.Fields(text)
		return slices.ContainsFunc(rest, func(a string) bool {
			word, _, _ := strings.Cut(a, "=")
			return slices.Contains(flags, word) || slices.Contains(flags, "-n") && strings.HasPrefix(a, "-n")
		}) && !slices.ContainsFunc(rest, func(a string) bool {
			no, is := strings.CutPrefix(a, "--no-")
			return is && !slices.Contains(flags, a) && slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--"+no) })
		})
	}
	switch sub {
	case "add", "am", "checkout", "checkout-index", "cherry-pick", "commit", "commit-tree", "fast-import", "fetch", "fetch-pack", "filter-branch", "filter-repo", "gc", "merge",
		"mktag", "mktree", "mv", "pack-refs", "prune", "pull", "push", "read-tree", "rebase", "repack", "replace", "reset", "revert", "rm", "send-email", "send-pack",
		"stage", "subtree", "svn", "switch", "unpack-objects", "update-index", "update-ref", "write-tree", "p4", "citool", "gui", "imap-send", "http-push", "update-server-info",
		"quiltimport", "history", "refs", "for-each-repo", "merge-index", "merge-one-file", "index-pack", "prune-packed", "receive-pack",
		"cvsexportcommit", "cvsimport", "archimport", "mergetool", "replay":
		return true
	case "lfs":
		return !slices.Contains([]string{"", "ls-files", "status", "env", "version", "logs", "pointer"}, first)
	case "apply":
		return has("--index --cached --intent-to-add -N --3way -3")
	case "branch":
		reads := lists("-a --all -r --remotes -l --list --show-current --contains --no-contains --merged --no-merged --points-at")
		changes := has("-d -D -m -M -c -C -f --delete --move --copy --force -u --set-upstream-to --unset-upstream --edit-description --track -t --no-track")
		return changes || operands > 0 && !reads
	case "config":
		reads := lists("--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list") || first == "get" || first == "list"
		changes := has("--add --unset --unset-all --replace-all --rename-section --remove-section -e --edit")
		return changes || !reads && (operands > 1 || slices.Contains([]string{"set", "unset", "edit"}, first))
	case "hash-object":
		return has("-w")
	case "notes":
		return first != "" && first != "list" && first != "show" && first != "get-ref"
	case "reflog":
		return first == "expire" || first == "delete" || first == "drop" || first == "write"
	case "remote":
		return first != "" && first != "show" && first != "get-url" && first != "-v"
	case "rerere":
		return first != "" && first != "status" && first != "diff"
	case "restore":
		return has("--staged -S --source -s")
	case "sparse-checkout":
		return first != "" && first != "list"
	case "stash":
		return len(rest) == 0 || rest[0] != "list" && rest[0] != "show"
	case "submodule":
		return first != "" && first != "status" && first != "summary"
	case "symbolic-ref":
		return operands > 1 || has("-d --delete")
	case "tag":
		reads := lists("-l --list -n --contains --no-contains --points-at --merged --no-merged -v --verify")
		return has("-d --delete -f --force -a -s -u -m -F") || operands > 0 && !reads
	case "worktree":
		return first != "" && first != "list"
	case "bisect":
		return first != "" && first != "log" && first != "view" && first != "visualize"
	case "maintenance":
		return first != ""
	case "credential", "credential-store":
		return first != "fill" && first != "get"
	}
	return false
}

// ghMutates says whether a command of GitHub's or GitLab's program changes something
// there.
func ghMutates(words, rest []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "help", "version", "status", "search", "completion", "browse":
		return false
	case "api":
		return apiMutates(rest)
	}
	return len(words) < 2 || !slices.Contains([]string{"view", "list", "status", "diff", "checks", "download", "get", "watch", "ls"}, words[1])
}

// apiMutates says whether a call of an interface sends something: by its method, or, without one,
// by its fields.
func apiMutates(rest []string) bool {
	method, fields := "", false
	for i := 0; i < len(rest); i++ {
		option, text, given := strings.Cut(rest[i], "=")
		if a := rest[i]; strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") {
			letters := strings.TrimLeft(a[1:], "i") // which has no value
			option, text, given = "-"+letters[:min(1, len(letters))], letters[min(1, len(letters)):], len(letters) > 1
			text = strings.TrimPrefix(text, "=")
		}
		switch option {
		case "-X", "--method", "-f", "-F", "--field", "--raw-field", "--input", "--form", "-H", "--header", "-q", "--jq", "-t", "--template", "-p", "--preview", "--cache", "--hostname":
			if i++; given {
				i--
			} else if i < len(rest) {
				text = rest[i]
			}
		}
		switch option {
		case "-X", "--method":
			method = strings.ToUpper(text)
		case "-f", "-F", "--field", "--raw-field", "--input", "--form":
			fields = true
		}
	}
	return method != "GET" && method != "HEAD" && (method != "" || fields)
}
