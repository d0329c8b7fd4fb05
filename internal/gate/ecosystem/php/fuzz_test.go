package php

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// A package manager that fetches for an untrusted change gets no word that makes it run
// another program.
func FuzzComposerData(f *testing.F) {
	f.Add(`{"repositories":[{"type":"vcs","url":"x"},{"type":"hg","url":"x"},{"type":"package","package":[{"source":{"type":"svn"}}]}],"scripts":{"a":"b"}}`, `{"packages":[{"source":{"type":"hg"},"dist":{"type":"perforce"}}]}`)
	f.Add(`{"repositories":{"a":{"type":"fossil"},"packagist.org":false}}`, `{"packages-dev":[null,1,{"source":[]}]}`)
	f.Add(`{"repositories":[{"type":"package","package":{"0":{"source":{"type":"hg"}}}}]}`, `{"packages":{"a":{"source":{"type":"hg"}}}}`)
	f.Fuzz(func(t *testing.T, manifest, lock string) {
		s := ecosystem.NewSurvey(ecosystem.InTree(t.TempDir()), []string{"composer.json", "composer.lock"}, nil, t.Logf)
		s.Over = map[string][]byte{"composer.json": []byte(manifest), "composer.lock": []byte(lock)}
		for name, data := range composerData(s, ".") {
			var all map[string]any
			if err := json.Unmarshal(data, &all); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, ok := all["scripts"]; ok && name == "composer.json" {
				t.Error("scripts are left")
			}
			drivers(t, name, all)
		}
	})
}

// drivers fails where a package or a repository is fetched by another program than git.
func drivers(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			drivers(t, at, one)
		}
	case map[string]any:
		if source, _ := v["source"].(map[string]any); source != nil && source["type"] != "git" {
			t.Errorf("%s: from %v", at, source)
		}
		if list, ok := v["repositories"]; ok && at == "composer.json" {
			var all []any
			if object, _ := list.(map[string]any); object != nil {
				for _, one := range object {
					all = append(all, one)
				}
			} else {
				all, _ = list.([]any)
			}
			for _, r := range all {
				if entry, _ := r.(map[string]any); entry != nil && slices.Contains([]any{"vcs", "hg", "svn", "fossil", "perforce", "pear"}, entry["type"]) {
					t.Errorf("%s: repository %v", at, entry)
				}
			}
		}
		for key, one := range v {
			drivers(t, at+"."+key, one)
		}
	}
}
