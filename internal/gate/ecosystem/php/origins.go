package php

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// composerRepositories reads the places of the tree that a composer.json has packages taken from
// (https://getcomposer.org/doc/05-repositories.md).
func composerRepositories(src []byte) ecosystem.Origins {
	var m struct {
		Repositories json.RawMessage `json:"repositories"` // a list, or an object
	}
	if json.Unmarshal(src, &m) != nil {
		return ecosystem.Origins{}
	}
	type repository struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	}
	var all []repository
	var named map[string]repository
	if json.Unmarshal(m.Repositories, &all) != nil && json.Unmarshal(m.Repositories, &named) == nil {
		all = slices.Collect(maps.Values(named))
	}
	out := ecosystem.Origins{Replaced: map[string]string{}}
	for _, r := range all {
		if r.Type == "path" || r.Type == "artifact" || r.Type == "package" {
			out.Replaced[cmp.Or(r.URL, r.Type)] = r.Type
		}
	}
	return out
}

// composerOrigins reads a composer.lock: the archive of a package is one of its source.
func composerOrigins(src []byte) ecosystem.Origins {
	type pkg struct {
		Name string `json:"name"`
		Dist struct {
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"dist"`
	}
	var lock struct {
		Packages []pkg `json:"packages"`
		Dev      []pkg `json:"packages-dev"`
	}
	if json.Unmarshal(src, &lock) != nil {
		return ecosystem.Origins{}
	}
	out := ecosystem.Origins{Of: map[string]string{}}
	for _, p := range append(lock.Packages, lock.Dev...) {
		from := ""
		if p.Dist.Type == "path" {
			from = p.Dist.URL
		}
		out.Add(p.Name, from)
	}
	return out
}

// composerVersions reads the versions in a composer.lock.
func composerVersions(src []byte) map[string][]string {
	type pkg struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	var lock struct {
		Packages []pkg `json:"packages"`
		Dev      []pkg `json:"packages-dev"`
	}
	if json.Unmarshal(src, &lock) != nil {
		return nil
	}
	out := map[string][]string{}
	for _, p := range append(lock.Packages, lock.Dev...) {
		out[p.Name] = append(out[p.Name], p.Version)
	}
	return out
}
