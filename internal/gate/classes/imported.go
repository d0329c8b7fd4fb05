package classes

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
	"github.com/ycbot/ycbot/internal/pattern"
)

// relativeImport is a module of the same tree in JavaScript and TypeScript.
var relativeImport = pattern.New(`(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.{1,2}(?:/[^"']*)?)["']`)

// ImportsScript says whether a JavaScript or TypeScript source in dir imports a file of
// the tree by a relative path, with or without its extension.
func ImportsScript(text, dir, name string) bool {
	if !node.IsSource(name) {
		return false
	}
	if _, in, ok := strings.Cut("/"+name, "/node_modules/"); ok {
		parts := strings.SplitN(in, "/", 3)
		module := parts[0]
		if strings.HasPrefix(module, "@") && len(parts) > 1 {
			module += "/" + parts[1]
		}
		return slices.ContainsFunc([]string{`"` + module + `"`, "'" + module + "'", `"` + module + "/", "'" + module + "/"}, func(s string) bool { return strings.Contains(text, s) })
	}
	if in := ofOthers(name); in != "" && importsOthers(text, path.Dir(in)) {
		return true
	}
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, m := range relativeImport.FindAllStringSubmatch(text, -1) {
		to := path.Join(dir, m[1])
		if to == name || to == stem || to+"/index" == stem || strings.TrimSuffix(to, path.Ext(to)) == stem {
			return true
		}
	}
	return false
}

var pythonImport = pattern.New(`(?m)^\s*(?:from\s+(\.*[\w.]*)\s+import\s+\(?([\w ,*]*)|import\s+([\w., ]+))`)

// importsModule says whether a Python source in dir imports a module of the tree.
func importsModule(text, dir, name string) bool {
	if path.Ext(name) != ".py" {
		return false
	}
	module := strings.TrimSuffix(strings.TrimSuffix(name, ".py"), "/__init__")
	is := func(dotted string) bool {
		at := strings.ReplaceAll(dotted, ".", "/")
		return at != "" && (module == at || strings.HasSuffix(module, "/"+at))
	}
	for _, m := range pythonImport.FindAllStringSubmatch(text, -1) {
		for one := range strings.SplitSeq(m[3], ",") {
			if first, _, _ := strings.Cut(strings.TrimSpace(one), " "); is(first) {
				return true
			}
		}
		from := strings.TrimLeft(m[1], ".")
		if up := len(m[1]) - len(from); up > 0 {
			at := dir
			for range up - 1 {
				at = path.Dir(at)
			}
			from = strings.ReplaceAll(path.Join(at, strings.ReplaceAll(from, ".", "/")), "/", ".")
		}
		if from == "" {
			continue
		}
		if is(from) {
			return true
		}
		for one := range strings.SplitSeq(m[2], ",") {
			if first, _, _ := strings.Cut(strings.TrimSpace(one), " "); first != "" && is(from+"."+first) {
				return true
			}
		}
	}
	return false
}

// TopModule is the name by which a source of Python or Ruby, or a header of C and C++, is
// imported from a folder in which such are looked for, and that folder; empty: it is none.
func TopModule(name string) (dir, module string) {
	dir, stem := path.Dir(name), strings.TrimSuffix(path.Base(name), path.Ext(name))
	switch path.Ext(name) {
	case ".py":
		if stem == "__init__" {
			dir, stem = path.Dir(dir), path.Base(dir)
		}
		return dir, stem
	case ".rb":
		if in, module, ok := strings.Cut("/"+name, "/lib/"); ok {
			return path.Join(strings.TrimPrefix(in, "/"), "lib"), strings.TrimSuffix(module, ".rb")
		}
	case ".h", ".hh", ".hpp":
		return dir, stem
	}
	return "", ""
}

// classNames are the languages in which a file has one class of its name, which others use by
// that alone.
var classNames = []string{".php", ".java", ".kt", ".scala", ".groovy", ".cs", ".swift"}

// UsesClass says whether a source has the name of the class that a file of its language is
// called after.
func UsesClass(text, name string) bool {
	ext := path.Ext(name)
	return slices.Contains(classNames, ext) && Words([]byte(text))[strings.TrimSuffix(path.Base(name), ext)]
}

