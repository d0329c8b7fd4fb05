package ecosystem

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

var (
	makeJoined   = pattern.New(`\\\n\s*`)
	makeVariable = pattern.New(`\$[({](\w+)[)}]`)
)

// callers are programs that run another one, or a script, which their first argument
// names that is no option.
var callers = strings.Fields("sh bash dash ksh zsh node nodejs python python3 perl ruby php lua env exec time nice timeout xvfb-run command source . bats npx")

// CalledIn are the files that commands of a recipe run, by their words: not those that
// they only read or write, such as the sources that "cp" is given. Of what is no shell it
// is every word.
func CalledIn(recipe string) []string {
	left := maxCalledIn
	return calledIn(recipe, &left)
}

// maxCalledIn bounds how many texts behind the option -c of a shell are looked at, as one is part
// of another.
const maxCalledIn = 200

func calledIn(recipe string, left *int) []string {
	var out []string
	for line := range strings.Lines(makeJoined.ReplaceAllString(recipe, " ")) {
		line = strings.TrimLeft(strings.TrimSpace(line), "@+- \t")
		text := makeVariable.ReplaceAllString(strings.ReplaceAll(line, "$$", "$"), "${$1}")
		file, err := shelltext.Parse(text)
		if err != nil {
			for _, w := range scriptWord.FindAllString(line, -1) {
				out = append(out, strings.Trim(w, `"'`))
			}
			continue
		}
		syntax.Walk(file, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				out = append(out, calledBy(Written(n), left)...)
			case *syntax.WordIter: // of a loop, which may run each
				for _, w := range n.Items {
					out = append(out, w.Lit())
				}
			}
			return true
		})
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

// calledBy are the programs and scripts of one call.
func calledBy(words []string, left *int) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		w := strings.Trim(words[i], `"'`)
		if IsAssignment(w) || len(out) > 0 && (strings.HasPrefix(w, "-") || strings.Trim(w, "0123456789smh.") == "") {
			if w == "-c" && i+1 < len(words) && *left > 0 {
				*left--
				return append(out, calledIn(strings.Trim(words[i+1], `"'`), left)...)
			}
			continue
		}
		out = append(out, w)
		if !slices.Contains(callers, path.Base(w)) {
			break
		}
	}
	return out
}

// scriptWord is a word of a recipe that no shell can read.
var scriptWord = pattern.New(`["']?[\w./@-]*[\w-]["']?`)
