package results

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// FirstLine is the first line of a text that is not empty.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Only is the pattern for -run that names exactly these top-level tests.
func Only(tests map[string]bool) string {
	names := slices.Sorted(maps.Keys(tests))
	for i, n := range names {
		names[i] = regexp.QuoteMeta(n)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// ofParameters is the name of a test of pytest with its parameters, which hold what stands between names
// elsewhere (test_parse[::1]).
var ofParameters = pattern.New(`(?s)^([\w.]+(?:::[\w.]+)*)\[.*\]$`)

// LastName is the innermost part of the name of a test, as its file has it.
func LastName(test string) string {
	if m := ofParameters.FindStringSubmatch(test); m != nil && !strings.Contains(test, "]"+NameSep) {
		test = m[1]
	}
	for _, sep := range []string{NameSep, "::"} {
		if i := strings.LastIndex(test, sep); i >= 0 {
			test = test[i+len(sep):]
		}
	}
	name, _, _ := strings.Cut(test, "[") // parameters
	return cmp.Or(name, test)
}

// NameSep stands between the names of groups of tests inside one another.
const NameSep = " > "

// environments are messages of tools that fail for want of something outside of
// the change: the failure says nothing about it.
var environments = pattern.New(`(?i)dial tcp|lookup [^ ]+( on [^ ]+)?: |no such host|network is unreachable|connection refused|i/o timeout|TLS handshake timeout|` +
	`temporary failure in name resolution|could not resolve host|unrecognized import path|module lookup disabled by GOPROXY=off|` +
	`requires go >= |EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ENETUNREACH|socket hang up|connection reset by peer|no space left on device|command not found|executable file not found|` +
	`connection timed out|read timed out|NewConnectionError|Max retries exceeded with url|UnknownHostException|spurious network error|failed to connect to|certificate verify failed|unable to get local issuer certificate|` +
	`could not reach host|wrap-based subproject downloading is disabled|could not read Username|terminal prompts disabled|Permission denied \(publickey|Host key verification failed|` +
	`\b(429 Too Many Requests|50[0234] (Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout))`)

// Environment returns the line of output that shows such a failure, or "": one that says what
// is missing comes before an error code alone and before a warning that it is tried again.
func Environment(output string) string {
	vague := ""
	for line := range strings.Lines(output) {
		if !environments.MatchString(line) {
			continue
		}
		if line = strings.TrimSpace(line); !heading.MatchString(line) && !strings.HasPrefix(line, "WARNING:") {
			return line
		}
		vague = cmp.Or(vague, line)
	}
	if why := FailureLine(output); strings.HasPrefix(vague, "WARNING:") && complaint.MatchString(why) {
		return why
	}
	return vague
}

// A complaint is a line by which runners, interpreters and shells say why they ended; a frame
// is one of those around it that say nothing. A heading is a complaint that says only that
// there is one, and a logged line one that a logger wrote: programs also log errors that are
// not why they end.
var (
	logged    = pattern.New(`^.{0,60}?(?:^|[\s:|\]\[])(?:ERROR|FATAL)(?:[\s:|\]].*\S)`)
	complaint = pattern.New("^\\S+:\\d+:in [`'].+': \\S|" + `^\s*(?:\S+> ?)?(?:E\s+)?(?:Uncaught )?[\w.$]*(?:Error|Exception|Exit)\b(?: \[\w+\])?:|(?i)^\s*(?:\S+: )?(?:\[?(?:error|fatal)\b|PHP (?:fatal|parse) error:|panic:|npm err(?:or|!) \w|usage error\b)|^Could not (?:find|reach|resolve|connect|open)\b|^(?:make(?:\[\d+\])?|\S+:\d+): \*\*\* \S|: undefined reference to .`)
	frame     = pattern.New(`^\s*(?:at .*|from \S+:\d+:in\b.*|File ".*", line \d+.*|\^+|~+|\W*|ERROR|exit status \d+|Node\.js v[\d.]+|.*make(?:\[\d+\])?: (?:\*\*\* (?:\[|Waiting ).*|(?:Entering|Leaving) directory .*|Target .* not remade because of errors\.)|go (?:get \S+|mod tidy))$`)
	// announced is a line of CMake, jest, Maven or pytest behind which the message stands in the next.
	announced = pattern.New(`^(?:(?:CMake Error(?: at .*)?|● Validation Error|(?:\[ERROR\] )+.*):|_+ ERROR collecting .+ _+)$`)
	heading   = pattern.New(`^\s*(?:error: (?:subprocess-exited-with-error|metadata-generation-failed)|npm err(?:or|!) (?:code|errno|syscall|path) .*)$`)
)

// goFrame are lines of "go test" around what a test says.
var goFrame = pattern.New(`^(?:--- (?:FAIL|PASS|SKIP): |=== (?:RUN|PAUSE|CONT|NAME) |FAIL$|FAIL\t|exit status \d+$)`)

// crashed is what a shell says of a program that a signal ended, before the text of its command.
var crashed = pattern.New(`^\S*: line \d+:\s+\d+ ((?:Segmentation fault|Aborted|Killed|Bus error|Illegal instruction|Floating point exception|Trace/breakpoint trap|Terminated)(?:\s+\(core dumped\))?)`)

// pytestError is what pytest begins the lines of an error with.
var pytestError = pattern.New(`^E {2,}`)

// FailureLine is the line of a failed command's output that says why it failed: its own error
// message, else its last line. Of a command that prints nothing it says so.
func FailureLine(output string) string {
	first, last, end, head, said, around := "", "", "", "", "", ""
	next := false
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(strings.TrimPrefix(plainText(line), "INTERNALERROR>"))
		line = pytestError.ReplaceAllString(line, "")
		switch {
		case crashed.MatchString(line):
			first, next = cmp.Or(first, crashed.FindStringSubmatch(line)[1]), false
		case announced.MatchString(line):
			next, head = true, cmp.Or(head, line)
		case next && line != "":
			first, last, end, next = cmp.Or(first, line), line, line, false
		case frame.MatchString(line), goFrame.MatchString(line):
			around = cmp.Or(line, around)
		case heading.MatchString(line):
			head = cmp.Or(head, line)
		case complaint.MatchString(line):
			first, last, end = cmp.Or(first, line), line, line
		case logged.MatchString(line):
			said, end = line, line
		default:
			end = line
		}
	}
	if strings.Contains(output, "Traceback (most recent call last)") {
		first = last
	}
	line := []rune(cmp.Or(first, head, said, end, around, "it prints nothing"))
	return string(line[:min(len(line), 200)])
}

// foundNone is a line by which a runner says that there are no tests to run: those of Python, of Node.js, of Ruby,
// of PHP, of Elixir, of the JVM, of .NET, of cargo-nextest and of CTest.
var foundNone = pattern.New(`(?i)\bno (?:\w+ )?(?:tests?|test \w+|specs?|spec files|suites?|examples) (?:found|(?:were |was )?(?:found|executed)|ran|is available|to run|specified|defined)\b|\bthere are no tests to run\b|\bcouldn.t find any files to test\b|` +
	`\b(?:ran 0|found 0|executed 0 of 0) ?(?:tests?\b|$)|\b0 test files\b|\bdid not discover any tests\b|\bdid not match any (?:file|directory)\b|\b(?:test directory|file or directory) .*not found|\bfile or directory not found\b|\btest file .* does not exist|\bstart directory is not importable\b|^could not find '[^']*'$`)

// FoundNone says of what a command printed that its runner found no test to run, and that nothing was wrong before.
func FoundNone(output string) bool {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(strings.TrimPrefix(plainText(line), "INTERNALERROR>"))
		switch {
		case foundNone.MatchString(line):
			return true
		case complaint.MatchString(line), crashed.MatchString(line):
			return false
		}
	}
	return false
}

// JoinOutput puts one output behind another.
func JoinOutput(a, b string) string {
	if a != "" && b != "" && !strings.HasSuffix(a, "\n") {
		a += "\n"
	}
	return a + b
}

// Listed names the first n of names.
func Listed(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

// Plural is one of two words, by a number of things.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Count words a number of things: "1 test fails", "2 tests fail".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Mentions says whether a text has a word that is not part of a longer one.
func Mentions(text, word string) bool {
	for rest := text; ; {
		i := strings.Index(rest, word)
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || !inWord(rest[i-1])) && (end == len(rest) || !inWord(rest[end])) {
			return true
		}
		rest = rest[i+1:]
	}
}

func inWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