// ImportsTop says whether a source imports a module by its name alone, and not by its place in
// the tree.
func ImportsTop(text, ext, module string) bool {
	switch ext {
	case ".py":
		for _, m := range pythonImport.FindAllStringSubmatch(text, -1) {
			names := []string{m[1]}
			if m[3] != "" {
				names = strings.Split(m[3], ",")
			}
			for _, one := range names {
				first, _, _ := strings.Cut(strings.TrimSpace(one), " ")
				if top, _, _ := strings.Cut(first, "."); top == module {
					return true
				}
			}
		}
	case ".h", ".hh", ".hpp":
		return slices.ContainsFunc(cInclude.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == module+ext })
	case ".rb":
		return slices.ContainsFunc(rubyRequire.FindAllStringSubmatch(text, -1), func(m []string) bool {
			return m[1] == "" && strings.TrimSuffix(m[2], ".rb") == module
		})
	}
	return false
}

var rubyRequire = pattern.New(`(?m)^\s*(?:require|load)(_relative)?[\s(]+["']([^"']+)["']`)

// importsFeature says whether a Ruby source in dir requires a file of the tree.
func importsFeature(text, dir, name string) bool {
	if path.Ext(name) != ".rb" {
		return false
	}
	stem := strings.TrimSuffix(name, ".rb")
	return slices.ContainsFunc(rubyRequire.FindAllStringSubmatch(text, -1), func(m []string) bool {
		to := strings.TrimSuffix(m[2], ".rb")
		if m[1] != "" {
			return path.Join(dir, to) == stem
		}
		return stem == to || strings.HasSuffix(stem, "/"+to)
	})
}

// importsPackage says whether a Go source imports the package of a file of the tree, by
// what its import path ends in.
func importsPackage(text, name string) bool {
	dir := path.Dir(name)
	if path.Ext(name) != ".go" || dir == "." {
		return false
	}
	if _, in, ok := strings.Cut("/"+dir, "/vendor/"); ok {
		return strings.Contains(text, `"`+in+`"`)
	}
	if in := ofOthers(name); in != "" && importsOthers(text, path.Dir(in)) {
		return true
	}
	return strings.Contains(text, "/"+dir+`"`)
}

// importsOthers says whether a source has a string that ends in the folder of a module of
// another project, or in a folder above it, by which a replaced module or a package of
// package.json is imported.
func importsOthers(text, dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if slices.ContainsFunc([]string{`"` + dir + `"`, "'" + dir + "'", "/" + dir + `"`, "/" + dir + "'"}, func(s string) bool { return strings.Contains(text, s) }) {
			return true
		}
	}
	return false
}

var cInclude = pattern.New(`(?m)^\s*#\s*include\s*["<]([^">\n]+)[">]`)

// TakesHeader says whether a source in C or C++ includes a header of this name, in any folder.
func TakesHeader(text, name string) bool {
	if !strings.HasPrefix(path.Ext(name), ".h") {
		return false
	}
	return slices.ContainsFunc(cInclude.FindAllStringSubmatch(text, -1), func(m []string) bool { return path.Base(m[1]) == path.Base(name) })
}

// includesHeader says whether a source in C or C++ includes a header of other projects'
// sources, or that which a source of theirs is named like.
func includesHeader(text, name string) bool {
	in := ofOthers(name)
	if in == "" || !native.IsSource(name) {
		return false
	}
	stem := strings.TrimSuffix(in, path.Ext(in))
	return slices.ContainsFunc(cInclude.FindAllStringSubmatch(text, -1), func(m []string) bool {
		to := strings.TrimSuffix(m[1], path.Ext(m[1]))
		return to == stem || strings.HasSuffix("/"+stem, "/"+strings.TrimLeft(to, "./"))
	})
}

// othersFolder is what people call a folder of other projects' sources.
var othersFolder = pattern.New(`(?i)(?:^|/)(?:_?third[_-]?party|3rd-?party|externals?|extern|_vendor|vendored)/(.+)$`)

// ofOthers is the path of a file within a folder of other projects' sources, empty for one
// that is in none.
func ofOthers(name string) string {
	if m := othersFolder.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// ImportsOrLists says whether a source imports a file of the tree, or names the folder in which
// it lies in a string, as one that loads all that it finds there.
func ImportsOrLists(text, dir, name string) bool {
	if Imports(text, dir, name) {
		return true
	}
	in := path.Base(path.Dir(name))
	return in != "." && slices.ContainsFunc([]string{`"` + in + `"`, "'" + in + "'", "/" + in + `"`, "/" + in + "'", "/" + in + "/"}, func(s string) bool { return strings.Contains(text, s) })
}

// Imports says whether a source in dir imports another file of the tree.
func Imports(text, dir, name string) bool {
	return ImportsScript(text, dir, name) || importsModule(text, dir, name) || importsPackage(text, name) || importsFeature(text, dir, name) || includesHeader(text, name)
}
