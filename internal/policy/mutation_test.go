package policy

import "testing"

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
		"gh api -X POST repos/a/b/issues":                      "gh api POST",
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
		"grep sh <<< 'git push'", "echo 'git push' | cat", "sh <<< 'git status'", "cat <<'E' >x\ngit push\nE",
	} {
		if d := CheckMutation(command); d != nil {
			t.Errorf("%s: %+v, want nothing", command, d)
		}
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
