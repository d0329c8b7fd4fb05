// Package node is JavaScript and TypeScript on Node.js, by its packages and workspaces.
//
// tests.go decides what the script for tests of a package.json comes to: scripts.go takes it apart,
// and a runner that is known (runners.go) is called by itself, with a reporter that names each test.
package node

import (
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/workflows"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// New is JavaScript and TypeScript on Node.js, by package.json.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: nodeName, Units: "Node.js packages",
		Programs: strings.Fields("node npm pnpm yarn bun deno"),
		Runners:  strings.Fields("npx jest mocha vitest ava tap"),
		Provided: providedByNode,
		Hosts:    strings.Fields("registry.npmjs.org registry.yarnpkg.com repo.yarnpkg.com npm.jsr.io"),
		Fetched:  []string{".npm/_cacache", ".cache/pnpm", ".local/share/pnpm/store", ".cache/yarn", ".yarn/berry/cache", ".bun/install/cache", ".cache/node/corepack"},
		Registries: []string{
			"npm_config_registry", "NPM_CONFIG_REGISTRY", "npm_config_@*:registry", "npm_config_proxy", "npm_config_https_proxy", "npm_config_noproxy",
			"YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY", "YARN_UNSAFE_HTTP_WHITELIST", "BUN_CONFIG_REGISTRY", "COREPACK_NPM_REGISTRY",
		},
		RegistryFiles: []string{"npm_config_cafile", "NPM_CONFIG_CAFILE", "npm_config_nodedir", "NPM_CONFIG_NODEDIR"},
		SettingsFiles: []ecosystem.SettingsFile{{
			Variable: "NPM_CONFIG_USERCONFIG", Places: []string{".npmrc"},
			Keep: ecosystem.KeepKeys([]string{"registry", "@*:registry", "proxy", "https-proxy", "noproxy", "cafile", "nodedir", "omit-lockfile-registry-resolved", "replace-registry-host"}, nil),
		}},
		Find:    findNodeProjects,
		Classes: nodeClasses(),
		Lines:   nodeLines(), Behaviour: nodeBehaviour(),
		IsTest:     isNodeTest,
		Forwarding: &ecosystem.Forwarding{Whole: forward, Offers: offers, Names: forwardNames},
		IsSource:   IsSource,
		Asks:       asks(),
		Steers: func(name string) bool {
			return slices.Contains([]string{"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".npmrc"}, path.Base(name))
		},
		Compiled: func(name string) bool {
			return slices.Contains([]string{".ts", ".mts", ".cts", ".tsx"}, path.Ext(name))
		},
		Adopt:    adoptNode,
		Absent:   absentInNode,
		Unimport: unimportNode, Installed: installedNode, Older: olderPackages,
		Pin: pinNode,
	}
}

var (
	nodeExts     = []string{".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".vue", ".svelte"}
	nodeTestName = pattern.New(`([._-](test|spec)|^test|^test-.*)\.[cm]?[jt]sx?$`)
)

// isNodeTest follows what the runners take for tests by default.
func isNodeTest(name string) bool {
	if path.Ext(name) == ".snap" {
		return true
	}
	if !slices.Contains(nodeExts, path.Ext(name)) {
		return false
	}
	return nodeTestName.MatchString(path.Base(name)) || ecosystem.InFolder(name, "__tests__", "__mocks__", "test", "tests")
}

// nodeMissing are messages for names that are not there: the name is the last group.
var nodeMissing = pattern.New(`(?m)Cannot find (?:module|package) '([^']+)'|does not provide an export named '([^']+)'|` +
	`\(?([\w$.]+)\)? is not a (?:function|constructor)|ReferenceError(?: \[\w+\])?: ([\w$]+) is not defined|Class extends value undefined.*?([\w$]*)|` +
	`error TS\d+: .*'([\w$]+)'`)

// requiredBy is the first file that a message of Node names as the one that asks for a module.
var requiredBy = pattern.New(`(?m)^Require stack:\n- (\S+)$`)

func absentInNode(output string) (name string, deps bool) {
	m := nodeMissing.FindStringSubmatch(output)
	if m == nil {
		return "", false
	}
	for _, g := range m[1:] {
		if g != "" {
			name = g
		}
	}
	if by := requiredBy.FindStringSubmatch(output); by != nil && name != "" && strings.Trim(name, "./") == "" { // '..' is a package
		return path.Base(path.Join(path.Dir(by[1]), name)), false
	}
	deps = m[1] != "" && !strings.HasPrefix(m[1], ".") && !strings.HasPrefix(m[1], "/")
	if i := strings.LastIndexAny(name, "./"); i >= 0 && !deps {
		name = strings.TrimSuffix(name, path.Ext(name))
		if m[1] == "" {
			name = m[3][i+1:]
		} else {
			name = path.Base(name)
		}
	}
	return name, deps
}

// A manifest is what the gate reads of package.json.
type manifest struct {
	Name                 string            `json:"name"`
	Scripts              map[string]string `json:"scripts"`
	Dependencies         map[string]string `json:"dependencies"`
	DevDependencies      map[string]string `json:"devDependencies"`
	OptionalDependencies map[string]string `json:"optionalDependencies"`
	PeerDependencies     map[string]string `json:"peerDependencies"`
	Overrides            json.RawMessage   `json:"overrides"`   // of npm
	Resolutions          json.RawMessage   `json:"resolutions"` // of yarn
	Pnpm                 json.RawMessage   `json:"pnpm"`
	Workspaces           json.RawMessage   `json:"workspaces"`
	PackageManager       string            `json:"packageManager"`
	Main                 string            `json:"main"`
	Module               string            `json:"module"`
	Bin                  json.RawMessage   `json:"bin"`
	Exports              json.RawMessage   `json:"exports"`
}

// all are the packages that it needs.
func (m manifest) all() map[string]string {
	out := map[string]string{}
	for _, set := range []map[string]string{m.Dependencies, m.DevDependencies, m.OptionalDependencies} {
		for k, v := range set {
			out[k] = v
		}
	}
	return out
}

// TakesOver says whether a package.json answers, for what lies below its folder, imports that
// the one above it answered: of the package by its own name, or by a name with a "#" that both
// have (https://nodejs.org/api/packages.html#self-referencing-a-package-using-its-name).
func TakesOver(added, above []byte) bool {
	var in, out struct {
		Name    string                     `json:"name"`
		Exports json.RawMessage            `json:"exports"`
		Imports map[string]json.RawMessage `json:"imports"`
	}
	if json.Unmarshal(added, &in) != nil || json.Unmarshal(above, &out) != nil {
		return false
	}
	for name := range in.Imports {
		if _, ok := out.Imports[name]; ok {
			return true
		}
	}
	return in.Name != "" && in.Name == out.Name && len(in.Exports) > 0
}

// members are the patterns of the folders that the packages of a workspace are in.
func (m manifest) members() []string {
	var list []string
	var object struct {
		Packages []string `json:"packages"`
	}
	if json.Unmarshal(m.Workspaces, &list) == nil {
		return list
	}
	if json.Unmarshal(m.Workspaces, &object) == nil {
		return object.Packages
	}
	return nil
}

// findNodeProjects makes a project of every package.json.
func findNodeProjects(s *ecosystem.Survey) []ecosystem.Project {
	manifests := map[string]manifest{}
	var dirs []string
	for _, dir := range s.Dirs("package.json") {
		var m manifest
		if err := json.Unmarshal(s.Read(dir, "package.json"), &m); err != nil {
			s.Note("%s: %v", path.Join(dir, "package.json"), err)
			continue
		}
		manifests[dir] = m
		dirs = append(dirs, dir)
	}
	data := map[string]bool{}
	for _, dir := range dirs {
		data[dir] = isData(s, dir, manifests)
	}
	for at := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return data[dir] }); len(at) > 0; at = at[1:] {
		for _, dir := range dirs { // what one that is none needs is none either
			if data[dir] && !s.IsFixture(dir, isNodeTest) && manifests[at[0]].needs(at[0], dir, manifests[dir].Name) {
				data[dir], at = false, append(at, dir)
			}
		}
	}
	dirs = slices.DeleteFunc(dirs, func(dir string) bool { return data[dir] })
	maps.DeleteFunc(manifests, func(dir string, _ manifest) bool { return data[dir] })
	var out []ecosystem.Project
	for _, dir := range dirs {
		if p := nodeProject(s, dir, manifests); p.What != "" {
			out = append(out, p)
		}
	}
	return out
}

