// Package docstest lets tests do what the documentation says, word for word.
package docstest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Blocks are the blocks of a language that a file has under a heading of the second rank,
// in their order.
func Blocks(tb testing.TB, file, heading, language string) []string {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	_, part, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		tb.Fatalf("%s has no heading %q", file, heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(part, -1) {
		out = append(out, strings.TrimSpace(m[1]))
	}
	return out
}
