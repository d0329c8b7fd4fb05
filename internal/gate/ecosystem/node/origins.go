package node

import (
	"encoding/json"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	// placed is a version that is a place in the tree, or another package by an alias.
	placed = pattern.New(`^(?:(?:file|link|portal|npm|workspace):|\.\.?/)`)
	// replacement is a value in what a package.json has in place of versions that others ask for.
	replacement = pattern.New(`"([^"]+)"\s*:\s*"([^"]+)"`)
	// tarball is the address of a package's archive in a registry.
	tarball = pattern.New(`^https?://.*?/((?:@[^/]+(?:/|%2[fF]))?[^/]+)/-/[^/]+$`)
	// yarnEntry is an entry of yarn.lock: the first name that it answers, and where from.
	yarnEntry = pattern.New(`(?m)^"?((?:@[^/\s"]+/)?[^@\s"]+)@[^\n]*:\n(?:[ \t]+[^\n]*\n)*?[ \t]+(?:resolved|resolution:) "?([^"\s]+)"?`)
)

// nodeOrigins are package.json and the lockfiles of npm, yarn and pnpm.
var nodeOrigins = map[string]func([]byte) ecosystem.Origins{
	"package.json": manifestOrigins, "package-lock.json": npmLockOrigins, "npm-shrinkwrap.json": npmLockOrigins,
	"yarn.lock": yarnOrigins, "pnpm-lock.yaml": pnpmOrigins,
}

// manifestOrigins reads a package.json
// (https://docs.npmjs.com/cli/configuring-npm/package-json#dependencies).
func manifestOrigins(src []byte) ecosystem.Origins {
	var m manifest
	if json.Unmarshal(src, &m) != nil {
		return ecosystem.Origins{}
	}
	from := func(version string) string {
		if placed.MatchString(version) {
			return version
		}
		return ""
	}
	out := ecosystem.Origins{Own: m.Name, Of: map[string]string{}, Replaced: map[string]string{}}
	for pkg, version := range m.all() {
		out.Of[pkg] = from(version)
	}
	for _, r := range replacement.FindAllStringSubmatch(string(m.Overrides)+string(m.Resolutions)+string(m.Pnpm), -1) {
		out.Replaced[r[1]] = from(r[2])
	}
	return out
}

// archiveOf returns what an archive's address names in place of a package; empty: that
// package, or an address that does not say which.
func archiveOf(pkg, address string) string {
	address, _, _ = strings.Cut(address, "#")
	m := tarball.FindStringSubmatch(address)
	switch {
	case m == nil && strings.HasPrefix(address, "http"), address == "":
		return ""
	case m == nil:
		return address
	}
	if of := strings.ReplaceAll(strings.ReplaceAll(m[1], "%2f", "/"), "%2F", "/"); of != pkg {
		return of
	}
	return ""
}

// npmLockOrigins reads a lockfile of npm (https://docs.npmjs.com/cli/configuring-npm/package-lock-json).
func npmLockOrigins(src []byte) ecosystem.Origins {
	type entry struct {
		Resolved     string           `json:"resolved"`
		Version      string           `json:"version"` // may also say where from
		Dependencies map[string]entry `json:"dependencies"`
	}
	var lock struct {
		Packages map[string]struct {
			Resolved string `json:"resolved"`
		} `json:"packages"`
		Dependencies map[string]entry `json:"dependencies"` // of version 1
	}
	if json.Unmarshal(src, &lock) != nil {
		return ecosystem.Origins{}
	}
	out := ecosystem.Origins{Of: map[string]string{}}
	for at, p := range lock.Packages {
		if _, pkg, ok := cutLast("/"+at, "/node_modules/"); ok {
			out.Add(pkg, archiveOf(pkg, p.Resolved))
		}
	}
	var old func(map[string]entry)
	old = func(all map[string]entry) {
		for pkg, e := range all {
			if e.Resolved == "" && placed.MatchString(e.Version) {
				e.Resolved = e.Version
			}
			out.Add(pkg, archiveOf(pkg, e.Resolved))
			old(e.Dependencies)
		}
	}
	old(lock.Dependencies)
	return out
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// yarnOrigins reads a yarn.lock of version 1 (https://classic.yarnpkg.com/lang/en/docs/yarn-lock/)
// or a later one.
func yarnOrigins(src []byte) ecosystem.Origins {
	out := ecosystem.Origins{Of: map[string]string{}}
	for _, m := range yarnEntry.FindAllStringSubmatch(string(src), -1) {
		pkg, at := m[1], m[2]
		if strings.Contains(at, "://") {
			out.Add(pkg, archiveOf(pkg, at))
			continue
		}
		of, version, _ := strings.Cut(strings.TrimPrefix(at, "@"), "@")
		if strings.HasPrefix(at, "@") {
			of = "@" + of
		}
		switch {
		case of != pkg:
			out.Add(pkg, of)
		case strings.HasPrefix(version, "npm:"):
			out.Add(pkg, "")
		default:
			out.Add(pkg, version)
		}
	}
	return out
}

// pnpmOrigins reads a pnpm-lock.yaml (https://github.com/pnpm/spec/tree/master/lockfile).
func pnpmOrigins(src []byte) ecosystem.Origins {
	type set map[string]any
	var lock struct {
		Importers map[string]map[string]any `yaml:"importers"`
		Packages  map[string]struct {
			Resolution struct {
				Tarball string `yaml:"tarball"`
			} `yaml:"resolution"`
		} `yaml:"packages"`
		Dependencies    set `yaml:"dependencies"` // of a lockfile of one project
		DevDependencies set `yaml:"devDependencies"`
	}
	if yaml.Unmarshal(src, &lock) != nil {
		return ecosystem.Origins{}
	}
	out := ecosystem.Origins{Of: map[string]string{}}
	needs := func(all map[string]any) {
		for pkg, v := range all {
			version, _ := v.(string)
			if m, ok := v.(map[string]any); ok {
				version, _ = m["version"].(string)
			}
			version, _, _ = strings.Cut(version, "(")
			if of, _, ok := strings.Cut(strings.TrimLeft(version, "/@"), "@"); placed.MatchString(version) || ok && of != strings.TrimLeft(pkg, "@") {
				out.Add(pkg, version)
				continue
			}
			out.Add(pkg, "")
		}
	}
	for _, sets := range lock.Importers {
		for _, name := range []string{"dependencies", "devDependencies", "optionalDependencies"} {
			all, _ := sets[name].(map[string]any)
			needs(all)
		}
	}
	needs(lock.Dependencies)
	needs(lock.DevDependencies)
	for key, p := range lock.Packages {
		pkg, _, _ := cutLast(strings.TrimPrefix(key, "/"), "@")
		if pkg == "" { // before version 6
			pkg = path.Dir(strings.TrimPrefix(key, "/"))
		}
		out.Add(pkg, archiveOf(pkg, p.Resolution.Tarball))
	}
	return out
}
