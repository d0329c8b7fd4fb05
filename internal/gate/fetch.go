package gate

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Setup of a head that is not trusted runs nothing that the head names while registries
// can be reached:
//
//   - Commands that fetch run in a folder with data of the tree and nothing else, which
//     the harness writes: manifests and lockfiles, cut to what says which packages are
//     needed. Their HOME is one that no command of the tree ever had.
//   - All other commands of setup have no network. They find what was fetched in HOME.
//   - Where the manifest is code, or names code that the package manager would run, only
//     the base's setup has registries, and the head's finds what that has fetched.

// setupOf are the commands that set a side up: p's, or those for a head that is not trusted.
func (r *runner) setupOf(side Side, p *plan) []command {
	if r.Network != NetworkRegistries {
		return p.setup
	}
	var fetches, rest []command
	for _, c := range slices.Concat(p.fetches, p.setup) {
		if untested(c.text) != "" && !r.apart() {
			continue // see unproven
		}
		list := []command{c}
		if c.stranger != nil {
			list = c.stranger(side)
		}
		eco := c.eco
		for _, c := range list {
			c.eco = eco
			if c.data != nil || c.fillsModCache() {
				fetches = append(fetches, c)
			} else {
				rest = append(rest, c)
			}
		}
	}
	return append(fetches, rest...)
}

// fetching are the commands of setup that say how they fetch for heads that are not
// trusted. Where the configuration has its own setup they are run before it.
func fetching(setup []command) []command {
	var out []command
	for _, c := range setup {
		if c.stranger == nil {
			continue
		}
		of := c.stranger
		c.stranger = func(side Side) []command {
			return slices.DeleteFunc(of(side), func(c command) bool { return c.data == nil })
		}
		out = append(out, c)
	}
	return out
}

// strangers returns c, which is run in place of it for a head that is not trusted: fetch
// among data of the tree, and then offline, if there is any.
func (c command) strangers(fetch string, data func(*survey, string) map[string][]byte, offline ...string) command {
	own := c
	c.stranger = func(Side) []command {
		f := own.reporting(fetch)
		f.data = func(s *survey) map[string][]byte { return data(s, own.unit) }
		out := []command{f}
		for _, text := range offline {
			out = append(out, own.reporting(text))
		}
		return out
	}
	return c
}

// reaches says whether a setup command has registries, for a head that is not trusted.
func (c command) reaches(side Side) bool {
	return c.network == sandbox.NetworkHost && (side == Base || c.data != nil || c.fillsModCache())
}

// fetchHome is the HOME of a side's commands that fetch.
func (r *runner) fetchHome(side Side) string {
	return filepath.Join(r.Scratch, string(side), "fetch", "home")
}

// layData writes the data for c into a new folder, and gives it HOME.
func (r *runner) layData(ctx context.Context, side Side, c *command) (dir, home string, err error) {
	home = r.fetchHome(side)
	if !exists(home) {
		if err := r.begin(ctx, side, home); err != nil {
			return "", "", err
		}
	}
	dir = filepath.Join(r.Scratch, string(side), "fetch", "data")
	if err := workspace.RemoveAll(ctx, dir); err != nil {
		return "", "", err
	}
	if err := mkdirs(filepath.Join(dir, filepath.FromSlash(c.unit))); err != nil {
		return "", "", err
	}
	files := c.data(r.plan[side].survey)
	if err := r.pinned(ctx, c, files); err != nil {
		return "", "", err
	}
	for name, data := range files {
		if err := writeInTree(dir, name, data); err != nil {
			return "", "", err
		}
	}
	return dir, home, nil
}

