package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
)

// What an agent copies from an answer of run_bash, the audit finds in the log;
// the same answer with one word changed, it does not.
func TestAnswersCanBeQuoted(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	log := evidence.Auditor{Agent: s.Agent, Task: s.Task, Tree: s.Tree, Output: func(r evidence.Record) ([]byte, []byte, error) {
		out, err := s.Log.Output(r.Stdout)
		if err != nil {
			return nil, nil, err
		}
		errs, err := s.Log.Output(r.Stderr)
		return out, errs, err
	}}
	for i, command := range []string{
		"ls -d .; echo warned >&2",
		`printf '\033[31mred\033[0m\r\nand\u202e hidden \377 bytes\n'`,
		"for i in $(seq 4000); do echo \"line $i of it\"; done",
		"ls -d . >&2; exit 3",
		"ls nothing* 2>/dev/null || test . -ef .",
	} {
		answer := call(t, Bash(s), m{"command": command})
		text := fmt.Sprintf("### Check: the odd input is rejected or shown\n**Command run:**\n```bash\n%s\n```\n**Output observed:**\n````\n%s````\n**Result: PASS**\n\nVERDICT: PASS\n", command, answer)
		log.Log = s.Log.Records()
		for _, tt := range []struct {
			text string
			want report.Support
		}{{text, report.Supported}, {strings.Replace(text, "--- stderr", "never printed\n--- stderr", 1), report.Absent}} {
			got, err := log.Audit(report.ParseAgentReport(tt.text).Checks)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || got[0].Support != tt.want || got[0].Support == report.Supported && got[0].Records[0] != fmt.Sprintf("E%d", i+1) {
				t.Errorf("%s: %+v, want %s", command, got, tt.want)
			}
		}
	}
}
