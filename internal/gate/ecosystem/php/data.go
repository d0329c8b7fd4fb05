package php

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// composerData is what Composer needs to know which packages to fetch, without what makes
// it call hg, svn, fossil or p4: https://getcomposer.org/doc/05-repositories.md.
func composerData(s *ecosystem.Survey, dir string) map[string][]byte {
	manifest := ecosystem.JSONKeys(s.Read(dir, "composer.json"), composerKeys)
	out := map[string][]byte{path.Join(dir, "composer.json"): changedJSON(manifest, func(all map[string]any) {
		switch list := all["repositories"].(type) {
		case []any:
			all["repositories"] = slices.DeleteFunc(list, func(r any) bool { return !composerRepository(r) })
		case map[string]any:
			for name, r := range list {
				if !composerRepository(r) {
					delete(list, name)
				}
			}
		}
		composerPackages(all)
	})}
	if lock := s.Read(dir, "composer.lock"); lock != nil {
		out[path.Join(dir, "composer.lock")] = changedJSON(lock, func(all map[string]any) {
			composerPackages(all)
		})
	}
	return out
}

var composerKeys = strings.Fields("name type require require-dev conflict replace provide minimum-stability prefer-stable repositories")

// composerRepository says whether a repository is one of archives, of git or of the tree,
// and leaves it without another driver. What is found out by trying is tried by git alone.
func composerRepository(r any) bool {
	entry, ok := r.(map[string]any)
	if !ok {
		return r == false // {"packagist.org": false}
	}
	switch entry["type"] {
	case nil, "composer", "package", "path", "git", "github", "gitlab", "bitbucket":
		return true
	case "vcs":
		entry["type"] = "git"
		return true
	default:
		return false
	}
}

// composerPackages leaves no package with a source that is not git's, wherever it is:
// Composer reads an object as the list of its values.
func composerPackages(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			composerPackages(one)
		}
	case map[string]any:
		if source, ok := v["source"].(map[string]any); ok && source["type"] != "git" {
			delete(v, "source")
		}
		if dist, ok := v["dist"].(map[string]any); ok && !slices.Contains([]any{"zip", "tar", "gzip", "xz", "rar", "file", "path"}, dist["type"]) {
			delete(v, "dist")
		}
		for _, one := range v {
			composerPackages(one)
		}
	}
}

// changedJSON is an object as change leaves it, empty where data is none: what cannot be
// read cannot be cleaned.
func changedJSON(data []byte, change func(map[string]any)) []byte {
	var all map[string]any
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if d.Decode(&all) != nil {
		return []byte("{}")
	}
	change(all)
	out, err := json.MarshalIndent(all, "", "    ")
	if err != nil {
		return []byte("{}")
	}
	return out
}
