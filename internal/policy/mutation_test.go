package policy

import (
	"strings"
	"testing"
	"time"

	processor "github.com/ycbot/ycbot/internal/testing/spent"
)

// What changes history, refs, configuration or the index, or publishes something, is
// refused by its words, however they are dressed; with one code and one text.
func TestMutations(t *testing.T) {
	t.Parallel()
	for command, rule := range map[string]string{
		"git commit -am x":                                     "git commit",
		"cd sub && git commit -m x":                            "git commit",
		"true; git add . || true":                              "git add",
		"git -C sub commit -m x":                               "git commit",
		"git -c user.name=a -c user.email=b commit -m x":       "git commit",
		"git --git-dir=.git --work-tree . reset --hard HEAD~1": "git reset",
		"git --no-pager push origin HEAD":                      "git push",
		"git -c alias.ci=commit ci -m x":                       "git commit",
		"git -c alias.x='!git tag v1' x":                       "git tag",
		"/usr/bin/git tag v1":                                  "git tag",
		"/usr/lib/git-core/git-commit -m x":                    "git commit",
		`"git" 'config' user.name x`:                           "git config",
		`g\it commit`:                                          "git commit",
		"{git,commit,-m,x}":                                    "git commit",
		"sh -c 'git commit -m x'":                              "git commit",
		"bash -euo pipefail -c \"git stash\"":                  "git stash",
		"env git update-ref refs/heads/x HEAD":                 "git update-ref",
		"env GIT_DIR=.git git branch -f main HEAD":             "git branch",
		"env -S 'git commit -m x'":                             "git commit",
		"GIT_DIR=.git git checkout -b x":                       "git checkout",
		"timeout 5 nice -n 3 git rebase main":                  "git rebase",
		"command git merge x":                                  "git merge",
		"exec git switch x":                                    "git switch",
		"echo a | xargs git add":                               "git add",
		"find . -name x -exec git rm {} \\;":                   "git rm",
		"x=$(git stash create; git stash pop)":                 "git stash",
		"if true; then git worktree add ../w; fi":              "git worktree",
		"f() { git notes add -m x; }; f":                       "git notes",
		"eval 'git config --global a.b c'":                     "git config",
		"trap 'git commit -m x' EXIT":                          "git commit",
		"git config --unset a.b":                               "git config",
		"git branch -D x":                                      "git branch",
		"git branch x":                                         "git branch",
		"git symbolic-ref HEAD refs/heads/x":                   "git symbolic-ref",
		"git remote add x y":                                   "git remote",
		"git apply --cached p":                                 "git apply",
		"git restore --staged a":                               "git restore",
		"git bisect start":                                     "git bisect",
		"git submodule update --init":                          "git submodule",
		"git reflog expire --all":                              "git reflog",
		"git hash-object -w a":                                 "git hash-object",
		"npm publish":                                          "npm publish",
		"cargo publish --allow-dirty":                          "cargo publish",
		"twine upload dist/*":                                  "twine upload dist/*",
		"docker push x":                                        "docker push x",
		"gh pr comment 1 -b x":                                 "gh pr comment",
		"gh release create v1":                                 "gh release create",
		"python -m twine upload x":                             "twine upload x",
		"python3.12 -m build && python3 -m twine upload x":     "twine upload x",
		"python setup.py sdist upload":                         "python setup.py sdist",
		"npm version patch":                                    "npm version patch",
		"npx semantic-release":                                 "semantic-release",
		"npx --yes semantic-release@24 --no-ci":                "semantic-release",
		"npx -p jsr jsr publish":                               "jsr publish",
		"pnpm dlx vsce publish":                                "vsce publish",
		"npm exec -- changeset publish":                        "changeset publish",
		"bundle exec rake release":                             "rake release",
		"uv tool run twine upload x":                           "twine upload x",
		"uvx twine upload x":                                   "twine upload x",
		"poetry run twine upload x":                            "twine upload x",
		"goreleaser release --clean":                           "goreleaser release",
		"cargo release":                                        "cargo release",
		"docker buildx build --push .":                         "docker buildx build",
		"docker build --push -t x .":                           "docker build x",
		"docker build -o type=registry .":                      "docker build type=registry",
		"buildah push x":                                       "buildah push x",
		"crane push x y":                                       "crane push x",
		"skopeo copy dir:x docker://y":                         "skopeo copy dir:x",
		"nuget push x":                                         "nuget push x",
		"dotnet nuget push x":                                  "dotnet nuget push",
		"deno publish":                                         "deno publish",
		"jsr publish":                                          "jsr publish",
		"vsce publish":                                         "vsce publish",
		"mix hex.publish":                                      "mix hex.publish",
		"rush publish":                                         "rush publish",
		"changeset publish":                                    "changeset publish",
		"hg push":                                              "hg push",
		"svn commit -m x":                                      "svn commit x",
		"gem push x":                                           "gem push x",
		"poetry publish":                                       "poetry publish",
		"uv publish":                                           "uv publish",
		"flit publish":                                         "flit publish",
		"hatch publish":                                        "hatch publish",
		"./mvnw -B release:perform":                            "mvnw release:perform",
		"./mvnw -q compile jib:build":                          "mvnw compile jib:build",
		"ko apply -f x":                                        "ko apply x",
		"python3 setup.py sdist upload":                        "python3 setup.py sdist",
		"sh <<-E\n\tgit push\n\tE":                             "git push",
		"cat <<'E' | sh\ngit push\nE":                          "git push",
		"cat <<< 'git push' | bash -s x":                       "git push",
		"./gradlew :lib:publish":                               "gradlew :lib:publish",
		"sh <<< 'git push'":                                    "git push",
		"env bash <<< \"git push origin\"":                     "git push",
		"bash <<'E'\ngit push\nE":                              "git push",
		"echo 'git push' | sh":                                 "git push",
		"gh api -X POST repos/a/b/issues":                      "gh api repos/a/b/issues",
		"timeout --signal KILL 10 git commit -m x":             "git commit",
		"timeout -v 10 git commit -m x":                        "git commit",
		"nice --adjustment 5 git push":                         "git push",
		"ionice -c 3 git push":                                 "git push",
		"chrt --batch 0 git push":                              "git push",
		"taskset -c 0 git push":                                "git push",
		"exec -a x git push":                                   "git push",
		"flock -w 5 /tmp/l git commit -m x":                    "git commit",
		"flock /tmp/l -c 'git commit -m x'":                    "git commit",
		"/usr/bin/time -f %e git push":                         "git push",
		"env --chdir /tmp git push":                            "git push",
		"env -iS 'git push'":                                   "git push",
		"env '-Sgit push'":                                     "git push",
		"env --split-string='git push'":                        "git push",
		"stdbuf -o L -e L git push":                            "git push",
		"setsid --wait git push":                               "git push",
		"sudo -u me git push":                                  "git push",
		"doas -u me git push":                                  "git push",
		"su me -c 'git push'":                                  "git push",
		"runuser -u me -- git push":                            "git push",
		"xargs -I {} -P 4 git push {}":                         "git push",
		"unshare -r --map-group 0 git push":                    "git push",
		"nsenter -t 1 -m git push":                             "git push",
		"script -q -c 'git push' /dev/null":                    "git push",
		"script -q /dev/null git push":                         "git push",
		"watch -n 1 git push":                                  "git push",
		"watch --interval 1 'git push'":                        "git push",
		"parallel -j 2 git push ::: a b":                       "git push",
		"parallel 'git push {}' ::: a b":                       "git push",
		"sem --fg 'git push'":                                  "git push",
		"strace -o /tmp/t git push":                            "git push",
		"strace -c git push":                                   "git push",
		"ltrace -e malloc git push":                            "git push",
		"perf stat -e cycles git push":                         "git push",
		"rr record git push":                                   "git push",
		"gdb -batch -ex run --args git push":                   "git push",
		"valgrind --tool none git push":                        "git push",
		"catchsegv git push":                                   "git push",
		"systemd-run --user -p A=b --wait git push":            "git push",
		"firejail --quiet git push":                            "git push",
		"bwrap --bind / / --dev /dev git push":                 "git push",
		"faketime -f '+1d' git push":                           "git push",
		"chronic -v git push":                                  "git push",
		"unbuffer -p git push":                                 "git push",
		"run-one git push":                                     "git push",
		"ssh-agent -t 5 git push":                              "git push",
		"ls | entr -r git push":                                "git push",
		"hyperfine -w 1 'git push'":                            "git push",
		"poetry run git push":                                  "git push",
		"npx --yes git push":                                   "git push",
		"uv run --with x git push":                             "git push",
		"bundle exec git commit -m x":                          "git commit",
		"conda run -n base git push":                           "git push",
		"rustup run stable git push":                           "git push",
		"direnv exec . git push":                               "git push",
		"git -c alias.P=push p":                                "git push",
		"git -c alias.p='\"push\"' p":                          "git push",
		"git -c alias.a=b -c alias.b=push a":                   "git push",
		"git --config-env=alias.p=X p":                         "git p",
		"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p git p":    "git alias",
		"env GIT_CONFIG_KEY_0=alias.p git p":                   "git alias",
		"git -c help.autoCorrect=immediate pussh":              "git pussh",
		"git for-each-repo --config=a.b push":                  "git for-each-repo",
		"git branch -v new":                                    "git branch",
		"git branch --sort=refname new":                        "git branch",
		"git branch --format --list new":                       "git branch",
		"git branch --list --no-list new":                      "git branch",
		"git branch --del x":                                   "git branch",
		"git tag --sort=refname v9":                            "git tag",
		"git tag --format=x v9":                                "git tag",
		"git config --uns a.b":                                 "git config",
		"git config -f list a.b c":                             "git config",
		"git apply --ind p":                                    "git apply",
		"git restore --stag a":                                 "git restore",
		"git restore -WS a":                                    "git restore",
		"git symbolic-ref --del X":                             "git symbolic-ref",
		"git hash-object -tblob -w a":                          "git hash-object",
		"git stash -m list":                                    "git stash",
		"git notes --ref list add -m x":                        "git notes",
		"npm publish --dry-run --no-dry-run":                   "npm publish",
		"npm publish --dry-run=false":                          "npm publish",
		"npm publish --dry-run false":                          "npm publish false",
		"npm publish -- --dry-run":                             "npm publish",
		"npm publish --help=false":                             "npm publish",
		"hg commit -m --dry-run":                               "hg commit",
		"gh pr comment 1 -b --help":                            "gh pr comment",
		"pnpm --filter @a/b publish":                           "pnpm publish",
		"npm -w pkg publish":                                   "npm publish",
		"npm --prefix pkg publish":                             "npm publish",
		"yarn workspace a npm publish":                         "yarn npm publish",
		"cargo +nightly publish":                               "cargo publish",
		"docker --context x push y":                            "docker push y",
		"docker compose -f x.yml push":                         "docker compose push",
		"poetry -C d publish":                                  "poetry publish",
		"hg --cwd d commit -m x":                               "hg commit x",
		"mvn -pl app deploy":                                   "mvn deploy",
		"gh -R o/r pr comment 1 -b x":                          "gh pr comment",
		`printf 'git push\n' | sh`:                             "git push",
		`printf 'cd x\ngit push\n' | sh`:                       "git push",
		"git lfs push origin main":                             "git lfs",
		"git push --repo --dry-run":                            "git push",
		"git push -o --dry-run":                                "git push",
		"git push --dry-run --no-dry-run":                      "git push",
		"git commit -n -m x":                                   "git commit",
		"bash -O extglob -c 'git commit -m x'":                 "git commit",
		"echo 'git commit -m x' | { bash; }":                   "git commit",
		"(echo git tag v9) | sh":                               "git tag",
		"{ echo cd x; echo -e 'git tag v9'; } | (cat | sh)":    "git tag",
		"echo git tag v9 | tee f | sh":                         "git tag",
		"printf 'git %s v9\\n' tag | sh":                       "git tag",
		"printf '%s\\n' ls 'git tag v9' | sh":                  "git tag",
		`printf '\x67it tag v9' | sh`:                          "git tag",
		`printf %b 'git\ttag v9' | sh`:                         "git tag",
		`printf '%c%c%c tag v9' g i t | sh`:                    "git tag",
		`echo 'git \tag v9' | sh`:                              "git tag",
		`echo -e '\147it tag v9' | sh`:                         "git tag",
		"if true; then sh; fi <<< 'git tag v9'":                "git tag",
		"sh < <(echo git tag v9)":                              "git tag",
		"bash <(echo git tag v9)":                              "git tag",
		`eval "$(echo git tag v9)"`:                            "git tag",
		". /dev/stdin <<< 'git tag v9'":                        "git tag",
		"echo git tag v9 | source /dev/fd/0":                   "git tag",
		"echo tag v9 | xargs git":                              "git tag",
		"xargs git <<< 'tag v9'":                               "git tag",
		"echo v9 | timeout 5 xargs -I R git tag R":             "git tag",
		"echo tag | xargs -I{} git {} v9":                      "git tag",
		"echo git tag v9 | parallel":                           "git tag",
		"trap -- 'git tag v9' EXIT":                            "git tag",
		"eval -- git tag v9":                                   "git tag",
		"eval git tag v9 $x":                                   "git tag",
		`$'g\x69t' tag v9`:                                     "git tag",
		"[[ -v 'a[$(git tag v9)]' ]]":                          "git tag",
		"mapfile -c1 -C 'git tag v9' a <<< x":                  "git tag",
		"export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x":   "git alias",
		"declare -x 'GIT_CONFIG_KEY_0=alias.x'; git x":         "git alias",
		"git commit --dry-run --no-dry -m x":                   "git commit",
		"git branch --points-at HEAD --no-points-at foo":       "git branch",
		"git branch --points-at HEAD --no-poi foo":             "git branch",
		"git cvsexportcommit -c x":                             "git cvsexportcommit",
		"echo git tag v9 | {bash,-s}":                          "git tag",
		"echo git tag v9 |& sh":                                "git tag",
		"echo tag | xargs -I R git R v9":                       "git tag",
		"printf '%cit tag v9' gx | sh":                         "git tag",
		"printf '%*s' 9 'git tag v9' | sh":                     "git tag",
		"echo 'git tag v9' > >(sh)":                            "git tag",
		"{ echo 'git tag v9'; } >> >(nice bash)":               "git tag",
		"coproc git tag v9":                                    "git tag",
		"coproc sh <<< 'git tag v9'":                           "git tag",
		"coproc X { sh <<< 'git tag v9'; }":                    "git tag",
		"echo 'tag v9' | xargs --replace=R git R":              "git tag",
		"echo 'tag v9' | xargs -tiR git R":                     "git tag",
		"git mergetool":                                        "git mergetool",
		"gh api repos/x -fbody=x":                              "gh api repos/x",
		"gh api repos/x --field=body=x":                        "gh api repos/x",
		"gh api repos/x --raw-field=body=x":                    "gh api repos/x",
		"gh api repos/x --input=-":                             "gh api repos/x",
		"gh api repos/x -iF body=x":                            "gh api repos/x",
		"gh api repos/x -q -XGET -f a=b":                       "gh api repos/x",
		"gh api -X=DELETE repos/x":                             "gh api repos/x",
		"npm pub":                                              "npm pub",
		"npm unp x":                                            "npm unp x",
		"npm dist-tags add x":                                  "npm dist-tags add",
		"npx -c 'npm publish'":                                 "npm publish",
		"npx --call='npm publish'":                             "npm publish",
		"npm exec -c 'npm publish'":                            "npm publish",
		"yarn exec 'git push'":                                 "git push",
		"npx @changesets/cli publish":                          "cli publish",
		"npx @changesets/cli@2 publish":                        "cli publish",
		"npx @vscode/vsce@latest publish":                      "vsce publish",
		"python -mtwine upload x":                              "twine upload x",
		"python -Im twine upload x":                            "twine upload x",
		"python -W error -m twine upload x":                    "twine upload x",
		"gem pu x":                                             "gem pu x",
		"hg com -m x":                                          "hg com x",
		"rake build release":                                   "rake build release",
		"rake 'release[origin]'":                               "rake release[origin]",
		"sbt clean publish":                                    "sbt clean publish",
		"sbt ';clean; +core/publish'":                          "sbt ;clean; +core/publish",
		"mix do compile + hex.publish":                         "mix do compile",
		"mix do compile, hex.publish --yes":                    "mix do compile,",
		"lein do clean, deploy clojars":                        "lein do clean,",
		"mvn org.apache.maven.plugins:maven-deploy-plugin:3.0:deploy-file": "mvn org.apache.maven.plugins:maven-deploy-plugin:3.0:deploy-file",
		"mvn com.google.cloud.tools:jib-maven-plugin:3.4.0:build@x":        "mvn com.google.cloud.tools:jib-maven-plugin:3.4.0:build@x",
		"git add -- -n": "git add",
	} {
		d := CheckMutation(command)
		if d == nil || d.Rule != rule || d.Code != CodeBackground || d.Hint != MutationHint {
			t.Errorf("%s: %+v, want rule %q", command, d, rule)
		}
	}
	for _, command := range []string{
		"git status", "git log -1", "git diff HEAD~1", "git show HEAD:a", "git branch", "git branch -a", "git branch --show-current", "git branch --contains HEAD",
		"git tag", "git tag -l 'v*'", "git config --get user.name", "git config user.name", "git config -l", "git config list", "git stash list", "git worktree list",
		"git remote -v", "git remote get-url origin", "git reflog", "git notes list", "git submodule status", "git apply --check p", "git apply p", "git restore a",
		"git -C sub rev-parse HEAD", "git symbolic-ref HEAD", "git merge-base a b", "git ls-files", "git blame a", "git grep x", "git bisect log", "git hash-object a",
		"echo git commit", "grep -r 'git commit' .", "./git-tool commit", "npm test", "npm pack", "npm publish --dry-run", "cargo build", "docker build .", "gh pr view 1", "make publish-docs",
		"goreleaser release --snapshot --clean", "goreleaser build", "ko build --local .", "python3 setup.py sdist", "cat <<'E' | wc\ngit push\nE", "npm version", "docker buildx build .", "docker build --push=false .", "python -m build", "python -m pytest publish", "npx jest publish",
		"npx semantic-release --dry-run", "npm run publish", "uv run pytest", "mix hex.info", "hg status", "svn status", "nuget restore", "deno test", "crane manifest x", "./gradlew publishToMavenLocal",
		"gh api repos/x", "gh api -X GET search/issues -f q=x", "gh api -XGET x -Fa=b", "gh api --method=get x", "gh api -X=GET x -f a=b", "gh api x -H 'Accept: -f'", "gh api -i x --jq .a", "npm un x", "npm st", "npm r x", "npm v x", "npm up", "npm pack",
		"hg co x", "gem list", "rake test", "sbt test", "sbt 'testOnly publish'", "sbt publishLocal", "mix do deps.get + test", "lein do clean, test", "mvn dependency:tree", "mvn site:site", "python -c 'x' -m twine upload",
		"python x.py -m twine upload", "npx jest -t 'git push works'", "npx -c 'npm test'", "npx @changesets/cli status", "git branch --no-color --list 'x*'", "git branch --no-contains x", "git branch --no-merged x", "git add --dry-run .",
		"echo 'git status' | { bash; }", "(echo git tag v9) | cat", "echo tag v9 | xargs echo git", "echo a b | xargs git log --", "printf '%s' 'git tag v9'", "bash x.sh <<< ok", "export GIT_CONFIG_COUNT=0", "eval -- git status", "[[ -v 'a[1]' ]]",
		"git branch -v", "git branch -v --sort -committerdate", "git branch --sort refname --format '%(refname)' --list 'a*'", "git tag -n5 v1", "git tag --sort version:refname", "git tag --format x -l v1",
		"git config --file f --get a.b", "git config -f f a.b", "git config --type bool a.b", "git stash show -p", "git notes --ref x list", "git restore -W a",
		"timeout -k 5 60 grep git commit", "find . -print0 | xargs -0 grep -l git", "nice -n 5 grep -rn git .", "command -v git", "perf stat -e cycles ls", "watch -n 1 ls", "poetry run pytest git", "npm publish --access public --dry-run", "cargo publish --dry-run --help",
		"xargs -I{} echo 'git commit'", "conda run -n base pytest", "git -c alias.l=log l", "GIT_CONFIG_COUNT=0 git status",
		"git lfs ls-files", "git add -n .", "git push --dry-run", "git push origin --dry-run", "gh -R o/r pr view 1", "./gradlew test --tests publishToQueue", "mvn -pl deploy test",
		"grep sh <<< 'git push'", "echo 'git push' | cat", "sh <<< 'git status'", "cat <<'E' >x\ngit push\nE",
	} {
		if d := CheckMutation(command); d != nil {
			t.Errorf("%s: %+v, want nothing", command, d)
		}
	}
}

