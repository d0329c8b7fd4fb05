package reproduce

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A crash is a failed run of a check on the head, which may be one.
type crash struct {
	record  evidence.Record
	text    string // what it wrote
	command string
	grounds Grounds
}

// crashed says in words how the project's code crashed; "" where it did not, or where
// it may have been the probe that did: an exception that the project raises on purpose
// is its word for being used wrongly, and so is a wrong type that a probe passes.
func crashed(c crash) string {
	if c.record.TimedOut {
		if waits.MatchString(c.command) || waits.MatchString(c.text) {
			return "" // a server, or a probe that waits for one
		}
		return "it does not end"
	}
	if what := signalled(c); what != "" {
		return what
	}
	if m := serverError.FindStringSubmatch(c.text); m != nil {
		return "the server answers " + strings.Join(strings.Fields(m[0]), " ")
	}
	if m := statusLine.FindStringSubmatch(c.text); m != nil && statusAsked.MatchString(c.command) {
		return "the server answers " + m[1]
	}
	for _, find := range []func(crash) (stack, bool){goPanic, pythonError, pytestError, nodeError, rustPanic, javaError, rubyError} {
		s, ok := find(c)
		if !ok {
			continue
		}
		file := c.project(s.file)
		if file == "" || c.grounds.Probe && s.deliberate {
			return ""
		}
		return fmt.Sprintf("%s in %s", s.what, file)
	}
	return ""
}

// project is the file of the head that a stack names; "" for the probe's own.
func (c crash) project(file string) string {
	return cmp.Or(trackedAs(c.grounds.Files, file), onlyFile(c.grounds.Files, file))
}

// A stack is where an error was raised.
type stack struct {
	what       string // such as "panic" or the name of an exception
	file       string // of the innermost frame that is no library's
	deliberate bool   // it may be the caller's mistake
}

var (
	waits       = pattern.New(`(?i)\b(?:while|until|sleep|wait|tail -f|nc -l|serve[rd]?|serving|listen(?:s|ing)?|daemon|watch|repl|http\.server|flask run|runserver|npm (?:run )?(?:start|dev))\b`)
	serverError = pattern.New(`\bHTTP/[\d.]+ 5(?:0[02-9]|[1-9]\d)\b[^\r\n]{0,40}|\bHTTP Error 5(?:0[02-9]|[1-9]\d)\b[^\r\n]{0,40}|returned error: 5(?:0[02-9]|[1-9]\d)\b|\b500 Internal Server Error\b`)
	statusLine  = pattern.New(`(?m)^\W*(?i:(?:http[ _-]?)?(?:code|status)?\W*)(5(?:0[02-9]|[1-9]\d))\W*$`)
	statusAsked = pattern.New(`http_code|response_code|status`)
	signalWord  = pattern.New(`(?m)\bSegmentation fault\b|\bERROR: AddressSanitizer\b|\bBus error\b|\bFloating point exception\b`)
)

// signalled finds a program that a signal of its own making ended.
func signalled(c crash) string {
	names := map[int]string{132: "SIGILL", 134: "SIGABRT", 135: "SIGBUS", 136: "SIGFPE", 139: "SIGSEGV"}
	if name := names[c.record.Exit]; name != "" {
		return "ended by " + name
	}
	if slices.Contains([]string{"SIGILL", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV"}, c.record.Signal) {
		return "ended by " + c.record.Signal
	}
	if m := signalWord.FindStringSubmatch(c.text); m != nil && c.record.Exit > 128 {
		return m[0]
	}
	return ""
}

var (
	goStart = pattern.New(`(?m)^\s*(panic: .*|fatal error: .*)$`)
	goFrame = pattern.New(`(?m)^\s+(\S+\.go):\d+(?: \+0x[0-9a-f]+)?\s*$`)
	goRoot  = pattern.New(`/src/(?:runtime|testing|internal|sync|reflect)/|/pkg/mod/`)
)

func goPanic(c crash) (stack, bool) {
	at := goStart.FindStringSubmatchIndex(c.text)
	if at == nil {
		return stack{}, false
	}
	said, rest := c.text[at[2]:at[3]], c.text[at[1]:]
	if again := strings.LastIndex(rest, "\npanic("); again >= 0 {
		rest = rest[again:] // what comes before recovered and raised it again
	}
	s := stack{what: said, deliberate: !strings.Contains(said, "runtime error") && !strings.HasPrefix(said, "fatal error")}
	for _, m := range goFrame.FindAllStringSubmatch(rest, -1) {
		if s.file = m[1]; !goRoot.MatchString(s.file) {
			return s, true
		}
	}
	return s, true
}

var (
	pyFrame = pattern.New(`^\s*File "([^"]+)", line \d+`)
	pyError = pattern.New(`(?m)^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning|Iteration|NotImplemented)\w*)(?::[^\n]*)?$`)
	pyLines = pattern.New(`(?m)^(\S+\.py):\d+: ([A-Z]\w+)$`)
	pyRaise = pattern.New(`(?m)^>\s+raise\b`)
)

// misused are exceptions with which a language says that something was called wrongly.
func misused(kind string) bool {
	switch kind[strings.LastIndexByte(kind, '.')+1:] {
	case "TypeError", "AttributeError", "AssertionError", "ModuleNotFoundError", "ImportError", "SystemExit", "KeyboardInterrupt", "NotImplementedError",
		"ArgumentError", "NoMethodError", "IllegalArgumentException", "IllegalStateException", "UnsupportedOperationException", "NumberFormatException":
		return true
	}
	return false
}

func pythonError(c crash) (stack, bool) {
	at := strings.LastIndex(c.text, "Traceback (most recent call last):")
	if at < 0 {
		return stack{}, false
	}
	text := c.text[at:]
	s := stack{what: "Traceback"}
	raised := ""
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		m := pyFrame.FindStringSubmatch(line)
		if m == nil || library(m[1]) {
			continue
		}
		s.file, raised = m[1], ""
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ") {
			raised = strings.TrimSpace(lines[i+1])
		}
	}
	if m := pyError.FindStringSubmatch(text); m != nil {
		s.what = m[1]
	}
	s.deliberate = misused(s.what) || strings.HasPrefix(raised, "raise ") || strings.HasPrefix(raised, "assert ")
	return s, true
}

