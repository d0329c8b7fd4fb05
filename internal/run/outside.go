package run

import (
	"fmt"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Outside is what the gate of the finished run in dir says of the same results where no
// maintainer answers for the head, and what makes that worse (see [gate.Facts.FromOutside]). The
// verdict is "" where the gate came to none.
func Outside(dir string) (verdict report.Verdict, causes []string, err error) {
	j, err := journal.Read(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return "", nil, fmt.Errorf("verdict from outside: %w", err)
	}
	result, ok := rundir.Lookup[*gate.Result](j, "stage", "gate")
	if !ok || result == nil {
		return "", nil, nil
	}
	v, causes := result.Facts.FromOutside()
	return report.Verdict(v), causes, nil
}
