package results

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/joshdk/go-junit"
)

// Pytest collects what pytest writes. It names files from the folder whose settings it takes
// (https://docs.pytest.org/en/stable/reference/customize.html#finding-the-rootdir), which can be one above that
// of the command, or one of folders, which are those of the files that the command names, in the repository.
func Pytest(folders ...string) func(string) Collector {
	return func(unit string) Collector {
		return &document{unit: unit, parse: ParsePytest, place: func(unit, wd string, o *Outcome) {
			from := []string{unit}
			for up := unit; up != "."; {
				up = path.Dir(up)
				from = append(from, up)
			}
			name := o.pkg
			o.pkg = relative(unit, wd, name)
			for _, dir := range append(from, folders...) {
				at := relative(dir, wd, name)
				if _, err := os.Lstat(filepath.Join(wd, filepath.FromSlash(at))); err == nil {
					o.pkg = at
					return
				}
			}
		}}
	}
}

// byPytest is the style of pytest with junit_family=xunit1. A file that cannot
// be loaded is a test without a class.
func byPytest(_ []string, t junit.Test) (pkg, name string) {
	file := t.Properties["file"]
	module := strings.ReplaceAll(strings.TrimSuffix(file, ".py"), "/", ".")
	if t.Classname == "" {
		if file == "" {
			file = strings.ReplaceAll(t.Name, ".", "/") + ".py"
		}
		return file, ""
	}
	if file == "" {
		return t.Classname, t.Name
	}
	name = t.Name
	if t.Classname != module && !strings.HasPrefix(t.Classname, module+".") { // file is where its function stands, which its class has from another module
		var class []string
		if file, class = collectedBy(t.Classname); file != "" {
			return file, strings.Join(append(class, name), "::")
		}
		file = t.Properties["file"]
	}
	if class := strings.TrimPrefix(strings.TrimPrefix(t.Classname, module), "."); class != "" && class != t.Classname {
		name = strings.ReplaceAll(class, ".", "::") + "::" + name
	}
	return file, name
}

// collectedBy splits the class name of a test in JUnit XML of pytest, which is the path of
// the file that was collected and the classes in it, all joined by dots: the file ends with
// the last part that is named as modules of tests are, else before the first that is named as
// classes are. No file: neither is there.
func collectedBy(classname string) (file string, classes []string) {
	parts := strings.Split(classname, ".")
	n := 0
	for i, p := range parts {
		if strings.HasPrefix(p, "test_") || strings.HasSuffix(p, "_test") {
			n = i + 1
		}
	}
	if n == 0 {
		n = max(0, slices.IndexFunc(parts, func(p string) bool { return p != "" && unicode.IsUpper([]rune(p)[0]) }))
	}
	if n == 0 {
		return "", nil
	}
	return strings.Join(parts[:n], "/") + ".py", parts[n:]
}

// ParseUnittest reads what our result class of unittest writes.
func ParseUnittest(data []byte) ([]Outcome, error) { return ownLines("unittest", data) }

// ParsePytest reads what pytest writes. A test that is there several times was run
// again by a plugin (pytest-rerunfailures from 16.6.1 on, and some versions before): all
// but the last one are failures that it does not show.
func ParsePytest(data []byte) ([]Outcome, error) {
	all, err := parseJUnit(byPytest)(data)
	at, out := map[string]int{}, []Outcome(nil)
	for _, o := range all {
		i, again := at[o.pkg+"\x00"+o.name]
		if !again || o.name == "" {
			at[o.pkg+"\x00"+o.name] = len(out)
			out = append(out, o)
			continue
		}
		was := out[i]
		if was.status == Failed { // with an error when it was taken down
			o.status = Failed
			if len(was.output) >= outputKeep || o.output == "" {
				o.output = was.output
			} else {
				o.output = Short(JoinOutput(was.output, o.output))
			}
		}
		o.elapsed += was.elapsed
		o.retried = o.retried || o.status == Passed
		out[i] = o
	}
	return out, err
}
