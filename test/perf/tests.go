package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
)

// reported is the line in which a test tells a figure: row, metric, goal, value,
// whether it is met, and how it was measured.
var reported = regexp.MustCompile(`(?m)perf: ([0-9]+) \| (.*?) \| (.*?) \| (.*?) \| (yes|no) \| (.*)$`)

// told runs tests that measure, and takes up what they tell.
func told(ctx context.Context, pkg, pattern string) ([]figure, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-v", "-timeout=30m", "-run", pattern, pkg)
	cmd.Env = append(os.Environ(), "YCBOT_PERF=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go test %s: %w\n%s", pkg, err, out[max(0, len(out)-4000):])
	}
	var figures []figure
	for _, m := range reported.FindAllStringSubmatch(string(out), -1) {
		figures = append(figures, figure{row: m[1], metric: m[2], goal: m[3], value: m[4], met: m[5] == "yes", note: m[6]})
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("go test %s -run %s: no figure was told", pkg, pattern)
	}
	return figures, nil
}
