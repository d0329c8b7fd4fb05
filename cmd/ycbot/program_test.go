package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
)

// started is the file of the program that tests start: it is built as users have it, which
// begins sooner than the test binary does, where that has neither the race detector nor
// counts lines.
var started = sync.OnceValues(func() (string, error) {
	if *other != "" {
		return *other, nil
	}
	info, ok := debug.ReadBuildInfo()
	race := debug.BuildSetting{Key: "-race", Value: "true"}
	if testing.CoverMode() != "" || !ok || slices.Contains(info.Settings, race) {
		return os.Executable() // testscript.Main looks at the name that it is called by
	}
	file := filepath.Join(common, "ycbot")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", file, ".")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build of the program: %w\n%s", err, out)
	}
	return file, nil
})

// programFile is that file, which a test cannot do without.
func programFile(t *testing.T) string {
	t.Helper()
	file, err := started()
	if err != nil {
		t.Fatal(err)
	}
	return file
}
