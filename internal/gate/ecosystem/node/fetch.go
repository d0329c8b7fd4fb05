package node

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// nodeData is what a package manager of Node.js needs to know which packages to fetch.
func nodeData(s *ecosystem.Survey, dir string) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range s.Files {
		if strings.Contains("/"+f, "/node_modules/") {
			continue
		}
		switch base := path.Base(f); {
		case base == "package.json":
			out[f] = ecosystem.JSONKeys(s.Read(".", f), packageKeys)
		case base == ".npmrc":
			out[f] = keptLines(s.Read(".", f), ecosystem.KeepKeys(npmrcKeys, nil))
		case base == ".yarnrc.yml":
			out[f] = yamlKeys(s.Read(".", f), yarnrcKeys)
		case base == "pnpm-workspace.yaml":
			out[f] = yamlKeys(s.Read(".", f), pnpmWorkspaceKeys)
		case slices.Contains(nodeLocks, base), slices.Contains([]string{".patch", ".tgz"}, path.Ext(f)):
			out[f] = s.Read(".", f)
		}
	}
	_ = dir // workspaces may reach out of it
	return out
}

// berryData is what yarn 2 and later need: what the others do, and a plug-in that refuses
// packages which are made by a program (exec:, git), in manifests, lockfiles and packages of
// registries alike: yarn 4.0 runs those programs although scripts are off.
func berryData(s *ecosystem.Survey, dir string) map[string][]byte {
	out := nodeData(s, dir)
	const plugin = "only-packages.cjs"
	settings := path.Join(dir, ".yarnrc.yml")
	out[settings] = append(out[settings], "plugins:\n  - path: "+plugin+"\n    spec: "+plugin+"\n"...)
	out[path.Join(dir, plugin)] = onlyPackages
	return out
}

//go:embed only_packages.cjs
var onlyPackages []byte

// pinNode adds the package manager that the base has chosen, by packageManager in
// package.json or by yarnPath with the program in its tree: a lockfile is for one version.
// What the head says of that is left out, like all that it names to be run.
func pinNode(unit string, data map[string][]byte, read func(name string) ([]byte, error)) (own bool, err error) {
	manifest, settings := path.Join(unit, "package.json"), path.Join(unit, ".yarnrc.yml")
	if data[manifest] == nil {
		return false, nil
	}
	base, err := read(manifest)
	if err != nil {
		return false, err
	}
	data[manifest] = joinJSON(data[manifest], ecosystem.JSONKeys(base, []string{"packageManager"}))
	rc, err := read(settings)
	if err != nil {
		return false, err
	}
	var at struct {
		YarnPath string `yaml:"yarnPath"`
	}
	if yaml.Unmarshal(rc, &at) != nil || at.YarnPath == "" || !filepath.IsLocal(filepath.FromSlash(path.Join(unit, at.YarnPath))) {
		return false, nil
	}
	program, err := read(path.Join(unit, at.YarnPath))
	if err != nil || program == nil {
		return false, err
	}
	data[path.Join(unit, at.YarnPath)] = program
	data[settings] = slices.Concat(data[settings], yamlKeys(rc, []string{"yarnPath"}))
	return true, nil
}

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
			out.WriteString(ecosystem.WithoutUser(line) + "\n")
		}
	}
	return out.Bytes()
}

// joinJSON adds the members of a second object to those of the first.
func joinJSON(first, second []byte) []byte {
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
