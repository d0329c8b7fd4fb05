package classes

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// OwnSettings are the names of settings in a manifest that no tool reads, and that differ: keys at
// the top of package.json, tables of [tool] in pyproject.toml and of [package.metadata] in
// Cargo.toml. What only one side has differs, too.
func OwnSettings(name string, base, head []byte) []string {
	read := func(src []byte) map[string]any {
		switch path.Base(name) {
		case "package.json":
			var all map[string]any
			if json.Unmarshal(src, &all) != nil {
				return nil
			}
			return all
		case "pyproject.toml":
			d, _ := ecosystem.ParseTOML(src)
			return d.Table("tool")
		case "Cargo.toml":
			d, _ := ecosystem.ParseTOML(src)
			return d.Table("package", "metadata")
		}
		return nil
	}
	was, is := read(base), read(head)
	var out []string
	for _, all := range []map[string]any{was, is} {
		for key := range all {
			if !ofTools[key] && !slices.Contains(out, key) && !reflect.DeepEqual(was[key], is[key]) {
				out = append(out, key)
			}
		}
	}
	slices.Sort(out)
	return out
}

// ofTools are settings that package managers, runners and other tools read, by their names.
var ofTools = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(`
		name version description keywords homepage bugs license author contributors funding files main module browser bin man
		directories repository scripts config dependencies devDependencies peerDependencies peerDependenciesMeta bundleDependencies
		bundledDependencies optionalDependencies overrides resolutions engines os cpu libc devEngines private publishConfig workspaces
		exports imports type types typings typesVersions sideEffects packageManager pnpm gypfile unpkg jsdelivr
		jest mocha ava tap nyc c8 vitest babel browserslist eslintConfig eslintIgnore prettier stylelint husky lint-staged commitlint xo standard
		poetry pdm hatch uv setuptools setuptools_scm flit pytest coverage ruff black isort mypy pyright pylint tox nox bandit towncrier
		docs release`) {
		out[name] = true
	}
	return out
}()
