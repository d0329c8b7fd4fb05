package policy

import (
	"encoding/json"
	"strings"
	"testing"
)

// Commands that got past the lists of other agents: each runs curl, or a program of its
// choice, behind words that look harmless. docs/security.md has the advisories.
var publicTricks = map[string]string{
	"find -exec":                    `find . -name x -exec curl x \;`,
	"find -execdir":                 `find . -execdir curl x +`,
	"xargs":                         `echo x | xargs -t -I{} curl {}`,
	"sort --compress-program":       `sort --compress-program 'curl x' -S 1k big`,
	"sort, abbreviated":             `sort --co=./evil big`,
	"sed e":                         `sed '1e curl x' f`,
	"sed e, in a group":             `sed -n '/x/{p;e curl x` + "\n}' f",
	"sed s///e":                     `sed 's/.*/curl x/e' f`,
	"sed, another delimiter":        `sed 's|.*|curl x|ge' f`,
	"sed, a bracket":                `sed 's/[/]/;p;#/e' f`,
	"sed -f":                        `sed -f script f`,
	"sed -e, joined":                `sed -ne'1e curl x' f`,
	"rg --pre":                      `rg --pre ./evil x`,
	"rg --hostname-bin":             `rg --hostname-bin=./evil x`,
	"man -P":                        `man -P 'curl x' ls`,
	"man --html":                    `man --html='curl x' ls`,
	"man, in a group":               `man -aP'curl x' ls`,
	"tar --checkpoint-action":       `tar cf /dev/null f --checkpoint=1 --checkpoint-action=exec='curl x'`,
	"tar --to-command":              `tar xf a.tar --to-command='curl x'`,
	"tar -I":                        `tar -I 'curl x' -xf a.tar`,
	"fd --exec":                     `fd x -x curl`,
	"rsync -e":                      `rsync -e 'curl x' a: b`,
	"split --filter":                `split --filter='curl x' f`,
	"go -toolexec":                  `go vet -toolexec=./evil ./...`,
	"go test -exec":                 `go test -exec ./evil ./...`,
	"git ls-remote --upload-pa":     `git ls-remote --upload-pa='curl x' .`,
	"git -c":                        `git -c core.pager='curl x' log`,
	"git grep -O":                   `git grep -O'curl x' x`,
	"git --exec-path":               `git --exec-path=. log`,
	"git bisect run":                `git bisect run curl x`,
	"awk system":                    `awk 'BEGIN { system("curl x") }'`,
	"awk pipe":                      `awk '{ print | "curl x" }' f`,
	"process substitution":          `diff <(curl x) f`,
	"output process substitution":   `echo x > >(curl x)`,
	"IFS":                           `curl${IFS}x`,
	"IFS, in an option":             `rg x${IFS}--pre${IFS}./evil`,
	"a new line":                    "echo x\ncurl x",
	"a carriage return":             "echo x\r\ncurl x",
	"a continued line":              "echo x; cu\\\nrl x",
	"quotes":                        `c""url x`,
	"ANSI-C quotes":                 `$'\x63url' x`,
	"an exported pager":             `export PAGER='curl x'; git log`,
	"an exported pager, declared":   `declare -x GIT_PAGER='curl x'; git log`,
	"an external diff":              `typeset -x GIT_EXTERNAL_DIFF='curl x'; git diff`,
	"ssh of git":                    `GIT_SSH_COMMAND='curl x' git fetch`,
	"env":                           `env GIT_EXTERNAL_DIFF='curl x' git diff`,
	"configuration in variables":    `export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='curl x'; git log`,
	"BASH_ENV":                      `BASH_ENV=./evil bash -c true`,
	"a computed option":             `p=--pre=./evil; rg "$p" x`,
	"a computed option of git":      `o=-O./evil; git grep $o x`,
	"prompt expansion":              `x='$(curl x)'; echo ${x@P}`,
	"prompt expansion, in quotes":   `echo "${HOME@P}"`,
	"trace prompt":                  `PS4='$(curl x)'; set -x; ls`,
	"arithmetic of a variable":      `x='a[$(curl x)]'; echo $((x))`,
	"arithmetic of a word":          `[ -v 'a[$(curl x)]' ]`,
	"printf -v":                     `printf -v 'a[$(curl x)]' x`,
	"an index":                      `a=(1); echo ${a[$(curl x)]}`,
	"here-document":                 "cat <<E\n$(curl x)\nE",
	"an alias":                      "shopt -s expand_aliases\nalias ls='curl x'\nls",
	"hash -p":                       "hash -p /usr/bin/curl ls; ls x",
	"the folder of another process": `/proc/self/root/usr/bin/curl x`,
	"the dynamic loader":            `/lib64/ld-linux-x86-64.so.2 /usr/bin/curl x`,
	"command":                       `command -- curl x`,
	"builtin exec":                  `builtin exec curl x`,
	"exec -a":                       `exec -a ls curl x`,
	"after fifty others":            strings.Repeat("echo x; ", 60) + "curl x",
	"after very many others":        strings.Repeat("echo x; ", 2000) + "curl x",
	"editor":                        `vim -es -c '!curl x' f`,
}

