package ecosystem

import (
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
)

// An Asking is how files of a project ask for a version of a tool, and what is said where that
// is an older one.
type Asking struct {
	Tool    string                  // for people: "CMake"
	Program string                  // of it
	In      func(name string) bool  // the files that ask
	Version func(src []byte) string // what one asks for, with operators; empty: for none
	Refuses *pattern.Pattern        // what commands say that need a newer one
}

// NewerThanHere says that a change asks for a newer version of a tool than the machine has, which a
// failed command says too; empty: it does not. What is printed in the tree is in the change's hands:
// a file of the head must ask for more than is here, and the same file of the base must not.
func NewerThanHere(askings []Asking, changed []string, base, head *Survey, output string) string {
	if base == nil || head == nil {
		return ""
	}
	for _, a := range askings {
		if !a.Refuses.MatchString(output) {
			continue
		}
		for _, f := range changed {
			if !a.In(f) || !head.Has(".", f) {
				continue
			}
			asked := least(a.Version(head.Read(".", f)))
			if asked == "" || asked == least(a.Version(base.Read(".", f))) {
				continue
			}
			here := head.Tools.Version(a.Program)
			if here != "" && newer(asked, here) && !newer(least(a.Version(base.Read(".", f))), here) {
				return fmt.Sprintf("the change asks for %s %s (%s), and %s is on this machine", a.Tool, asked, f, here)
			}
		}
	}
	return ""
}

// versionTime is how long a program has to say its version.
const versionTime = 20 * time.Second

// ownVersion is the version in what programs say of themselves; the first release of a Java has one number.
var ownVersion = pattern.New(`(?m)^(?:[A-Za-z]+ (?:version )?)?v?(\d+\.\d+(?:\.\d+)*)|^javac (\d+)`)

// Version is what a program of the machine says that its version is, asked outside of any tree, whose
// files could choose another one; empty where that is not known.
func (t *Toolchains) Version(program string) string {
	file := t.LookPath(program)
	if file == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, file, "--version")
	cmd.Dir, cmd.Env, cmd.WaitDelay = string(filepath.Separator), t.Env, time.Second
	out, err := cmd.CombinedOutput()
	m := ownVersion.FindStringSubmatch(string(out))
	if err != nil || m == nil {
		return ""
	}
	return m[1] + m[2]
}

var (
	anyOf     = pattern.New(`\|\||\bor\b`)
	condition = pattern.New(`(>=|<=|==|!=|~=|~>|===|[<>^~=])?\s*v?(\d+(?:\.\d+)*)`)
)

// least is the oldest version that a requirement admits, as far as it says: the newest lower bound
// of each alternative, and of these the oldest one. Empty: it has none.
func least(requirement string) string {
	out := ""
	for i, one := range anyOf.Split(requirement, -1) {
		bound := ""
		for _, m := range condition.FindAllStringSubmatch(one, -1) {
			if !slices.Contains([]string{"<", "<=", "!="}, m[1]) && (bound == "" || newer(m[2], bound)) {
				bound = m[2]
			}
		}
		if bound == "" {
			return ""
		}
		if i == 0 || newer(out, bound) {
			out = bound
		}
	}
	return out
}

// newer says whether a version is newer than another one, by the parts that it has.
func newer(version, than string) bool {
	have := strings.Split(than, ".")
	for i, part := range strings.Split(version, ".") {
		n, _ := strconv.Atoi(part)
		m := 0
		if i < len(have) {
			m, _ = strconv.Atoi(have[i])
		}
		if n != m {
			return n > m
		}
	}
	return false
}

// Named are the files of some names.
func Named(names ...string) func(name string) bool {
	return func(name string) bool { return slices.Contains(names, path.Base(name)) }
}

// WrittenAs is the first group that a pattern has in a text.
func WrittenAs(p *pattern.Pattern) func(src []byte) string {
	return func(src []byte) string {
		for _, m := range p.FindAllStringSubmatch(string(src), -1) {
			for _, g := range m[1:] {
				if g != "" {
					return g
				}
			}
		}
		return ""
	}
}
