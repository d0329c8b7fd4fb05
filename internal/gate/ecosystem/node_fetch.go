package ecosystem

import (
	"path"
	"slices"
	"strings"
)

// nodeData is what a package manager of Node.js needs to know which packages to fetch.
func nodeData(s *Survey, dir string) map[string][]byte {
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