func pytestError(c crash) (stack, bool) {
	all := pyLines.FindAllStringSubmatch(c.text, -1)
	if len(all) == 0 {
		return stack{}, false
	}
	for _, m := range slices.Backward(all) {
		if !library(m[1]) {
			return stack{what: m[2], file: m[1], deliberate: misused(m[2]) || pyRaise.MatchString(c.text)}, true
		}
	}
	return stack{}, true
}

// library says whether a file is no part of a project: of a language or a package.
func library(name string) bool {
	for _, part := range []string{"/site-packages/", "/dist-packages/", "/lib/python", "node_modules/", "node:", "<frozen"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

var (
	nodeHead  = pattern.New(`(?m)^(?:Uncaught )?(?:\w+ \[)?([A-Z]\w*(?:Error|Exception))(?: \[\w+\])?(?::[^\n]*)?\n(?:[^\n]*\n){0,5}?\s+at `)
	nodeFrame = pattern.New(`(?m)^\s+at (?:[^\n(]*\()?(?:file://)?([^\s():]+):\d+:\d+\)?`)
	nodeThrow = pattern.New(`(?m)^\s*throw\b`)
)

func nodeError(c crash) (stack, bool) {
	at := nodeHead.FindStringSubmatchIndex(c.text)
	if at == nil {
		return stack{}, false
	}
	s := stack{what: c.text[at[2]:at[3]]}
	// AssertionError and plain Error are what code throws on purpose.
	s.deliberate = misused(s.what) || s.what == "Error" || s.what == "RangeError" || nodeThrow.MatchString(c.text)
	for _, m := range nodeFrame.FindAllStringSubmatch(c.text[at[2]:], -1) {
		if !library(m[1]) {
			s.file = m[1]
			return s, true
		}
	}
	return s, true
}

var (
	rustHead    = pattern.New(`thread '([^']*)'[^\n]* panicked at (?:'[^']*', )?([^\s:]+\.rs):\d+:\d+:?\n?([^\n]*)`)
	rustRuntime = pattern.New(`attempt to |index out of bounds|out of range|called .(?:Option|Result)::|already (?:mutably )?borrowed|byte index|internal error: entered unreachable`)
)

func rustPanic(c crash) (stack, bool) {
	m := rustHead.FindStringSubmatch(c.text)
	if m == nil {
		return stack{}, false
	}
	return stack{what: "panic", file: m[2], deliberate: m[1] != "main" && !rustRuntime.MatchString(m[3])}, true
}

var (
	javaHead  = pattern.New(`Exception in thread "[^"]*" ([\w.$]+)`)
	javaFrame = pattern.New(`(?m)^\s+at [\w.$<>/]+\((\w+\.(?:java|kt|scala)):\d+\)`)
)

func javaError(c crash) (stack, bool) {
	m := javaHead.FindStringSubmatch(c.text)
	if m == nil {
		return stack{}, false
	}
	s := stack{what: m[1], deliberate: misused(m[1])}
	for _, f := range javaFrame.FindAllStringSubmatch(c.text, -1) {
		i := slices.IndexFunc(c.grounds.Files, func(name string) bool { return path.Base(name) == f[1] })
		if i >= 0 {
			s.file = c.grounds.Files[i]
			return s, true
		}
	}
	return s, true
}

var rubyHead = pattern.New(`(?m)^(\S+\.rb):\d+:in [^\n]*?: [^\n]*\(([A-Z]\w+)\)`)

func rubyError(c crash) (stack, bool) {
	m := rubyHead.FindStringSubmatch(c.text)
	if m == nil {
		return stack{}, false
	}
	return stack{what: m[2], file: m[1], deliberate: misused(m[2]) || m[2] == "RuntimeError"}, true
}

// ownFault are words by which a probe fails of itself.
var ownFault = pattern.New(`(?m)^\s*File "<(?:string|stdin)>", line \d+\n[^\n]*\n(?:[^\n]*\^[^\n]*\n)?SyntaxError|: command not found$|: not found$|(?i)connection refused|couldn't connect to server|failed to connect to|ECONNREFUSED|\[(?:build|setup) failed\]|syntax error near unexpected token|unexpected EOF while looking for`)

// brokenProbe says whether a probe shows nothing of the project, since it does not run.
func brokenProbe(text string, r evidence.Record) bool {
	return slices.Contains(unrunnable, r.Exit) || ownFault.MatchString(text)
}
