package node

import (
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var compilerFile = pattern.New(`^[jt]sconfig(?:[.-][\w.-]+)?\.json$`)

// IsCompilerSettings says whether a file says how TypeScript is compiled, by its name.
func IsCompilerSettings(name string) bool { return compilerFile.MatchString(path.Base(name)) }

// checks are the options by which a compiler finds more or less fault with a test, or makes other
// code of the same lines, and no source needs (https://www.typescriptlang.org/tsconfig/).
var checks = strings.Fields(`strict alwaysStrict noImplicitAny noImplicitThis strictNullChecks strictFunctionTypes strictBindCallApply strictPropertyInitialization
	strictBuiltinIteratorReturn useUnknownInCatchVariables noImplicitReturns noImplicitOverride noFallthroughCasesInSwitch noUncheckedIndexedAccess
	noUncheckedSideEffectImports exactOptionalPropertyTypes noPropertyAccessFromIndexSignature noUnusedLocals noUnusedParameters allowUnreachableCode allowUnusedLabels
	noStrictGenericChecks suppressExcessPropertyErrors suppressImplicitAnyIndexErrors keyofStringsOnly noImplicitUseStrict noCheck noEmitOnError checkJs isolatedModules
	downlevelIteration plugins`)

// loaderChecks are the same of ts-node, and what it loads before tests
// (https://typestrong.org/ts-node/docs/options).
var loaderChecks = strings.Fields("transpileOnly typeCheck swc transpiler compiler files require ignoreDiagnostics logError scope scopeDir ignore skipIgnore")

// targets are the versions of JavaScript that are made, the oldest first.
var targets = strings.Fields("es3 es5 es6 es2016 es2017 es2018 es2019 es2020 es2021 es2022 es2023 es2024 es2025 esnext")

// compilerSettings are what a file and those that it extends say.
type compilerSettings struct {
	options, loader map[string]any
	paths           map[string][]string // from the top of the tree
}

// CompilerMixture is what a file of settings is to tests that are compiled by it. v is what the
// sides have; base and head return their other files, nil for none.
func CompilerMixture(name string, v []byte, base, head func(string) []byte) *ecosystem.Mixture {
	of := func(src []byte) compilerSettings {
		read := head
		if string(src) == string(v) {
			read = base
		}
		left := maxExtended
		return settingsOf(name, src, read, &left)
	}
	return &ecosystem.Mixture{Class: compare.Steering, Merge: func(base, head []byte) ([]byte, error) {
		own := object(head)
		if own == nil {
			return head, nil // the compiler itself says what is wrong
		}
		was, is := of(base), of(head)
		changed := asBefore(own, "compilerOptions", checks, was.options, is.options)
		changed = targetAsBefore(own, was.options, is.options) || changed
		changed = asBefore(own, "ts-node", loaderChecks, was.loader, is.loader) || changed
		loader := members(own, "ts-node")
		if nested := asBefore(loader, "compilerOptions", checks, members(was.loader, "compilerOptions"), members(is.loader, "compilerOptions")); nested {
			own["ts-node"], changed = loader, true
		}
		if changed = pathsAsBefore(own, path.Dir(name), was.paths) || changed; !changed {
			return head, nil
		}
		return json.MarshalIndent(own, "", "  ")
	}}
}

// asBefore sets keys of a member of an object to what they were, where they are not that.
func asBefore(own map[string]any, member string, keys []string, was, is map[string]any) (changed bool) {
	all := members(own, member)
	for _, key := range keys {
		if reflect.DeepEqual(was[key], is[key]) {
			continue
		}
		if changed = true; was[key] == nil {
			delete(all, key)
		} else {
			all[key] = was[key]
		}
	}
	if changed {
		own[member] = all
	}
	return changed
}

// targetAsBefore has code made for the base's version of JavaScript where the head's is older: a
// loop over what has no length makes none there.
func targetAsBefore(own, was, is map[string]any) bool {
	rank := func(options map[string]any) int {
		text, _ := options["target"].(string)
		if text = strings.ToLower(text); text == "es2015" {
			text = "es6"
		}
		return slices.Index(targets, text)
	}
	if now := rank(is); now < 0 || now >= rank(was) {
		return false
	}
	options := members(own, "compilerOptions")
	options["target"] = was["target"]
	own["compilerOptions"] = options
	return true
}

// pathsAsBefore leads the names that the base has for modules where they led there, and those that
// are found from a folder.
func pathsAsBefore(own map[string]any, dir string, was map[string][]string) (changed bool) {
	options := members(own, "compilerOptions")
	from := rootOf(options, dir)
	paths := members(options, "paths")
	for name := range paths {
		if before, there := was[name]; there && !slices.Equal(before, placesOf(paths[name], from)) {
			var list []any
			for _, to := range before {
				if rel, err := filepath.Rel(from, to); err == nil {
					list = append(list, "./"+filepath.ToSlash(rel))
				}
			}
			paths[name], changed = list, true
		}
	}
	if changed {
		options["paths"] = paths
		own["compilerOptions"] = options
	}
	return changed
}

// rootOf is the folder from which paths of options go.
func rootOf(options map[string]any, dir string) string {
	base, _ := options["baseUrl"].(string)
	return path.Join(dir, base)
}

func placesOf(list any, from string) []string {
	var out []string
	all, _ := list.([]any)
	for _, to := range all {
		if text, ok := to.(string); ok {
			out = append(out, path.Join(from, text))
		}
	}
	return out
}

// maxExtended bounds how many files are read for one that extends others.
const maxExtended = 32

// settingsOf are those of a file, with what it extends in the tree. left is how many files may still
// be read.
func settingsOf(name string, src []byte, read func(string) []byte, left *int) compilerSettings {
	out := compilerSettings{map[string]any{}, map[string]any{}, map[string][]string{}}
	own := object(src)
	for _, other := range Extended(name, src) {
		if *left--; *left < 0 {
			break
		}
		s := settingsOf(other, read(other), read, left)
		maps.Copy(out.options, s.options)
		maps.Copy(out.loader, s.loader)
		if len(s.paths) > 0 {
			out.paths = s.paths
		}
	}
	options := members(own, "compilerOptions")
	maps.Copy(out.options, options)
	maps.Copy(out.loader, members(own, "ts-node"))
	if paths := members(options, "paths"); len(paths) > 0 {
		out.paths = map[string][]string{}
		for n, list := range paths {
			out.paths[n] = placesOf(list, rootOf(options, path.Dir(name)))
		}
	}
	return out
}

// Extended are the files of the tree that a file of settings is an extension of
// (https://www.typescriptlang.org/tsconfig/#extends).
func Extended(name string, src []byte) []string {
	var out []string
	add := func(v any) {
		to, _ := v.(string)
		if !strings.HasPrefix(to, "./") && !strings.HasPrefix(to, "../") {
			return // of a package
		}
		if to = path.Join(path.Dir(name), to); path.Ext(to) != ".json" {
			to += ".json"
		}
		out = append(out, to)
	}
	switch from := object(src)["extends"].(type) {
	case []any:
		for _, v := range from {
			add(v)
		}
	default:
		add(from)
	}
	return out
}

// object is what JSON with comments has at its top; nil: it is no object.
func object(src []byte) map[string]any {
	var out map[string]any
	if json.Unmarshal(ecosystem.PlainJSON(src), &out) != nil {
		return nil
	}
	return out
}

// members are those of an object within another one.
func members(of map[string]any, name string) map[string]any {
	if in, ok := of[name].(map[string]any); ok {
		return in
	}
	return map[string]any{}
}
