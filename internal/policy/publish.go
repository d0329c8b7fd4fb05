package policy

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/pattern"
)

// table reads lines of a program, a colon, and what it has, parted by commas. As text it takes a
// third of the room in the program, and is read when it is needed.
func table(text string) func() map[string][]string {
	return sync.OnceValue(func() map[string][]string {
		out := map[string][]string{}
		for line := range strings.Lines(strings.TrimSpace(text)) {
			name, has, _ := strings.Cut(strings.TrimSpace(line), ":")
			for one := range strings.SplitSeq(has, ",") {
				out[name] = append(out[name], strings.TrimSpace(one))
			}
		}
		return out
	})
}

// publishing has for each program how calls of it begin that send a package, an image, a
// release or a commit to others, or that make a version for it; flags are left out of them.
// "" is any call.
var publishing = table(`
npm: publish, unpublish, deprecate, undeprecate, dist-tag add, dist-tag set, dist-tag rm, dist-tag remove, owner add, owner rm, owner remove, access set, access grant, access revoke, token create, token revoke, trust, stage publish
pnpm: publish, unpublish, deprecate, undeprecate, dist-tag add, dist-tag set, dist-tag rm, dist-tag remove
bun: publish
yarn: publish, version, npm publish, npm tag add, npm tag remove, tag add, tag remove, owner add, owner remove, workspaces foreach npm publish
lerna: publish, version
rush: publish, version
changeset: publish, tag
@changesets/cli: publish, tag
beachball: publish
nx: release
np:
release-it:
semantic-release:
standard-version:
jsr: publish
deno: publish
vsce: publish, unpublish
ovsx: publish
cargo: publish, yank, owner, release, smart-release, workspaces publish, ws publish, dist host
cargo-release:
poetry: publish
uv: publish
flit: publish
hatch: publish
pdm: publish
rye: publish
maturin: publish, upload
twine: upload, register
anaconda: upload
gem: push, yank, owner, release
rake: release
docker: push, image push, manifest push, plugin push, compose push, buildx imagetools create
docker-compose: push
podman: push, image push, manifest push
nerdctl: push, image push, compose push
buildah: push, manifest push
crane: push, copy, cp, append, tag, delete, mutate, rebase, flatten
regctl: image copy, image mod, artifact put, tag rm
skopeo: push, copy, sync, delete
oras: push, copy, cp, attach, tag
helm: push, copy, cm-push
ko: build, publish, resolve, apply, create
goreleaser: release, publish, announce, continue
nuget: push, delete
dotnet: nuget push, nuget delete
choco: push
paket: push
mix: hex.publish, hex.retire, hex.owner
rebar3: hex publish, hex cut, hex retire
cabal: upload
stack: upload
luarocks: upload
dart: pub publish
flutter: pub publish
pod: trunk push, repo push
opam: publish
elm: publish
nimble: publish
lein: deploy, release
sbt: publish, publishSigned, release, ci-release, sonatypeRelease, sonatypeBundleRelease
hg: push, commit, ci
svn: commit, ci, import
bzr: push, commit
fossil: push, sync, commit
jj: git push
darcs: push, record, send
sl: push, commit
cvs: commit, ci, import`)

// running are the programs that run the one that follows these words of theirs.
var running = table(`
npx:
pnpx:
bunx:
uvx:
npm: exec, x
pnpm: dlx, exec
yarn: dlx, exec
bun: x
conda: run
mamba: run
micromamba: run
rustup: run
direnv: exec
asdf: exec
pipx: run
uv: run, tool run
poetry: run
pdm: run
rye: run
hatch: run
pipenv: run
bundle: exec
mise: exec, x`)