// pinned adds to the data for c the package manager that the base has chosen, by
// packageManager in package.json or by yarnPath with the program in its tree: a lockfile is
// for one version. What the head says of that is left out, like all that it names to be run.
func (r *runner) pinned(ctx context.Context, c *command, files map[string][]byte) error {
	manifest, settings := path.Join(c.unit, "package.json"), path.Join(c.unit, ".yarnrc.yml")
	if files[manifest] == nil {
		return nil
	}
	read := func(name string) ([]byte, error) {
		data, err := r.Mirror.ReadFile(ctx, r.in.Base.Commit, name)
		if err != nil && ctx.Err() == nil {
			return nil, nil //nolint:nilerr // the base has none, or no regular file
		}
		return data, err
	}
	own, err := read(manifest)
	if err != nil {
		return err
	}
	files[manifest] = merged(files[manifest], jsonKeys(own, []string{"packageManager"}))
	rc, err := read(settings)
	if err != nil {
		return err
	}
	var at struct {
		YarnPath string `yaml:"yarnPath"`
	}
	if yaml.Unmarshal(rc, &at) != nil || at.YarnPath == "" || !filepath.IsLocal(filepath.FromSlash(path.Join(c.unit, at.YarnPath))) {
		return nil
	}
	program, err := read(path.Join(c.unit, at.YarnPath))
	if err != nil || program == nil {
		return err
	}
	files[path.Join(c.unit, at.YarnPath)] = program
	files[settings] = slices.Concat(files[settings], yamlKeys(rc, []string{"yarnPath"}))
	c.ownYarn = true
	return nil
}

// merged adds the members of a second object to those of the first.
func merged(first, second []byte) []byte {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(first, &a) != nil || json.Unmarshal(second, &b) != nil || len(b) == 0 {
		return first
	}
	maps.Copy(a, b)
	out, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return first
	}
	return out
}

// takeFetched puts what c has fetched into a side's HOME.
func (r *runner) takeFetched(ctx context.Context, side Side, c command) error {
	for _, eco := range ecosystems() {
		if eco.name != c.eco {
			continue
		}
		for _, folder := range eco.fetched {
			from, to := filepath.Join(r.fetchHome(side), folder), filepath.Join(r.home(side), folder)
			if !exists(from) {
				continue
			}
			if err := workspace.RemoveAll(ctx, to); err != nil {
				return err
			}
			if err := mkdirs(to); err != nil {
				return err
			}
			if err := workspace.CopyFolder(ctx, from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// nodeData is what a package manager of Node.js needs to know which packages to fetch.
func nodeData(s *survey, dir string) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range s.files {
		if strings.Contains("/"+f, "/node_modules/") {
			continue
		}
		switch base := path.Base(f); {
		case base == "package.json":
			out[f] = jsonKeys(s.read(".", f), packageKeys)
		case base == ".npmrc":
			out[f] = keptLines(s.read(".", f), keepKeys(npmrcKeys, nil))
		case base == ".yarnrc.yml":
			out[f] = yamlKeys(s.read(".", f), yarnrcKeys)
		case base == "pnpm-workspace.yaml":
			out[f] = yamlKeys(s.read(".", f), pnpmWorkspaceKeys)
		case slices.Contains(nodeLocks, base), slices.Contains([]string{".patch", ".tgz"}, path.Ext(f)):
			out[f] = s.read(".", f)
		}
	}
	_ = dir // workspaces may reach out of it
	return out
}

// berryData is what yarn 2 and later need: what the others do, and a plug-in that refuses
// packages which are made by a program (exec:, git), in manifests, lockfiles and packages of
// registries alike: yarn 4.0 runs those programs although scripts are off.
func berryData(s *survey, dir string) map[string][]byte {
	out := nodeData(s, dir)
	const plugin = "only-packages.cjs"
	settings := path.Join(dir, ".yarnrc.yml")
	out[settings] = append(out[settings], "plugins:\n  - path: "+plugin+"\n    spec: "+plugin+"\n"...)
	out[path.Join(dir, plugin)] = onlyPackages
	return out
}

//go:embed onlypackages.cjs
var onlyPackages []byte

var nodeLocks = []string{"pnpm-lock.yaml", "yarn.lock", "package-lock.json", "npm-shrinkwrap.json", "bun.lock", "bun.lockb"}

// Keys that say which packages are needed, and where from. All others are left out: scripts,
// programs, plug-ins, hooks, the package manager itself, and what later versions bring.
var (
	packageKeys = strings.Fields("name version private workspaces dependencies devDependencies optionalDependencies peerDependencies " +
		"peerDependenciesMeta bundleDependencies bundledDependencies resolutions overrides catalog catalogs bin os cpu libc engines")
	npmrcKeys = strings.Fields("registry @*:registry legacy-peer-deps strict-peer-deps strict-peer-dependencies auto-install-peers install-links install-strategy " +
		"omit include optional omit-lockfile-registry-resolved replace-registry-host lockfile-version engine-strict node-linker hoist shamefully-hoist " +
		"link-workspace-packages prefer-workspace-packages shared-workspace-lockfile dedupe-peer-dependents resolution-mode")
	yarnrcKeys = strings.Fields("nodeLinker npmRegistryServer npmScopes packageExtensions checksumBehavior compressionLevel supportedArchitectures " +
		"defaultProtocol defaultSemverRangePrefix catalog catalogs enableTransparentWorkspaces nmHoistingLimits nmMode pnpMode pnpFallbackMode cacheMigrationMode")
	pnpmWorkspaceKeys = strings.Fields("packages catalog catalogs overrides patchedDependencies packageExtensions peerDependencyRules autoInstallPeers linkWorkspacePackages")
)

// jsonKeys cuts an object to some of its members; nothing is left of anything else.
func jsonKeys(data []byte, keys []string) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return []byte("{}")
	}
	kept := map[string]json.RawMessage{}
	for _, k := range keys {
		if v, ok := all[k]; ok {
			kept[k] = v
		}
	}
	out, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return []byte("{}")
	}
	return out
}

