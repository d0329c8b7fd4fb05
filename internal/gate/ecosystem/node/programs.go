package node

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// providedByNode are those that "bin" of a package.json names, and what "start" runs.
func providedByNode(tree fs.FS, files []string, _ []ecosystem.Package) []ecosystem.Program {
	var out []ecosystem.Program
	for _, f := range files {
		if path.Base(f) != "package.json" || ecosystem.IgnoredDir(path.Dir(f)) {
			continue
		}
		var m manifest
		data, err := fs.ReadFile(tree, f)
		if err != nil || json.Unmarshal(data, &m) != nil {
			continue
		}
		dir := path.Dir(f)
		out = append(out, startedByNode(tree, dir, m.Scripts["start"])...)
		bins := map[string]string{}
		var one string
		if json.Unmarshal(m.Bin, &one) == nil {
			bins[path.Base(m.Name)] = one
		} else if json.Unmarshal(m.Bin, &bins) != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(bins)) {
			at := path.Join(dir, bins[name])
			if info, err := fs.Stat(tree, at); name == "" || err != nil || !info.Mode().IsRegular() {
				continue
			}
			rel := path.Clean(bins[name])
			out = append(out, ecosystem.Program{
				Name: name, Dir: dir,
				Calls:   [][]string{{name}, {"npx", name}, {"node", rel}, {"node", "./" + rel}, {"./" + rel}, {"node", at}},
				Start:   func(up string) string { return "node " + ecosystem.Quoted(path.Join(up, at)) },
				Crashed: func(exit int, stderr string) bool { return exit != 0 && nodeCrash.MatchString(stderr) },
			})
		}
	}
	return out
}

// startedByNode is the program that the script "start" of a package in a folder runs,
// where that is Node.js with a file and plain words.
func startedByNode(tree fs.FS, dir, script string) []ecosystem.Program {
	words, ok := ecosystem.PlainWords(script)
	if !ok || len(words) < 2 || words[0] != "node" {
		return nil
	}
	rel := path.Clean(words[1])
	at := path.Join(dir, rel)
	info, err := fs.Stat(tree, at)
	if err == nil && info.IsDir() {
		at = path.Join(at, "index.js")
		info, err = fs.Stat(tree, at)
	}
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	name := "npm start"
	if dir != "." {
		name = "npm start --prefix " + ecosystem.Quoted(dir)
	}
	return []ecosystem.Program{{
		Name: name, Dir: dir,
		Calls: [][]string{{"npm", "start"}, {"npm", "run", "start"}, {"yarn", "start"}, {"pnpm", "start"}, {"node", rel}, {"node", "./" + rel}, {"node", at}},
		Start: func(up string) string {
			return strings.TrimSpace("node " + ecosystem.Quoted(path.Join(up, at)) + " " + ecosystem.Quoted(words[2:]...))
		},
		Crashed: func(exit int, stderr string) bool { return exit != 0 && nodeCrash.MatchString(stderr) },
	}}
}

var nodeCrash = pattern.New(`(?m)^\s+at .+(?:\n.*)*\nNode\.js v\d`)
