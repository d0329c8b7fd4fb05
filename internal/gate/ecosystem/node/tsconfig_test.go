package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompilerMixture holds by which settings of TypeScript the base's tests are compiled over the
// head's sources, and that what these need stays the head's.
func TestCompilerMixture(t *testing.T) {
	t.Parallel()
	shared := map[string]string{"config/base.json": `{"compilerOptions": {"strict": true, "paths": {"@a/*": ["../a/*"]}}}`}
	for _, tt := range []struct{ what, base, head, want string }{
		{"checks, in a file with comments", `{"compilerOptions": {"strict": true}}`, "{\n  // Less.\n  \"compilerOptions\": {\"strict\": false, \"outDir\": \"dist//\",},\n}", `{"compilerOptions":{"outDir":"dist//","strict":true}}`},
		{"checks that the base has not", `{}`, `{"compilerOptions": {"strict": true, "module": "esnext"}}`, `{"compilerOptions":{"module":"esnext"}}`},
		{"a loader", `{}`, `{"ts-node": {"transpileOnly": true, "esm": true, "require": ["./a"]}}`, `{"ts-node":{"esm":true}}`},
		{"what a loader compiles by", `{}`, `{"ts-node": {"compilerOptions": {"strict": false, "module": "commonjs"}}}`, `{"ts-node":{"compilerOptions":{"module":"commonjs"}}}`},
		{"an older target", `{"compilerOptions": {"target": "ES2020"}}`, `{"compilerOptions": {"target": "es5"}}`, `{"compilerOptions":{"target":"ES2020"}}`},
		{"a newer target, and modules", `{"compilerOptions": {"target": "es2015", "module": "commonjs"}}`, `{"compilerOptions": {"target": "es2022", "module": "nodenext", "lib": ["es2022"]}, "include": ["src"]}`, ""},
		{"paths", `{"compilerOptions": {"paths": {"@a/*": ["./src/*"]}}}`, `{"compilerOptions": {"paths": {"@a/*": ["./old/*", "./src/*"], "@b/*": ["./b/*"]}}}`, `{"compilerOptions":{"paths":{"@a/*":["./src/*"],"@b/*":["./b/*"]}}}`},
		{"paths from another folder", `{"compilerOptions": {"baseUrl": ".", "paths": {"@a/*": ["src/*"]}}}`, `{"compilerOptions": {"baseUrl": "./lib", "paths": {"@a/*": ["./*"]}}}`, `{"compilerOptions":{"baseUrl":"./lib","paths":{"@a/*":["./../src/*"]}}}`},
		{"the same paths, written otherwise", `{"compilerOptions": {"baseUrl": ".", "paths": {"@a/*": ["src/*"]}}}`, `{"compilerOptions": {"paths": {"@a/*": ["./src/*"], "@b/*": ["./b/*"]}}}`, ""},
		{"an extension that is gone", `{"extends": "./config/base.json"}`, `{"compilerOptions": {"paths": {"@a/*": ["./old/*"]}}}`, `{"compilerOptions":{"paths":{"@a/*":["./a/*"]},"strict":true}}`},
		{"an extension that is written out", `{"extends": ["./config/base"]}`, `{"compilerOptions": {"strict": true}}`, ""},
		{"no settings", `{}`, `{"compilerOptions": `, ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			read := func(name string) []byte { return []byte(shared[name]) }
			got, err := CompilerMixture("tsconfig.json", []byte(tt.base), read, read).Merge([]byte(tt.base), []byte(tt.head))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if string(got) != tt.head {
					t.Errorf("it is changed: %s", got)
				}
				return
			}
			if d := cmp.Diff(object([]byte(tt.want)), object(got)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
}

// TestLoaderSettings holds where recipes name the settings that tests are loaded by.
func TestLoaderSettings(t *testing.T) {
	t.Parallel()
	for recipe, want := range map[string][]string{
		"TS_NODE_PROJECT=config/ts.json mocha -r ts-node/register": {"config/ts.json"},
		"tsx --tsconfig ./config/ts.json --test test/":             {"./config/ts.json"},
		"ts-node -P config/ts.json run.ts && npm run -P other":     {"config/ts.json"},
		"mocha --config .mocharc.json":                             nil,
	} {
		if got := LoaderSettings(recipe); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", recipe, got, want)
		}
	}
}

// A file that extends others many times over is not read as often.
func TestExtensionsAreBounded(t *testing.T) {
	t.Parallel()
	reads := 0
	read := func(string) []byte {
		reads++
		return []byte(`{"extends": [` + strings.Repeat(`"./a.json", `, 50) + `"./b.json"]}`)
	}
	m := CompilerMixture("tsconfig.json", []byte(`{}`), read, read)
	if _, err := m.Merge([]byte(`{}`), read("")); err != nil || reads > 2*maxExtended {
		t.Errorf("%d reads, %v", reads, err)
	}
}
