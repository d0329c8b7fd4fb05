package languages

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/python"
)

// Lockfiles are what package managers of Node.js need for what they install.
var Lockfiles = []string{"pnpm-lock.yaml", "yarn.lock", "package-lock.json", "npm-shrinkwrap.json", "bun.lock", "bun.lockb", "uv.lock", "poetry.lock", "Pipfile.lock"}

// A manager is a package manager, and how setup of a head that is not trusted keeps it from
// running what the head names. docs/security.md has the same table; a test compares them.
type manager struct {
	name     string
	surfaces string // what in a tree has it run a program
	closed   string // how that is closed
	attack   string // the test that tries it with the manager itself; empty: untested

	// calls are the words in commands of setup that stand for one that is untested.
	calls []string
}

// managers are those that the gate starts by itself. To add one is to add a row, the
// commands in its ecosystem's file, and an attack.
func managers() []manager {
	const (
		nodeStage = "fetches among cut manifests (no scripts; `packageManager` as in the base), lockfiles, and `.npmrc` cut to registries and how packages are laid out; install scripts off"
		baseOnly  = "the manifest is code, or names code: only the base's setup has registries; the head's runs without a network, with what the base has fetched"
		wheels    = "not run with a network: pip downloads wheels, named by manifests that are read and not run, in the versions of the lockfile; what has to be built is built without a network"
	)
	return []manager{
		{"go", "`go.mod`'s toolchain line, `go env -w`", "`go mod download` alone, with `GOTOOLCHAIN=local` and `GOENV=off`", "TestSetupCannotPoisonModules", nil},
		{"npm", "`.npmrc` (`git`, `script-shell`, `node-options`, `onload-script`), scripts, `prepare` of git dependencies", nodeStage, "TestSetupRunsNothingOfTheHead", nil},
		{"pnpm", "`.pnpmfile.cjs`, settings in `pnpm-workspace.yaml` and `package.json` (`configDependencies`, `pnpmfile`, `useNodeVersion`), `.npmrc`, scripts", "`pnpm fetch` among the same data; `pnpm-workspace.yaml` cut to packages and versions", "TestSetupRunsNothingOfTheHead", nil},
		{"yarn", "`.yarnrc` (`yarn-path`), `.npmrc`, scripts", nodeStage + "; no `.yarnrc`, `YARN_IGNORE_PATH=1`", "TestSetupRunsNothingOfTheHead", nil},
		{"yarn (2 and later)", "`.yarnrc.yml` (`yarnPath`, `plugins`), constraints, scripts, `exec:` packages", nodeStage + "; `.yarnrc.yml` cut to registries and layout; a plug-in refuses packages that a program makes (`exec:`, git); the program of `yarnPath` is the base's, or with `YARN_IGNORE_PATH=1` the machine's", "TestSetupRunsNothingOfTheHead", nil},
		{"bun", "`bunfig.toml` (`preload`, `install.security.scanner`), `.env`, scripts", nodeStage + "; no `bunfig.toml`, no `.env`", "TestSetupRunsNothingOfTheHead", nil},
		{"corepack", "`packageManager`, `.corepack.env`", "`packageManager` is the base's, which says which version the lockfile is for; `COREPACK_ENV_FILE=0`", "TestSetupRunsNothingOfTheHead", nil},
		{"pip", "build back ends and `setup.py`, of the project and of source distributions; options and paths in requirement files; modules and a `.venv` in the tree; `.pth` files of wheels", "an environment outside of the tree downloads wheels, named by requirements that are cut to names, versions and markers; installing and building have no network", "TestSetupRunsNothingOfTheHead", nil},
		{"poetry", "build scripts, `requires-plugins`, `poetry.toml`, a `.venv` in the tree", wheels, "TestSetupRunsNothingOfTheHead", nil},
		{"pipenv", "`Pipfile` paths, a `.venv` in the tree", wheels, "", []string{"pipenv"}},
		{"uv", "build back ends, `uv.toml`, a `.venv` in the tree", wheels, "", []string{"uv"}},
		{"cargo", "`.cargo/config.toml` (`build.rustc`, `rustc-wrapper`, aliases, credential providers, `env`), `rust-toolchain.toml`", "`cargo fetch` among `Cargo.toml` and `Cargo.lock` files and empty sources; build scripts run without a network", "TestSetupRunsNothingOfTheHead", nil},
		{"Composer", "scripts, plug-ins, `config`", "`--no-scripts --no-plugins` among `composer.lock` and `composer.json` cut to names and repositories", "TestSetupRunsNothingOfTheHead", nil},
		{"bundler", "`Gemfile`, gemspecs, plug-ins, `.bundle/config`, extensions of gems", baseOnly, "TestSetupRunsNothingOfTheHead", nil},
		{"mix", "`mix.exs`, `mix.lock`, `config/*.exs`", baseOnly, "TestSetupRunsNothingOfTheHead", nil},
		{"Maven", "plug-ins and extensions in `pom.xml` and its parents, `.mvn/extensions.xml`, `.mvn/jvm.config`, `.mvn/maven.config`, the wrapper", baseOnly, "TestSetupRunsNothingOfTheHead", nil},
		{"Gradle", "build files, settings, plug-ins, init scripts, the wrapper", baseOnly, "", []string{"gradle", "gradlew"}},
		{"NuGet", "project files, `Directory.Build.props`, targets of packages", baseOnly, "", []string{"dotnet"}},
		{"commands of the configuration", "whatever the head put behind their words: a Makefile, a script, settings", "no network; what projects need is fetched before them", "TestConfiguredSetupOfAStranger", nil},
	}
}

