package sides

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	// lenientMark is how a test is allowed to fail or tried again, lenientOption the same as an option of a
	// call, lenientChain behind a call, and lenientCall in a function or beside it, for all that is in the same one.
	lenientMark = pattern.New(`(?i)xfail|expect(?:ed)?_?failure|\b(?:it|test|specify)(?:\.\w+)*(?:\.|\[["'])(?:fails|failing)\b|@(?:tag\s+:?)?[\w.\\]*(?:retry|retries|flaky|rerun|repeated_?if)|\[\w*(?:retry|flaky)\w*\s*[(\],:]|` +
		`\bmark\.(?:flaky|rerun\w*|retry)\b|\bretryAnalyzer\b|\bRetry\w*Rule\b|@ExtendWith\([^)]*(?:retry|flaky|rerun)|\[!(?:may|should)fail\]|\bdoctest::(?:may|should)_fail\b|\bWILL_FAIL\b|\bshould_fail\s*:|\btest\.fail\(`)
	lenientOption = pattern.New(`(?i)\b(?:retry|retries|flaky|fails|failing)["']?\s*(?::|=>|=)|:(?:flaky|retry)\b`)
	lenientChain  = pattern.New(`(?:^|[)}]\s*)(?:\.|->)(?:retries|flaky)\(`)
	lenientCall   = pattern.New(`\bthis(?:\.\w+(?:\(\))?)*(?:\.|\[["'])retries\b|\bretryTimes\(|\bsetConfig\(.*\bretry\b|^use_retry\b|\bRetry\.use!|\brun_with_retry\b|@(?:module|describe)tag\s+:?(?:flaky|retry)`)
	// lenientCatch checks the error of a promise that need not fail, where countsChecks does not see to it.
	lenientCatch = pattern.New(`\.catch\(\s*(?:async\s*)?\(?[\w$]*\)?\s*=>\s*\{?\s*(?:\w+\.)?(?:expect|assert)\b`)
	countsChecks = pattern.New(`\bexpect\.(?:assertions|hasAssertions)\(|\.plan\(`)
	lenientGroup = pattern.New(`(?i)\b(?:describe|suite|context|feature)\b.*\b(?:retry|retries|flaky)["']?\s*(?::|=>)`)
	// lenientOf begins a statement of Python for all tests in a class or a file.
	lenientOf = pattern.New(`^(?:@|class\b|pytestmark\b)`)
	// lenientWord is one of Python for what lets a test fail, or tries it again, as its decorators have it.
	lenientWord = pattern.New(`\b(?:flaky|rerun\w*|retry|retries|expectedFailure|xfail)\b`)
	// lenientName is a name for a function that lets a test fail, or for such options.
	lenientName = pattern.New(`\b(\w+)\s*=\s*(?:[\w$]+\.)+(?:fails|failing)\b|\b(\w+)\s*=\s*\{[^{}]*\b(?:retry|retries|flaky|fails|failing)["']?\s*(?::|=>)|\{([^{}]*\b(?:fails|failing)\b[^{}]*)\}\s*=\s*(?:[\w$]+\.)*(?:it|test|specify)\b`)
)

// AddsLeniency says whether an edit of the test itself, or of the groups around it, lets it fail, or tries it again.
func (r *Reader) AddsLeniency(id results.ID) bool {
	file, src := r.TestFileOf(id)
	if src == nil || path.Ext(file) != ".rs" && r.testsOf(results.Base, file, src).Text(id.Test) != "" {
		return r.marked(id, lenientMark) || r.lenientAround(id)
	}
	head := r.headTests(file)
	return slices.ContainsFunc([]string{file, r.MovedTo(file)}, func(name string) bool {
		return lenient(name, classes.Versions{Base: src, Head: head[name]}, id.Test)
	})
}

// lenientAround says of a test of Python whether the change brings leniency to its class, to its module, or
// under a name that its decorators have.
func (r *Reader) lenientAround(id results.ID) bool {
	file, src := r.TestFileOf(id)
	if path.Ext(file) != ".py" {
		return false
	}
	head := r.headTests(file)
	own := results.LastName(id.Test)
	own, _, _ = strings.Cut(own[strings.LastIndexAny(own, ".:")+1:], "[")
	was := r.testsOf(results.Base, file, src).Text(id.Test)
	return slices.ContainsFunc([]string{file, r.MovedTo(file)}, func(name string) bool {
		text := r.testsOf(results.Head, name, head[name]).Text(id.Test)
		before, after := around(file, src, id.Test), around(name, head[name], id.Test)
		above, _, _ := strings.Cut(text, "def "+own)
		names, brought := classes.Words([]byte(above)), classes.Words([]byte(strings.Join(added([]byte(was), []byte(above)), "")))
		return slices.ContainsFunc(after, func(s string) bool {
			fresh := !slices.Contains(before, s)
			switch {
			case fresh && lenientMark.MatchString(s) && (lenientOf.MatchString(s) || classes.Words([]byte(s))[own]):
				return true
			case !lenientWord.MatchString(s):
				return false
			}
			return slices.ContainsFunc(sets(s), func(w string) bool { return brought[w] || fresh && names[w] })
		})
	})
}

// around are the statements of a source of Python around a test.
func around(name string, src []byte, test string) []string {
	text := []byte(classes.Around(name, src, test, ""))
	return atTop(withoutFuncs(text, classes.ReadTests(name, text).Funcs))
}

// lenient says whether the head's version of a file brings leniency to a test that is a call: in all of
// it where the call is not found.
func lenient(name string, v classes.Versions, test string) bool {
	is, known := classes.LinesOf(name, string(v.Head), test)
	var brought []string
	for _, line := range added(v.Base, v.Head) {
		brought = append(brought, strings.TrimSpace(line))
	}
	matches := func(lines []string, by ...*pattern.Pattern) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			return slices.ContainsFunc(by, func(p *pattern.Pattern) bool { return p.MatchString(line) })
		})
	}
	if slices.ContainsFunc(brought, func(line string) bool {
		return lenientCatch.MatchString(line) && (!known || slices.Contains(is.Inner, line) || strings.Contains(line, results.LastName(test)))
	}) && !countsChecks.Match(v.Head) {
		return true
	}
	if !known {
		return matches(brought, lenientMark, lenientOption, lenientChain, lenientCall, lenientGroup) || lenientName.MatchString(strings.Join(brought, "\n"))
	}
	was, _ := classes.LinesOf(name, string(v.Base), test)
	edges := missing(was.Edges, is.Edges)
	apart := slices.DeleteFunc(is.Apart, func(line string) bool { return !slices.Contains(brought, line) })
	return matches(edges, lenientMark, lenientOption, lenientChain, lenientCall) || matches(missing(was.Inner, is.Inner), lenientMark, lenientCall) ||
		matches(apart, lenientCall) || lenientByName(v, is.Edges, edges)
}

// lenientByName says whether the edges of a test have a name for leniency, and either is new.
func lenientByName(v classes.Versions, edges, brought []string) bool {
	names := func(lines, in []string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			words := classes.Words([]byte(line))
			return slices.ContainsFunc(in, func(w string) bool { return words[w] })
		})
	}
	for _, m := range lenientName.FindAllStringSubmatch(string(v.Head), -1) {
		in := []string{m[1], m[2]}
		for w := range classes.Words([]byte(m[3])) {
			in = append(in, w)
		}
		if names(brought, in) || names(edges, in) && !strings.Contains(string(v.Base), m[0]) {
			return true
		}
	}
	return false
}