// isData says whether a package is one that tests read and no one works in: it lies in a folder of
// fixtures, or of tests without a runner or a lockfile of its own, below another package or a folder of
// tests, and is no member of a workspace around it.
func isData(s *ecosystem.Survey, dir string, manifests map[string]manifest) bool {
	if root := workspaceOf(s, dir, manifests); root != "" && root != dir {
		return isData(s, root, manifests)
	}
	inTests, around := ecosystem.InFolder(dir+"/", "test", "tests", "__tests__", "spec", "specs"), false
	for up := dir; up != "."; {
		up = path.Dir(up)
		_, ok := manifests[up]
		around = around || ok
	}
	if s.IsFixture(dir, isNodeTest) {
		return around || inTests
	}
	return around && inTests && !manifests[dir].testsItself() && s.First(dir, lockfiles...) == ""
}

// needs says whether the package in the folder at names one in another among what it needs: by its
// name, or by its folder.
func (m manifest) needs(at, dir, name string) bool {
	for of, version := range m.all() {
		kind, to, local := strings.Cut(version, ":")
		if of == name || local && slices.Contains(localKinds, kind) && path.Join(at, to) == dir {
			return true
		}
	}
	return false
}

// localKinds are what stands before a folder in place of a version.
var localKinds = strings.Fields("file link portal workspace")

