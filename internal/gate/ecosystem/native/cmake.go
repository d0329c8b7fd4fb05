package native

import (
	"path"
	"regexp"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var mergeCMakeCalls = ecosystem.MergeCalls(cmakeTestCalls...)

// mergeCMake puts the base's calls that declare tests in place of the head's.
func mergeCMake(base, head []byte) ([]byte, error) {
	merged, err := mergeCMakeCalls(base, head)
	if err != nil || string(merged) == string(head) {
		return merged, err
	}
	return []byte(oldAddTest.ReplaceAllStringFunc(string(merged), func(call string) string {
		m := oldAddTest.FindStringSubmatch(call)
		if strings.EqualFold(m[2], "NAME") {
			return call
		}
		return m[1] + "NAME " + m[2] + " COMMAND " + m[3]
	})), nil
}

// oldAddTest is a call of the form that finds a program only in the folder in which it is
// declared, and not by its target, which the head may build elsewhere
// (https://cmake.org/cmake/help/latest/command/add_test.html).
var oldAddTest = pattern.New(`(?i)(\badd_test\s*\(\s*)([\w.+:-]+)[ \t]+([\w.+-]+(?:[ \t][^()"'\\\n]*)?\))`)

var (
	// cmakeReaches is what can decide how tests declared elsewhere run, without being a call that
	// declares one, or what these are made of.
	cmakeReaches  = pattern.New(`(?i)\$<|\b(?:cmake_language|variable_watch|configure_file|execute_process|add_custom_command|add_custom_target|target_sources|source_group|find_program|TEST_INCLUDE_FILES?)\b|\bfile\s*\(\s*(?:WRITE|APPEND|GENERATE|CONFIGURE|COPY|COPY_FILE|RENAME|REMOVE|INSTALL|DOWNLOAD)\b|\bset_property\s*\(\s*["$]|\bPROPERT(?:Y|IES)\s+["$]`)
	cmakeDeclares = pattern.New(`(?i)\b(?:add_test|\w+_discover_tests|gtest_add_tests)\s*\(`)
	cmakeTakesIn  = pattern.New(`(?i)\b(?:add_subdirectory|include)\s*\(\s*"?([^\s")]+)`)
	// cmakeAnyProgram is cmakePrograms also of such as are named by variables.
	cmakeAnyProgram = pattern.New(`(?i)\badd_executable\s*\(\s*"?([\w.+:${}-]+)"?([^()]*)\)`)
	cmakeVar        = pattern.New(`\$\{[^}]*\}`)
)

// BuildPart is what is left of a file of CMake that only the head has, such as a CMakeLists.txt of a
// folder of tests or a module with a function that adds tests, without what declares and judges
// tests: what the rest of the head's build takes it in for. ok is false where that could still decide
// about the base's tests: by what reaches tests in other ways, or by a program of the name of one of
// the base that is made of something else. inBase says whether the base's files of CMake have a word,
// and isTest whether a file is one of the base's tests, or stands for one. sources are those of
// programs that the base does not have.
func BuildPart(name string, head []byte, inBase, isTest func(string) bool) (rest []byte, sources []string, ok bool) {
	if !IsCMake(name) {
		return nil, nil, false
	}
	rest, err := mergeCMakeCalls(nil, head)
	text := cmakeComment.ReplaceAll(rest, nil)
	if err != nil || cmakeTestCall.Match(text) || cmakeLaunches.Match(text) || cmakeReaches.Match(text) {
		return nil, nil, false
	}
	for _, m := range cmakeAnyProgram.FindAllSubmatch(text, -1) {
		for _, w := range strings.Fields(string(m[2])) {
			w = strings.Trim(w, `"`)
			at := sourceRoot.ReplaceAllString(w, "")
			src := path.Join(path.Dir(name), at)
			if at != w && !strings.Contains(w, "CURRENT") {
				src = path.Clean(at)
			}
			switch {
			case !IsSource(w) || cmakeVar.MatchString(path.Base(w)) || isTest(src):
			case cmakeVar.Match(m[1]) || inBase(string(m[1])):
				return nil, nil, false
			default:
				sources = append(sources, src)
			}
		}
	}
	return rest, sources, true
}

// BuildsByVariable says whether the text of a file of CMake makes programs of sources that are named
// by a variable, such as in a function that adds tests, and that can be one of a base name.
func BuildsByVariable(text []byte, base string) bool {
	for _, m := range cmakeAnyProgram.FindAllSubmatch(text, -1) {
		for _, w := range strings.Fields(string(m[2])) {
			parts := cmakeVar.Split(path.Base(strings.Trim(w, `"`)), -1)
			for i, p := range parts {
				parts[i] = regexp.QuoteMeta(p)
			}
			if len(parts) > 1 && regexp.MustCompile("^"+strings.Join(parts, ".+")+"$").MatchString(base) {
				return true
			}
		}
	}
	return false
}

// IsCMake says whether a file is one that CMake reads, by its name.
func IsCMake(name string) bool {
	return path.Base(name) == "CMakeLists.txt" || path.Ext(name) == ".cmake"
}

// CMakeDeclaresTests says whether a file of CMake declares tests.
func CMakeDeclaresTests(text []byte) bool {
	return cmakeDeclares.Match(cmakeComment.ReplaceAll(text, nil))
}

// IsTest recognises test sources of C and C++, and in folders of tests also what builds them.
func IsTest(name string) bool { return isCTest(name) }

// TakenInByCMake says whether the text of a file of CMake in dir takes another one in.
func TakenInByCMake(text []byte, dir, name string) bool {
	for _, m := range cmakeTakesIn.FindAllSubmatch(text, -1) {
		to := strings.TrimPrefix(cmakeVar.ReplaceAllString(string(m[1]), ""), "/")
		switch {
		case path.Base(name) == "CMakeLists.txt":
			if path.Join(dir, to) == path.Dir(name) || to == path.Dir(name) {
				return true
			}
		case to == strings.TrimSuffix(path.Base(name), ".cmake"), path.Join(dir, to) == name, to == name, path.Base(to) == path.Base(name):
			return true
		}
	}
	return false
}
