package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// treePeak adds up the memory peaks of a process and of those that it started and
// that still live. Only Linux reports it; elsewhere it is 0.
func treePeak(pid int) int64 {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return 0
	}
	sum := memory(string(status), "VmHWM:")
	lists, err := filepath.Glob(filepath.Join(dir, "task", "*", "children"))
	if err != nil {
		return sum
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				sum += treePeak(child)
			}
		}
	}
	return sum
}
