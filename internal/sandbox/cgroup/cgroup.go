// Package cgroup finds the cgroup of version 2 that was delegated to this program and gives
// each command one in it, which bounds all of the command's processes together.
//
// [Find] takes no cgroup that another is in, unless its manager or root says that it is
// meant. Package sandbox tries out what a cgroup promises before it relies on it.
package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Names in the delegated cgroup.
const (
	Name    = "ycbot"         // what root delegates
	Harness = "ycbot-harness" // where this program itself is: a cgroup that has others below it can hold no processes
)

// Controllers are what commands' cgroups are limited with.
func Controllers() []string { return []string{"memory", "pids", "cpu"} }

// Mount returns where version 2 is mounted, and which part of it.
func Mount(root string) (top, mount string) {
	text, err := os.ReadFile(filepath.Join(root, "/proc/self/mountinfo"))
	if err != nil {
		return "", ""
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if i := slices.Index(f, "-"); i > 4 && len(f) > i+1 && f[i+1] == "cgroup2" {
			return f[3], f[4]
		}
	}
	return "", ""
}

// Words are what a file of a cgroup says; none where it cannot be read.
func Words(dir, file string) []string {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// Write writes to a file of a cgroup.
func Write(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