// yamlKeys does the same with a mapping.
func yamlKeys(data []byte, keys []string) []byte {
	var all map[string]any
	if yaml.Unmarshal(data, &all) != nil {
		return nil
	}
	kept := map[string]any{}
	for _, k := range keys {
		if v, ok := all[k]; ok {
			kept[k] = v
		}
	}
	if len(kept) == 0 {
		return nil
	}
	out, err := yaml.Marshal(kept)
	if err != nil {
		return nil
	}
	return out
}

func keptLines(data []byte, keep func(string) bool) []byte {
	var out bytes.Buffer
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); keep(line) {
			out.WriteString(withoutUser(line) + "\n")
		}
	}
	return out.Bytes()
}

// cargoData is what cargo needs to know which crates to fetch. Of sources it wants to see
// that they are there.
func cargoData(s *survey, _ string) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range s.files {
		switch {
		case path.Base(f) == "Cargo.toml", path.Base(f) == "Cargo.lock":
			out[f] = s.read(".", f)
		case path.Ext(f) == ".rs":
			out[f] = []byte{}
		}
	}
	return out
}

// composerData is what Composer needs to know which packages to fetch.
func composerData(s *survey, dir string) map[string][]byte {
	out := map[string][]byte{path.Join(dir, "composer.json"): jsonKeys(s.read(dir, "composer.json"), composerKeys)}
	if lock := s.read(dir, "composer.lock"); lock != nil {
		out[path.Join(dir, "composer.lock")] = lock
	}
	return out
}

var composerKeys = strings.Fields("name type require require-dev conflict replace provide minimum-stability prefer-stable repositories")

// pythonData are the requirements of the Python project in dir, by name and version,
// and what its lockfile says of the versions of all others.
func pythonData(s *survey, dir string) map[string][]byte {
	req := pythonRequirements(s, dir)
	return map[string][]byte{
		path.Join(dir, "requirements.txt"): []byte(strings.Join(req, "\n") + "\n"),
		path.Join(dir, "constraints.txt"):  []byte(strings.Join(lockedVersions(s, dir), "\n") + "\n"),
	}
}

// writeInTree writes a file that a name of an untrusted tree stands for.
func writeInTree(dir, name string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%s lies outside of the repository", name)
	}
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := mkdirs(filepath.Dir(file)); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

// onlyOfBase returns c as what a head that is not trusted does without: the commands that
// follow it have no network either, and find what the base's has fetched.
func (c command) onlyOfBase() command {
	own := c
	c.stranger = func(side Side) []command {
		if side == Base {
			return []command{own}
		}
		return nil
	}
	return c
}
