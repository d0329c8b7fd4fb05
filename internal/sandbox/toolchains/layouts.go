package toolchains

import (
	"path/filepath"
	"slices"
	"strings"
)

// A layout is how one kind of toolchain lies on a disk, and what of it commands
// need: everything else in it, such as credentials, stays out of reach.
type layout struct {
	name  string
	at    []string // how the path of one ends, or the whole of it; * is a part of a name
	env   []string // variables that say where one is
	below string   // what follows at and env, where only a part belongs together
	has   []string // files by which one is known wherever it is; one of them is enough
	show  []string // what commands need, below the path; "." is all of it
	set   string   // variable by which its programs find it, where there is the first of show
	leads []string // other installations that it needs
	files []string // settings of the operator's that it needs: NAME=PATH below the home, where the variable names no other
}

// installation is what programs in a bin directory need beside it, where nothing
// else is known of them.
var installation = strings.Fields("bin sbin lib lib32 lib64 libexec include share")

// versioned is what rbenv and those that were made after it have.
var versioned = strings.Fields("versions bin shims libexec plugins version *.d")

// layouts is one row for each kind. A path belongs to the first row that it lies in.
var layouts = []layout{
	{name: "tool cache of a runner", at: []string{"hostedtoolcache", "_tool"}, env: []string{"RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY"}, below: "*/*/*", show: []string{"."}},
	{name: "cargo", at: []string{".cargo"}, env: []string{"CARGO_HOME"}, show: []string{"bin"}, leads: []string{"../.rustup"}},
	{name: "rustup", at: []string{".rustup"}, env: []string{"RUSTUP_HOME"}, show: []string{"toolchains", "settings.toml", "update-hashes"}, set: "RUSTUP_HOME"},
	{name: "pyenv", at: []string{".pyenv"}, env: []string{"PYENV_ROOT"}, show: versioned, set: "PYENV_ROOT"},
	{name: "rbenv", at: []string{".rbenv"}, env: []string{"RBENV_ROOT"}, show: versioned, set: "RBENV_ROOT"},
	{name: "nodenv", at: []string{".nodenv"}, env: []string{"NODENV_ROOT"}, show: versioned, set: "NODENV_ROOT"},
	{name: "goenv", at: []string{".goenv"}, env: []string{"GOENV_ROOT"}, show: versioned, set: "GOENV_ROOT"},
	{name: "jenv", at: []string{".jenv"}, env: []string{"JENV_ROOT"}, show: versioned, set: "JENV_ROOT"},
	{name: "phpenv", at: []string{".phpenv"}, env: []string{"PHPENV_ROOT"}, show: versioned, set: "PHPENV_ROOT"},
	{name: "rvm", at: []string{".rvm"}, env: []string{"rvm_path"}, show: strings.Fields("bin rubies gems scripts environments wrappers lib")},
	{name: "nvm", at: []string{".nvm"}, env: []string{"NVM_DIR"}, show: []string{"versions"}},
	{name: "fnm", at: []string{".fnm", ".local/share/fnm"}, env: []string{"FNM_DIR"}, show: []string{"node-versions", "aliases"}},
	{name: "volta", at: []string{".volta"}, env: []string{"VOLTA_HOME"}, show: []string{"bin", "tools", "layout.v*"}, set: "VOLTA_HOME"},
	{name: "sdkman", at: []string{".sdkman"}, env: []string{"SDKMAN_DIR"}, show: []string{"candidates"}},
	{name: "asdf", at: []string{".asdf"}, env: []string{"ASDF_DATA_DIR", "ASDF_DIR"}, show: strings.Fields("shims bin installs lib plugins ../.tool-versions"), set: "ASDF_DATA_DIR"},
	{name: "mise", at: []string{".local/share/mise"}, env: []string{"MISE_DATA_DIR"}, show: []string{"shims", "installs"}, set: "MISE_DATA_DIR", files: []string{"MISE_GLOBAL_CONFIG_FILE=.config/mise/config.toml"}},
	{name: "pipx", at: []string{"pipx"}, env: []string{"PIPX_HOME"}, below: "venvs/*", show: []string{".", "../../shared"}},
	{name: "uv tools", at: []string{".local/share/uv"}, below: "tools/*", env: []string{"UV_TOOL_DIR"}, show: []string{"."}},
	{name: "uv python", at: []string{".local/share/uv"}, below: "python/*", env: []string{"UV_PYTHON_INSTALL_DIR"}, show: []string{"."}},
	{name: ".NET", at: []string{".dotnet"}, env: []string{"DOTNET_ROOT"}, show: strings.Fields("dotnet host sdk shared packs templates sdk-manifests tools"), set: "DOTNET_ROOT"},
	{name: "composer", at: []string{".composer", ".config/composer"}, env: []string{"COMPOSER_HOME"}, show: []string{"vendor"}},
	{name: "ghcup", at: []string{".ghcup"}, show: []string{"bin", "ghc", "lib"}},
	{name: "opam", at: []string{".opam"}, env: []string{"OPAMROOT"}, below: "*", show: []string{"bin", "lib", "share"}},
	{name: "juliaup", at: []string{".julia/juliaup"}, below: "julia-*", show: []string{"."}},
	{name: "perlbrew", at: []string{"perl5/perlbrew"}, env: []string{"PERLBREW_ROOT"}, show: []string{"bin", "perls"}},
	{name: "Homebrew", at: []string{".linuxbrew"}, env: []string{"HOMEBREW_PREFIX"}, show: strings.Fields("bin sbin lib opt Cellar include share libexec")},
	{name: "Nix", at: []string{"/nix"}, show: []string{"store", "var/nix/profiles"}},
	{name: "Android", at: []string{"Android/Sdk"}, env: []string{"ANDROID_HOME", "ANDROID_SDK_ROOT"}, show: strings.Fields("build-tools platform-tools platforms cmdline-tools tools ndk cmake licenses emulator")},
	{name: "package of Node", at: []string{"lib/node_modules"}, below: "@*/*", show: []string{"."}},
	{name: "package of Node", at: []string{"lib/node_modules"}, below: "*", show: []string{"."}},
	{name: "packages of Node", at: []string{"node_modules"}, show: []string{"."}}, // they need each other

	{name: "Go", has: []string{"pkg/tool", "src/runtime/runtime.go"}, show: strings.Fields("bin pkg src lib misc api go.env VERSION")},
	{name: "Java", has: []string{"lib/modules", "jre/lib/rt.jar", "lib/rt.jar"}, show: strings.Fields("bin lib jre conf jmods legal include release")},
	{name: "Node", has: []string{"include/node/node.h", "lib/node_modules/npm"}, show: strings.Fields("bin lib/node_modules include/node share/systemtap")},
	{name: "conda", has: []string{"conda-meta"}, show: strings.Fields("bin condabin conda-meta lib lib64 libexec include share ssl *-conda-linux-gnu")},
	{name: "environment of Python", has: []string{"pyvenv.cfg"}, show: strings.Fields("bin lib lib64 include pyvenv.cfg")},
	{name: "Python", has: []string{"lib/python3*/os.py"}, show: strings.Fields("bin lib include")},
	{name: "Rust", has: []string{"lib/rustlib"}, show: strings.Fields("bin lib libexec")},
	{name: "Ruby", has: []string{"lib/ruby"}, show: strings.Fields("bin lib include share")},
	{name: "Maven", has: []string{"boot/plexus-classworlds*.jar"}, show: strings.Fields("bin boot lib conf")},
	{name: "Gradle", has: []string{"lib/gradle-launcher*.jar", "lib/gradle-core*.jar"}, show: strings.Fields("bin lib init.d")},
}