// settings are options of these programs whose value is the next word, which is no word of
// the command.
var settings = table(`
npm: -w, --workspace, -C, --prefix, --registry, --tag, --otp, --access, --userconfig, --cache, --loglevel
pnpm: -F, --filter, --filter-prod, -C, --dir, --prefix, --registry, --tag, --otp, --access, --reporter, --loglevel
bun: --cwd, --filter, -c, --config, --registry, --tag
yarn: --cwd, --registry, --tag, --include, --exclude, --from
lerna: --loglevel, --scope, --concurrency
deno: -c, --config, --import-map
cargo: -p, --package, --manifest-path, --target, --target-dir, --color, -Z, --config, -C, --features, -F, -j, --jobs, --profile, --registry, --index
poetry: -C, --directory, -P, --project
uv: --directory, --project, --config-file, --cache-dir, -p, --python
pdm: -p, --project, -c, --config
hatch: -e, --env, -p, --project
pipenv: --python
conda: -n, --name, -p, --prefix
docker: -c, --context, -H, --host, --config, -l, --log-level, --tlscacert, --tlscert, --tlskey, -f, --file, -p, --project-name, --project-directory, --env-file, --profile
docker-compose: -c, --context, -H, --host, -f, --file, -p, --project-name, --project-directory, --env-file, --profile
podman: -c, --connection, --url, --root, --runroot, --log-level, --identity
nerdctl: -n, --namespace, -a, --address, -H, --host, -f, --file, -p, --project-name
buildah: --root, --runroot, --log-level
skopeo: --policy, --tmpdir, --command-timeout
helm: -n, --namespace, --kube-context, --kubeconfig, --registry-config
hg: --cwd, -R, --repository, --config, --encoding
svn: --config-dir, --config-option, --username, --password
jj: -R, --repository, --at-operation, --config
mix: --sname
mvn: -pl, --projects, -f, --file, -s, --settings, -gs, --global-settings, -P, --activate-profiles, -rf, --resume-from, -T, --threads, -l, --log-file
mvnw: -pl, --projects, -f, --file, -s, --settings, -gs, --global-settings, -P, --activate-profiles, -rf, --resume-from, -T, --threads, -l, --log-file
gradle: --tests, -p, --project-dir, -b, --build-file, -c, --settings-file, -x, --exclude-task, -I, --init-script, -g, --gradle-user-home, --max-workers, --console
gradlew: --tests, -p, --project-dir, -b, --build-file, -c, --settings-file, -x, --exclude-task, -I, --init-script, -g, --gradle-user-home, --max-workers, --console
gh: -R, --repo, --hostname, -X, --method
glab: -R, --repo`)

// tasks are the programs whose words are each a task, and joined are those that run several tasks
// behind the word do.
var tasks, joined = []string{"rake", "sbt"}, []string{"mix", "lein"}

// calls are the commands in the operands of a call: one, but for programs that run tasks.
func calls(name string, words []string) [][]string {
	switch {
	case slices.Contains(tasks, name):
		var out [][]string
		for _, w := range words {
			for one := range strings.SplitSeq(w, ";") { // of sbt
				if fields := strings.Fields(one); len(fields) > 0 {
					task, _, _ := strings.Cut(fields[0], "[") // words for a task of rake
					task = strings.TrimPrefix(task, "+")      // for all versions of Scala
					fields[0] = task[strings.LastIndexAny(task, "/:")+1:]
					out = append(out, fields)
				}
			}
		}
		return out
	case slices.Contains(joined, name) && len(words) > 0 && words[0] == "do":
		out := [][]string{nil}
		for _, w := range words[1:] {
			one, ends := strings.CutSuffix(w, ",")
			if one != "+" {
				out[len(out)-1] = append(out[len(out)-1], one)
			}
			if ends || w == "+" {
				out = append(out, nil)
			}
		}
		return out
	}
	return [][]string{words}
}

// abbreviating are the programs that take the beginning of a command for it, with the short names
// that are those of other commands.
var abbreviating = table(`
npm: un
gem:
hg: co`)

// isCommand says whether the words of a call begin with those of a command.
func isCommand(name string, words []string, sequence string) bool {
	s := strings.Fields(sequence)
	if len(words) < len(s) {
		return false
	}
	if len(s) == 0 || slices.Equal(words[:len(s)], s) {
		return true
	}
	other, abbreviates := abbreviating()[name]
	first := words[0]
	if own, ok := renamed[first]; ok && (name == "npm" || name == "pnpm") {
		first = own
	}
	begins := first == s[0] || abbreviates && len(first) > 1 && strings.HasPrefix(s[0], first) && !slices.Contains(other, first)
	return begins && slices.Equal(words[1:len(s)], s[1:])
}

// renamed are second names of commands of npm.
var renamed = map[string]string{"dist-tags": "dist-tag", "author": "owner", "verison": "version"} //nolint:misspell // npm takes it

// pythonModule is what python runs by its option -m, which may stand in a group and have the name
// in its word, and what comes behind it.
func pythonModule(rest []string) (name string, left []string) {
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		at := strings.IndexAny(a, "mcWX")
		switch {
		case !strings.HasPrefix(a, "-") || a == "-" || a == "--":
			return "", nil
		case strings.HasPrefix(a, "--") || at < 0:
		case a[at] == 'c':
			return "", nil
		case a[at] == 'm' && at+1 < len(a):
			return a[at+1:], rest[i+1:]
		case a[at] == 'm' && i+1 < len(rest):
			return rest[i+1], rest[i+2:]
		case at+1 == len(a): // the value is the next word
			i++
		}
	}
	return "", nil
}