// lockfiles are those of package managers, the first that is there counts.
var lockfiles = strings.Fields("pnpm-lock.yaml yarn.lock package-lock.json npm-shrinkwrap.json bun.lock bun.lockb")

// nodeProject is the package in dir. One with nothing to run is none.
func nodeProject(s *ecosystem.Survey, dir string, manifests map[string]manifest) ecosystem.Project {
	m := manifests[dir]
	root := workspaceOf(s, dir, manifests)
	p := ecosystem.Project{Dir: dir, Why: []string{path.Join(dir, "package.json")}, Made: true}
	for other, o := range manifests {
		if _, ok := m.all()[o.Name]; ok && o.Name != "" && other != dir {
			p.Uses = append(p.Uses, other)
		}
	}
	slices.Sort(p.Uses)
	if root == "" || root == dir {
		installNode(&p, s, m, len(manifests) > 1 && len(memberPatterns(s, dir, m)) > 0)
	} else {
		p.Why = append(p.Why, "a workspace of "+path.Join(root, "package.json"))
		p.Within = root
	}
	missing := p.Missing
	testNode(&p, s, dir, manifests, dir == root && hasTestingMembers(s, dir, manifests))
	for _, kind := range []struct {
		list   *[]ecosystem.Command
		stage  results.Stage
		script string
	}{{&p.Build, results.StageBuild, "build"}, {&p.Lint, results.StageLint, "lint"}} {
		if dir == root && ofMembers(kind.script, m.Scripts) {
			continue // theirs are run one by one, as far as they matter
		}
		if m.Scripts[kind.script] != "" {
			c := ecosystem.Command{Stage: kind.stage, Unit: dir}
			*kind.list = append(*kind.list, c.Reporting(scriptsBy(s, &p)+" run "+kind.script))
		}
	}
	if len(p.Setup)+len(p.Build)+len(p.Test) == 0 {
		return ecosystem.Project{}
	}
	p.What = strings.TrimSpace("Node.js package " + m.Name)
	switch {
	case !s.Tools.Has("node"):
		p.Missing = s.Tools.Lack("node")
	case !s.Tools.Has("npm"):
		p.Missing = s.Tools.Lack("npm")
	default:
		p.Missing = missing
	}
	if p.Missing != "" {
		p.Setup, p.Build, p.Lint, p.Test = nil, nil, nil, nil
	}
	return p
}

// nodeLinker is a setting by which yarn 2 and newer installs packages where node looks for them.
var nodeLinker = pattern.New(`(?m)^nodeLinker:\s*["']?(?:node-modules|pnpm)\b`)

// plugged says whether yarn keeps the packages of a project in archives, so that only what it starts
// finds them and their programs (https://yarnpkg.com/features/pnp).
func plugged(s *ecosystem.Survey, p *ecosystem.Project) bool {
	root := cmp.Or(p.Within, p.Dir)
	var m manifest
	_ = json.Unmarshal(s.Read(root, "package.json"), &m)
	return s.Has(root, ".pnp.cjs") || s.Has(root, "yarn.lock") && isBerry(s, root, m) && !nodeLinker.Match(s.Read(root, ".yarnrc.yml"))
}

// scriptsBy is the package manager that runs the scripts of a project.
func scriptsBy(s *ecosystem.Survey, p *ecosystem.Project) string {
	if plugged(s, p) {
		return "yarn"
	}
	return "npm"
}

// workspaceOf returns the folder of the workspace that dir belongs to, itself
// where it is the root of one, "" for none.
func workspaceOf(s *ecosystem.Survey, dir string, manifests map[string]manifest) string {
	for up := dir; ; up = path.Dir(up) {
		m, ok := manifests[up]
		patterns := memberPatterns(s, up, m)
		if ok && len(patterns) > 0 {
			if up == dir {
				return dir
			}
			rel := dir
			if up != "." {
				rel = strings.TrimPrefix(dir, up+"/")
			}
			member := false
			for _, pattern := range patterns {
				pattern, not := strings.CutPrefix(pattern, "!")
				if in, err := doublestar.Match(strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/"), rel); err == nil && in {
					member = !not
				}
			}
			if member {
				return up
			}
		}
		if up == "." {
			return ""
		}
	}
}

