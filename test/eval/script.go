package main

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// file returns the content of a file of a seed, "" where there is none.
func (s seed) file(name string) string {
	for _, f := range s.files {
		if f.Name == name {
			return strings.TrimSuffix(string(f.Data), "\n")
		}
	}
	return ""
}

// needs are the programs without which a seed says nothing.
func (s seed) needs() []string {
	var out []string
	for _, f := range s.files {
		want := map[string]string{".go": "go", ".py": "python3", ".js": "node"}[path.Ext(f.Name)]
		if f.Name == "probe/serve" {
			want = "curl"
		}
		if want != "" && !slices.Contains(out, want) {
			out = append(out, want)
		}
	}
	return out
}

// script is a verifier that tries what the bad attempt gets wrong, whichever attempt
// it is given, and reports what it saw. probe/command is what it runs, beside the
// server of probe/serve; what it says of a failure is probe/expected. Where there is
// no command, it runs the proof as a test of Go.
func (s seed) script() string {
	command := s.file("probe/command")
	if command == "" {
		command = "cat >proof_test.go <<'EOF'\n" + s.file("proof/proof_test.go") + "\nEOF\ngo test -run '^TestProof$' ."
	}
	var b strings.Builder
	b.WriteString("-- verification --\n")
	if serve := s.file("probe/serve"); serve != "" {
		b.WriteString("> start_process " + object("command", serve) + "\n---\n<* listens on port\n")
	}
	b.WriteString("> run_bash " + object("command", command) + "\n---\n")
	b.WriteString("### Check: what the change must not break [adversarial]\n**Command run:**\n```bash\n" + escaped(command) + "\n```\n")
	b.WriteString("**Output observed:**\n```\n{{output 1}}\n{{errors 1}}\n```\n**Expected vs Actual:** exit code 0; " + s.file("probe/expected") + "\n")
	b.WriteString("**Evidence:** {{evidence 1}}\n**Result: {{result 1}}**\n\nVERDICT: {{result 1}}\n")
	return b.String()
}

// object is a JSON object of one string.
func object(key, value string) string {
	data, err := json.Marshal(map[string]string{key: value})
	if err != nil {
		return "" // strings always marshal
	}
	return string(data)
}

// escaped is text of which a scenario takes no line for one of its own.
func escaped(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line == "---" || line != "" && strings.ContainsRune(`><!\`, rune(line[0])) {
			lines[i] = `\` + line
		}
	}
	return strings.Join(lines, "\n")
}
