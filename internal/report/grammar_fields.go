package report

import (
	"regexp"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// claimCommands reads the field "Command run": what was run, and what of a console
// transcript is output.
func claimCommands(b *fieldText) (cmds []string, transcript string) {
	if len(b.fenced) > 0 {
		var rest []string
		for _, f := range b.fenced {
			c, out := shellBlock(f)
			cmds = append(cmds, c...)
			if out != "" {
				rest = append(rest, out)
			}
		}
		return cmds, strings.Join(rest, "\n")
	}
	text := strings.TrimSpace(strings.Join(b.plain, "\n"))
	if listedSpan.MatchString(text) {
		for _, s := range codeSpans(text) {
			c, _ := shellBlock(s)
			cmds = append(cmds, c...)
		}
		return cmds, ""
	}
	if ranNothing.MatchString(text) {
		return nil, ""
	}
	return shellBlock(text)
}

// listedSpan begins a list of code spans.
var listedSpan = pattern.New("^(?:[-*+\\s]|\\d+[.)]\\s)*`")

// ranNothing is what replies write where they ran nothing.
var ranNothing = pattern.New(`(?i)^\W*(none|n/?a|not run|no command|nothing|skipped|code review|manual (review|inspection))\b[^\n]*$|^\W*$`)

// shellBlock splits one block into commands. Lines with a "$ " prompt start a
// command each, and what follows them is output unless the command goes on;
// without prompts the whole block is one command.
func shellBlock(text string) (cmds []string, out string) {
	text = strings.Trim(text, "\n")
	lines := strings.Split(text, "\n")
	prompted := false
	for _, l := range lines {
		prompted = prompted || shellPrompt.MatchString(l)
	}
	if !prompted {
		if text = strings.TrimSpace(text); text == "" || ranNothing.MatchString(text) {
			return nil, ""
		}
		return []string{text}, ""
	}
	var rest []string
	for _, l := range lines {
		switch {
		case shellPrompt.MatchString(l):
			cmds = append(cmds, shellPrompt.ReplaceAllString(l, ""))
		case len(cmds) > 0 && len(rest) == 0 && goesOn(cmds[len(cmds)-1]):
			cmds[len(cmds)-1] += "\n" + strings.TrimPrefix(l, "> ")
		default:
			rest = append(rest, l)
			if strings.TrimSpace(l) == "" {
				rest = rest[:len(rest)-1]
			}
		}
	}
	return cmds, strings.Join(rest, "\n")
}

var (
	shellPrompt = pattern.New(`^\s*\$\s+`)
	heredoc     = pattern.New(`<<-?\s*['"]?([A-Za-z_][A-Za-z0-9_]*)['"]?`)
)

// goesOn reports whether a command cannot end where cmd ends.
func goesOn(cmd string) bool {
	trimmed := strings.TrimRight(cmd, " \t")
	for _, s := range []string{`\`, "&&", "||", "|"} {
		if strings.HasSuffix(trimmed, s) {
			return true
		}
	}
	if m := heredoc.FindStringSubmatch(cmd); m != nil {
		return !regexp.MustCompile(`(?m)^\s*` + m[1] + `\s*$`).MatchString(cmd)
	}
	return strings.Count(cmd, "'")%2 == 1 && strings.Count(cmd, `"`)%2 == 0
}

// claimOutput reads the field "Output observed": the quote, whether it claims to be
// verbatim, and the prose beside it.
func claimOutput(b *fieldText) (quote string, quoted bool, remark string) {
	plain := strings.TrimSpace(strings.Join(b.plain, "\n"))
	if len(b.fenced) > 0 {
		return strings.Trim(strings.Join(b.fenced, "\n"), "\n"), true, plain
	}
	if spans := codeSpans(plain); len(spans) > 0 {
		return strings.Join(spans, "\n"), true, plain
	}
	return plain, false, ""
}

// codeSpans returns the contents of the `code spans` in text, longer runs of
// backticks included.
func codeSpans(text string) []string {
	var out []string
	for {
		start := strings.IndexByte(text, '`')
		if start < 0 {
			return out
		}
		text = text[start:]
		run := len(text) - len(strings.TrimLeft(text, "`"))
		text = text[run:]
		end := spanEnd(text, run)
		if end < 0 {
			return out
		}
		if s := strings.TrimSpace(text[:end]); s != "" {
			out = append(out, s)
		}
		text = text[end+run:]
	}
}

// spanEnd finds a run of exactly n backticks.
func spanEnd(text string, n int) int {
	for i := 0; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		run := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

var (
	verdictWord = pattern.New(`(?i)\b(pass|fail|partial)\b`)
	verdictLine = pattern.New(`(?i)^(?:final |overall )?verdict\W*(pass|fail|partial)\W*$`)
	verdictHead = pattern.New(`(?i)^\W*(?:final |overall )?verdict\b`)
)

// isVerdictLine reports whether a line wants to be the verdict.
func isVerdictLine(line string) bool {
	return verdictHead.MatchString(line) && verdictWord.MatchString(line)
}

// alternatives counts the different verdict words of a line.
func alternatives(line string) int {
	seen := map[string]bool{}
	for _, w := range verdictWord.FindAllString(line, -1) {
		seen[strings.ToLower(w)] = true
	}
	return len(seen)
}

// verdict reads the last line that is not empty, and no other.
func (p *grammar) verdict() (Verdict, VerdictForm) {
	last := ""
	for i := len(p.lines) - 1; i >= 0 && last == ""; i-- {
		if strings.TrimSpace(p.lines[i]) != "" {
			last = strings.TrimRight(p.lines[i], " \t\r")
		}
	}
	if !verdictHead.MatchString(last) {
		return "", FormNone
	}
	if alternatives(last) > 1 {
		return "", FormEcho
	}
	for _, v := range []Verdict{Pass, Fail, Partial} {
		// Inside a fence that is never closed the line may be quoted output, and in one around
		// the whole it is not written exactly.
		if last == "VERDICT: "+string(v) && !p.open && !p.within {
			return v, FormStrict
		}
	}
	m := verdictLine.FindStringSubmatch(strings.TrimLeft(last, " \t#>*_~`-"))
	if m == nil {
		return "", FormNone
	}
	switch v := Verdict(strings.ToUpper(m[1])); v {
	case Fail, Partial:
		return v, FormDecorated
	default:
		return "", FormNone
	}
}