// toolchainVariables are variables of installations that are known by what is in
// them; others stand in layouts. Those of hosted images have a version after the name.
var toolchainVariables = strings.Fields("GOROOT JAVA_HOME NODE_HOME GRADLE_HOME M2_HOME MAVEN_HOME CONDA pythonLocation Python_ROOT_DIR Python3_ROOT_DIR " +
	"Python2_ROOT_DIR ANT_HOME SWIFT_PATH KOTLIN_HOME SCALA_HOME GHCUP_INSTALL_BASE_PREFIX VIRTUAL_ENV")

func toolchainVariable(name string) bool {
	for _, known := range toolchainVariables {
		rest, ok := strings.CutPrefix(name, known)
		if ok && (rest == "" || strings.HasPrefix(rest, "_")) {
			return true
		}
	}
	return slices.ContainsFunc(layouts, func(l layout) bool { return l.below == "" && slices.Contains(l.env, name) })
}

// layoutOf finds the layout that a path lies in, by its names or by the
// operator's variables, and where that begins.
func (f *finder) layoutOf(path string) (layout, string, bool) {
	for _, l := range layouts {
		for _, at := range l.at {
			if root, ok := ending(path, filepath.Join(at, l.below)); ok && !f.broad(root) {
				return l, root, true
			}
		}
		for _, kv := range f.Env {
			name, value, _ := strings.Cut(kv, "=")
			if !slices.Contains(l.env, name) || !filepath.IsAbs(value) {
				continue
			}
			for _, dir := range []string{filepath.Clean(value), f.resolve(filepath.Clean(value))} {
				if root, ok := beginning(path, dir, l.below); ok && !f.broad(root) {
					return l, root, true
				}
			}
		}
	}
	return layout{}, "", false
}

// contentOf finds the layout of an installation by what is in it.
func (f *finder) contentOf(prefix string) (layout, bool) {
	for _, l := range layouts {
		for _, mark := range l.has {
			if slices.ContainsFunc(f.glob(filepath.Join(prefix, mark)), f.exists) {
				return l, true
			}
		}
	}
	return layout{}, false
}

// ending is the shortest beginning of path that ends as the pattern says.
func ending(path, pattern string) (string, bool) {
	names := strings.Split(strings.Trim(path, "/"), "/")
	rest, whole := strings.CutPrefix(pattern, "/")
	want := strings.Split(rest, "/")
	for n := len(want); n <= len(names) && (!whole || n == len(want)); n++ {
		if match(want, names[n-len(want):n]) {
			return "/" + filepath.Join(names[:n]...), true
		}
	}
	return "", false
}

// beginning is the part of path that is dir and below it what the pattern says.
func beginning(path, dir, pattern string) (string, bool) {
	if !Within(dir, path) {
		return "", false
	}
	if pattern == "" {
		return dir, true
	}
	want := strings.Split(pattern, "/")
	names := strings.Split(strings.Trim(path[len(strings.TrimRight(dir, "/")):], "/"), "/")
	if len(names) < len(want) || !match(want, names[:len(want)]) {
		return "", false
	}
	return filepath.Join(append([]string{dir}, names[:len(want)]...)...), true
}

func match(patterns, names []string) bool {
	for i, pattern := range patterns {
		if ok, err := filepath.Match(pattern, names[i]); err != nil || !ok {
			return false
		}
	}
	return true
}