// Untested returns the package manager that no test tries and that a command of setup
// calls, "" for none. Paths count by their last part: a wrapper lies in the tree.
func Untested(text string) string {
	text = " " + strings.ReplaceAll(text, "/", " ") + " "
	for _, m := range managers() {
		if m.attack == "" && slices.ContainsFunc(m.calls, func(call string) bool { return strings.Contains(text, " "+call+" ") }) {
			return m.name
		}
	}
	return ""
}

// ClosedEnv are variables with which setup of a head that is not trusted is run: package
// managers leave out scripts, do not start what a repository names in their place, and
// fetch by git only where nothing of that is run.
func ClosedEnv(home, eco string) []string {
	protocols := "none"
	if e := Named(eco); e != nil && e.ByGit {
		protocols = "https:http"
	}
	store := filepath.Join(home, ".local", "share", "pnpm", "store")
	return []string{
		"npm_config_ignore_scripts=true", "npm_config_ignore_pnpmfile=true", "pnpm_config_ignore_scripts=true", "pnpm_config_ignore_pnpmfile=true",
		"npm_config_git=git", "npm_config_node_options=", "npm_config_script_shell=", "npm_config_onload_script=",
		"npm_config_manage_package_manager_versions=false", "npm_config_package_manager_strict=false",
		"npm_config_store_dir=" + store, "pnpm_config_store_dir=" + store,
		"YARN_ENABLE_SCRIPTS=false", "YARN_ENABLE_GLOBAL_CACHE=true", "YARN_ENABLE_TELEMETRY=false",
		"COREPACK_ENV_FILE=0", "COREPACK_ENABLE_UNSAFE_CUSTOM_URLS=0",
		"PYTHONSAFEPATH=1", "PYTHONNOUSERSITE=1",
		"COMPOSER_ALLOW_SUPERUSER=1",
		"GIT_ALLOW_PROTOCOL=" + protocols, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
	}
}

// OfflineEnv has package managers take what was fetched into HOME, where there is no network.
func OfflineEnv(home string) []string {
	return []string{
		"npm_config_offline=true", "pnpm_config_offline=true", "YARN_ENABLE_NETWORK=false", "CARGO_NET_OFFLINE=true",
		"PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + filepath.Join(home, filepath.FromSlash(python.WheelFolder)),
		"COMPOSER_DISABLE_NETWORK=1", "HEX_OFFLINE=1", "MAVEN_ARGS=-o",
	}
}

// UnconnectedEnv has package managers that a project's own scripts call fail at once where
// there is no network, and not after minutes of trying again.
func UnconnectedEnv() []string {
	return []string{
		"npm_config_fetch_retries=0", "pnpm_config_fetch_retries=0", "YARN_HTTP_RETRY=0",
		"PIP_RETRIES=0", "UV_HTTP_RETRIES=0", "CARGO_NET_RETRY=0",
	}
}
