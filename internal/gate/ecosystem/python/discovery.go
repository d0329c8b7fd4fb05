package python

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// Bounds of in how many folders tests are looked for, and in how many beside tests/.
const (
	maxDiscoveries = 32
	maxBeside      = 8
)

// A discovery is a call of unittest's discovery, as tests in a file ask for it.
type discovery struct {
	args []string
	file string
}

// allTests are the names of files of tests; the shell must not take it for files.
var allTests = ecosystem.Quoted("*test*.py")

// discoveries are the arguments of unittest's discovery, of each call: where the tests are. From the top
// it finds those in packages alone, so that each other folder is gone through by itself. Where there is
// tests/ or test/, other folders are beside it: it is not known that their tests can be run so. apart are
// folders whose tests are left out. unread are the folders for which there are too many.
func discoveries(s *ecosystem.Survey, dir string, apart []string) (args [][]string, beside []discovery, unread []string) {
	files := slices.DeleteFunc(slices.Clone(s.Below(dir)), func(f string) bool {
		return slices.ContainsFunc(apart, func(o string) bool { return ecosystem.Inside(o, path.Join(dir, f)) })
	})
	for _, sub := range []string{"tests", "test"} {
		if slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, sub+"/") && isPythonTest(f) }) {
			main, root := discoveryOf(s, dir, sub)
			looked := func(file, in string) bool { return in == root && strings.HasPrefix(file, sub+"/") }
			for _, in := range foldersOfTests(s, dir, files, looked) {
				switch {
				case !in.unittest:
				case len(beside) < maxBeside:
					beside = append(beside, discovery{discover(in.folder), in.file})
				default:
					unread = append(unread, in.folder)
				}
			}
			return [][]string{main}, beside, unread
		}
	}
	found := foldersOfTests(s, dir, files, func(string, string) bool { return false })
	if len(found) == 0 || slices.ContainsFunc(found, func(in folderOfTests) bool { return in.folder == "." }) {
		args = append(args, discover("."))
	}
	for _, in := range found {
		switch {
		case in.folder == ".":
		case len(args) < maxDiscoveries:
			args = append(args, discover(in.folder))
		default:
			unread = append(unread, in.folder)
		}
	}
	return args, nil, unread
}

// discover are the arguments by which the tests in a folder and in its packages are found.
func discover(folder string) []string {
	if folder == "." {
		return []string{"discover", "-p", allTests}
	}
	return []string{"discover", "-s", ecosystem.Quoted(folder), "-p", allTests}
}

// discoveryOf are the arguments for tests/ or test/, and the folder that its packages are in.
func discoveryOf(s *ecosystem.Survey, dir, sub string) (args []string, root string) {
	pattern := "test*.py"
	if !slices.ContainsFunc(s.Below(dir), func(f string) bool { return strings.HasPrefix(f, sub+"/test") || strings.Contains(f, "/test_") }) {
		pattern = "*_test.py"
	}
	if s.Has(dir, sub+"/__init__.py") {
		return []string{"discover", "-s", sub, "-t", ".", "-p", ecosystem.Quoted(pattern)}, "."
	}
	return []string{"discover", "-s", sub, "-p", ecosystem.Quoted(pattern)}, sub
}

// folderOfTests is a folder in which files of tests are, or packages of them.
type folderOfTests struct {
	folder, file string // with the first one, which names unittest if one does
	unittest     bool
}

// foldersOfTests are those of files, but for what is looked for already in a folder.
func foldersOfTests(s *ecosystem.Survey, dir string, files []string, looked func(file, in string) bool) []folderOfTests {
	var out []folderOfTests
	for _, f := range files {
		if !isPythonTest(f) || ecosystem.IgnoredDir(path.Dir(f)) {
			continue
		}
		in := path.Dir(f)
		for in != "." && s.Has(dir, in+"/__init__.py") {
			in = path.Dir(in)
		}
		if looked(f, in) {
			continue
		}
		tested := pythonTestName.MatchString(path.Base(f)) && bytes.Contains(s.Read(dir, f), []byte("unittest"))
		at := slices.IndexFunc(out, func(o folderOfTests) bool { return o.folder == in })
		switch {
		case at < 0:
			out = append(out, folderOfTests{in, f, tested})
		case tested && !out[at].unittest:
			out[at].file, out[at].unittest = f, true
		}
	}
	return out
}