// A command of many words that may each be the command that another one runs is refused before
// it takes long to say so.
func TestMutationsAreBounded(t *testing.T) {
	t.Parallel()
	var d *Denial
	took := processor.On(t, func() { d = CheckMutation(strings.Repeat("nice -n ", 2000) + "ls") })
	if d == nil || d.Code != CodeBackground || took > 5*time.Second {
		t.Errorf("%+v after %s", d, took)
	}
	for what, command := range map[string]string{
		"braces": strings.Repeat("env {1..900};", 9000), "pipes": strings.Repeat("echo x |sh|", 11000) + "ls",
	} {
		took = processor.On(t, func() {
			CheckShell(command)
			Read(command)
			d = CheckMutation(command)
		})
		if d == nil || took > 10*time.Second {
			t.Errorf("%s: %+v after %s", what, d, took)
		}
	}
	var note string
	took = processor.On(t, func() { _, note = CheckShell(strings.Repeat("nice -n ", 2000) + "ls") })
	if note == "" || took > 5*time.Second {
		t.Errorf("%q after %s", note, took)
	}
}

// The chain gives that code whatever the tool, before any rule; a test command is the
// project's own.
func TestMutationsInTheChain(t *testing.T) {
	t.Parallel()
	full := Grant(ModeVerify, Local, true)
	shell := Call{Known: true, Offered: true, Class: "exec", Mode: ModeVerify, Tool: "run_bash", Trust: Local, Command: "git config user.name x && go test ./..."}
	for _, c := range []Call{
		shell,
		{Known: true, Offered: true, Class: "write", Mode: ModeVerify, Tool: "write_file"},
		{Known: true, Class: "git_write", Mode: ModePlan, Tool: "git_commit"},
		{Known: true, Class: "publish", Mode: ModeVerify, Tool: "pr_add_comment"},
	} {
		if d := Decide(c, full); d == nil || d.Code != CodeBackground || d.Hint != MutationHint {
			t.Errorf("%s: %+v", c.Tool, d)
		}
	}
	shell.Tool = testTool
	if d := Decide(shell, full); d != nil {
		t.Errorf("a test command: %+v", d)
	}
}

// A text that a builtin evaluates ends where it ends, whatever stands in it: no line of it makes
// a text of another kind, in which bash would run nothing, of what comes behind.
func TestEvaluatedTextHasNoEnd(t *testing.T) {
	t.Parallel()
	const behind = "\nEND_OF_TEXT\n: <<\"X\"\n$(git tag v9)\nX\n"
	for _, command := range []string{"compgen -W 'a" + behind + "'", "compgen -W 'END_OF_TEXT_" + behind + "'", "[[ -v 'a[$(ls)" + behind + "]' ]]", "test -v 'a[`ls`" + behind + "]'"} {
		if d := CheckMutation(command); d == nil || d.Rule != "git tag" {
			t.Errorf("%q: %+v", command, d)
		}
	}
}