// mavenSends says whether a phase or goal sends something away: a goal is named by the prefix of
// its plugin, or by group, artifact and version.
func mavenSends(word string) bool {
	parts := strings.Split(word, ":")
	if len(parts) == 1 {
		return word == "deploy"
	}
	plugin := parts[0]
	if len(parts) > 2 {
		plugin = parts[1]
	}
	plugin = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(plugin, "maven-"), "-plugin"), "-maven")
	goal, _, _ := strings.Cut(parts[len(parts)-1], "@") // of an execution
	switch plugin {
	case "deploy", "release", "nexus-staging", "central-publishing":
		return true
	case "jib":
		return goal == "build"
	}
	return goal == "deploy"
}

// operands are the words of a call that are neither options nor their values, nor, for
// cargo, the name of a toolchain.
func operands(name string, rest []string) []string {
	var out []string
	for i := 0; i < len(rest); i++ {
		switch {
		case slices.Contains(settings()[name], rest[i]):
			i++
		case strings.HasPrefix(rest[i], "-"), name == "cargo" && strings.HasPrefix(rest[i], "+"):
		default:
			out = append(out, rest[i])
		}
	}
	if name == "yarn" && len(out) > 1 && out[0] == "workspace" {
		out = out[2:] // what stands behind the name is run there
	}
	return out
}

// triedOnly says whether a command only says what it would do. An option that is taken back, or
// that may be the value of another one, does not make it so.
func triedOnly(rest []string) bool {
	tried := false
	for i, a := range rest {
		word, is, given := strings.Cut(a, "=")
		next := ""
		if i+1 < len(rest) {
			next = rest[i+1]
		}
		switch {
		case a == "--":
			return tried
		case word == "--no-dry-run", word == "--no-help":
			return false
		case word != "--dry-run" && word != "--help":
		case given && is != "true" || slices.Contains([]string{"false", "0", "no", "null"}, next):
			return false
		case i > 0 && takesText.MatchString(rest[i-1]):
		default:
			tried = true
		}
	}
	return tried
}

// takesText are options whose value is the next word, whatever it is.
var takesText = pattern.New(`^-[a-zA-Z]$|^--(message|body|title|notes|tag|otp|token|description|comment|subject)$`)

// publishes names what sends a package, an image or a word to others; "" for none.
func publishes(name string, rest []string) string {
	name = strings.TrimSuffix(name, ".exe")
	has := func(flags ...string) bool {
		return slices.ContainsFunc(rest, func(a string) bool { return slices.Contains(flags, a) })
	}
	if triedOnly(rest) {
		return ""
	}
	words := operands(name, rest)
	is := func(sequence string) bool { return isCommand(name, words, sequence) }
	for _, first := range running()[name] {
		if !is(first) {
			continue
		}
		left := rest
		for _, w := range words[len(strings.Fields(first)):min(len(words), len(strings.Fields(first))+2)] { // the first may be the value of a flag
			full := w
			if at := strings.LastIndexByte(w, '@'); at > 0 { // of a version
				full = w[:at]
			}
			left = left[slices.Index(left, w)+1:]
			for _, program := range []string{full, path.Base(full)} {
				if what := publishes(program, left); what != "" {
					return what
				}
			}
		}
	}
	sent := slices.ContainsFunc(calls(name, words), func(call []string) bool {
		return slices.ContainsFunc(publishing()[name], func(s string) bool { return isCommand(name, call, s) })
	})
	switch {
	case name == "npm" || name == "pnpm" || name == "bun":
		sent = sent || is("version") && len(words) > 1
	case strings.HasPrefix(name, "python") || name == "py":
		if module, left := pythonModule(rest); module != "" {
			return publishes(module, left)
		}
		sent = len(words) > 1 && path.Base(words[0]) == "setup.py" && (slices.Contains(words, "upload") || slices.Contains(words, "register"))
	case name == "docker" || name == "podman" || name == "nerdctl" || name == "buildah":
		sent = sent || has("--push", "--push=true") || slices.ContainsFunc(rest, func(a string) bool {
			return strings.Contains(a, "type=registry") || strings.Contains(a, "push=true")
		})
	case name == "goreleaser":
		sent = sent && !has("--snapshot", "--skip=publish", "--skip-publish")
	case name == "ko":
		sent = sent && !has("--local", "-L", "--push=false")
	case name == "mvn" || name == "mvnw":
		sent = slices.ContainsFunc(words, mavenSends)
	case name == "gradle" || name == "gradlew":
		sent = slices.ContainsFunc(words, func(w string) bool {
			task := w[strings.LastIndexByte(w, ':')+1:]
			return task == "publish" || task == "jib" || task == "uploadArchives" || task == "publishPlugins" ||
				strings.HasPrefix(task, "publish") && strings.Contains(task, "To") && !strings.HasSuffix(task, "ToMavenLocal")
		})
	case name == "gh" || name == "glab" || name == "hub":
		sent = ghMutates(words, rest)
	}
	if !sent {
		return ""
	}
	return strings.TrimSpace(path.Base(name) + " " + strings.Join(words[:min(len(words), 2)], " "))
}