// pnpmPackage is a line of pnpm-workspace.yaml that names members.
var pnpmPackage = pattern.New(`(?m)^\s*-\s*['"]?([^'"#\n]+?)['"]?\s*$`)

func memberPatterns(s *ecosystem.Survey, dir string, m manifest) []string {
	out := m.members()
	if s.Has(dir, "pnpm-workspace.yaml") {
		for _, found := range pnpmPackage.FindAllStringSubmatch(string(s.Read(dir, "pnpm-workspace.yaml")), -1) {
			out = append(out, found[1])
		}
	}
	return out
}

// hasTestingMembers says whether members of the workspace have tests of their
// own, so that the root's script would only run them once more.
func hasTestingMembers(s *ecosystem.Survey, root string, manifests map[string]manifest) bool {
	for dir, m := range manifests {
		if dir != root && m.Scripts["test"] != "" && workspaceOf(s, dir, manifests) == root {
			return true
		}
	}
	return false
}

// installNode sets the commands that bring dependencies, as the lockfile says.
func installNode(p *ecosystem.Project, s *ecosystem.Survey, m manifest, workspace bool) {
	add := func(tool, text string) {
		if !s.Tools.Has(tool) {
			p.Missing = s.Tools.Lack(tool)
		}
		c := ecosystem.Command{Stage: results.StageSetup, Unit: p.Dir, Network: sandbox.NetworkHost}
		if !workspace && m.installsAlone() && !strings.HasPrefix(text, "yarn install --immutable") {
			c.Installs = "node_modules"
		}
		fetch, offline, data := text+" --ignore-scripts", text+" --ignore-scripts", nodeData
		switch text {
		case "pnpm install --frozen-lockfile":
			fetch, offline = "pnpm fetch --ignore-scripts", offline+" --offline"
		case "yarn install --frozen-lockfile":
			offline += " --offline"
		case "yarn install --immutable":
			fetch, offline, data = text+" --mode=skip-build", text+" --mode=skip-build", berryData
		}
		p.Setup = append(p.Setup, c.Reporting(text).ForStrangers(fetch, data, offline))
	}
	lock := s.First(p.Dir, lockfiles...)
	if lock != "" {
		p.Why = append(p.Why, path.Join(p.Dir, lock))
	}
	switch {
	case len(m.all()) == 0 && !workspace: // nothing to bring
	case lock == "pnpm-lock.yaml":
		add("pnpm", "pnpm install --frozen-lockfile")
	case lock == "yarn.lock" && isBerry(s, p.Dir, m):
		add("yarn", "yarn install --immutable")
	case lock == "yarn.lock":
		add("yarn", "yarn install --frozen-lockfile")
	case strings.HasPrefix(lock, "bun."):
		add("bun", "bun install --frozen-lockfile")
	case lock != "":
		add("npm", "npm ci --no-audit --no-fund"+npmOptions(s))
	default:
		add("npm", "npm install --no-audit --no-fund --no-package-lock"+npmOptions(s))
	}
}

// npmInstalls is a call by which a workflow installs packages.
var npmInstalls = pattern.New(`(?m)\bnpm (?:ci|i|install)\b[^\n&|;]*?( --legacy-peer-deps| --force)\b`)

// npmOptions are those without which npm refuses the dependencies of a project, as its own
// workflows name them.
func npmOptions(s *ecosystem.Survey) string {
	for _, f := range s.Files {
		if workflows.Is(f) {
			if m := npmInstalls.FindSubmatch(s.Read(".", f)); m != nil {
				return string(m[1])
			}
		}
	}
	return ""
}

// installsAlone says whether what the package manager installs follows from the manifest
// and its lockfile: no script of the project runs with it, and no dependency is a folder.
func (m manifest) installsAlone() bool {
	for _, name := range strings.Fields("preinstall install postinstall prepublish preprepare prepare postprepare dependencies") {
		if m.Scripts[name] != "" {
			return false
		}
	}
	for _, version := range m.all() {
		if kind, _, local := strings.Cut(version, ":"); local && slices.Contains(localKinds, kind) {
			return false
		}
	}
	return true
}

// nodeDefault are the files that "node --test" looks for by itself.
var nodeDefault = pattern.New(`(^|/)(test/.*|test|test-[^/]*|[^/]*[._-]test)\.[cm]?js$`)

// IsSource recognises sources of JavaScript and TypeScript.
func IsSource(name string) bool { return slices.Contains(nodeExts, path.Ext(name)) }
