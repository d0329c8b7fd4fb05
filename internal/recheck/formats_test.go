package recheck

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Each directory in testdata/runs was recorded by the last version with its format, of a
// tiny Go module (./testdata/runs/README.md). What this version reads is intact; what it does not
// is refused in one sentence, which is never taken for a directory that was altered.
func TestFormats(t *testing.T) {
	t.Parallel()
	for format := 1; format <= rundir.Format; format++ {
		name := fmt.Sprint("format", format)
		dir := filepath.Join("testdata/runs", name)
		rep, err := rundir.ReadReport(dir)
		if err != nil || rep.Verdict != report.Fail || !strings.Contains(rep.Markdown(), "TestSum") {
			t.Errorf("%s: the report: %v", name, err)
		}
		c, err := Check(dir, "")
		var other *rundir.FormatError
		switch {
		case format == rundir.Format && (err != nil || len(c.Problems) > 0):
			t.Errorf("%s is of the present format, and does not follow any more from what it recorded: %v %q\n"+
				"Where that is meant, add one to rundir.Format, and a directory of it to testdata/runs.", name, err, c.Problems)
		case format != rundir.Format && (!errors.As(err, &other) || other.Format != format || strings.ContainsAny(strings.ReplaceAll(err.Error(), other.Ycbot, ""), ".;\n")):
			t.Errorf("%s: %v", name, err)
		case format != rundir.Format && Previous(dir).Err == nil:
			t.Errorf("%s would be looked back at", name)
		}
		altered := filepath.Join(t.TempDir(), name)
		if err := os.CopyFS(altered, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(altered, "evidence.jsonl"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := Check(altered, ""); err != nil || len(c.Problems) == 0 {
			t.Errorf("%s, altered: %v %q", name, err, c.Problems)
		}
	}
}