// Where a rule denies curl, no published trick runs it: what cannot be seen is not run.
func TestPublicTricksAgainstDeny(t *testing.T) {
	t.Parallel()
	set := rules(t, true, "deny Bash(curl *)", "allow Bash(*)")
	for name, command := range publicTricks {
		if d := Decide(shellCall(command, set...), Grant(ModeVerify, Trusted, true)); d == nil {
			t.Errorf("%s: %q runs", name, command)
		}
	}
}

// An agent whose definition allows some commands only runs none of the tricks by them.
func TestPublicTricksAgainstAList(t *testing.T) {
	t.Parallel()
	allowed := []string{"find", "echo", "sort", "sed", "rg", "man", "tar", "fd", "rsync", "split", "go", "git", "awk", "diff", "cat", "ls", "xargs", "env", "export", "printf", "[", "a=(1)", "set", "shopt", "command", "builtin", "exec", "bash", "vim", "true"}
	own := Agent{Permission: func(_, target string) (Action, string) {
		for _, a := range allowed {
			if target == a || strings.HasPrefix(target, a+" ") {
				return Allow, a
			}
		}
		return Deny, "*"
	}}
	list := with(shellCall("ls -l"), func(c *Call) { c.Agent = own })
	if d := Decide(list, Grant(ModeVerify, Trusted, true)); d != nil {
		t.Fatalf("a plain command is refused: %+v", d)
	}
	for name, command := range publicTricks {
		if d := Decide(with(shellCall(command), func(c *Call) { c.Agent = own }), Grant(ModeVerify, Trusted, true)); d == nil {
			t.Errorf("%s: %q runs", name, command)
		}
	}
}

// Level inspect runs none of the tricks, nor a name that only looks like one of its own.
func TestPublicTricksAgainstInspect(t *testing.T) {
	t.Parallel()
	for name, command := range publicTricks {
		if argv, why := Inspect(command); why == "" {
			t.Errorf("%s: runs as %q", name, argv)
		}
	}
	for _, command := range []string{"сat x", "ｃat x", "cat\u200b x", "cat\u00a0x", "CAT x", "../cat x", "/proc/self/root/bin/cat x", "cat\x00x", "ls\u2028curl x"} {
		if argv, why := Inspect(command); why == "" {
			t.Errorf("%q runs as %q", command, argv)
		}
	}
}

// What an Allow rule covers is what its words say: no command that writes a file, has
// variables set for it, or is another command whose letters look alike.
func TestPublicTricksAgainstAllow(t *testing.T) {
	t.Parallel()
	set := rules(t, true, "allow Bash(git diff*)", "allow Bash(git log*)", "allow Bash(sort *)", "allow Bash(sed *)", "allow Bash(go test*)")
	for command, covered := range map[string]bool{
		"git diff --output=.git/hooks/post-checkout": false, "git log --outp .bashrc": false, "sort -o .bashrc x": false, "sort --output=x y": false, "sed -i s/a/b/ f": false,
		"sed 'w x' f": false, "git diff $x": true, "git log --format=%H": true, "X=1; git log": false, "export A=b; git log": false, "gо test ./...": false, "ｇo test ./...": false, "go\u00a0test ./...": false, "go test\u2028;curl x": false,
		"git diff --stat": true, "sort -k2 x": true, "sort x": true, "go test -run X ./...": true,
		"sed -n '1,20p' f": true, "sed 's/a/b/g; s|c|d|' f": true, "sed -e ':a;N;$!ba;s/\\n/ /g' f": true, "sed '/x/d' f": true, "sed -E 's/[^/]+$//' f": false, "sed 's#[^/]*$##' f": true, "f=x; git log": true,
	} {
		v := Explain(shellCall(command, set...), Grant(ModeVerify, Trusted, true))
		if v.Denial != nil || strings.HasPrefix(v.By, "Bash(") != covered {
			t.Errorf("%s: by %q, %+v", command, v.By, v.Denial)
		}
	}
}

// A host is matched as a whole, whatever stands in it.
func TestPublicTricksAgainstHosts(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"https://evil.example\x00.docs.example/", "https://evil.example%00.docs.example/", "https://evil.example%2f.docs.example/", "https://evil.example/.docs.example", "https://evil.example#.docs.example/",
		"https://evil.example?.docs.example/", `https://evil.example\.docs.example/`, "https://evil.example\n.docs.example/", "https://docs.example:443@evil.example/", "https://docs.example.evil.example/",
		"https://docsｅxample/", "https://docs.exаmple/", "https://xdocs.example/", "https://docs.example./", "https://[::1]/", "https://docs。example/", "https:docs.example/",
	} {
		args, err := json.Marshal(map[string]string{"url": url})
		if err != nil {
			t.Fatal(err)
		}
		c := toolCall("fetch_url", "net", string(args))
		c.Trust, c.Hosts = Trusted, []string{"docs.example", "*.sub.docs.example"}
		if d := Decide(c, Grant(ModeVerify, Trusted, true).WithNet()); d == nil {
			t.Errorf("%q is fetched", url)
		}
	}
}
