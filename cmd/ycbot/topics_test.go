package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExitCodes: "ycbot help exit-codes" names of each command the codes that its own help
// does; those that it leaves out have 0 and 3.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	number := regexp.MustCompile(`(?:^|[^-\w])(0|1|2|3|130)(?: |:|$)`)
	codes := func(text string) []string {
		var out []string
		for _, m := range number.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	i := slices.IndexFunc(topics(), func(c *cobra.Command) bool { return c.Use == "exit-codes" })
	entries := map[string]string{}
	name := ""
	for line := range strings.Lines(topics()[i].Long) {
		if m := regexp.MustCompile(`^  (ycbot(?: [a-z]+)+?) {2,}`).FindStringSubmatch(line); m != nil {
			name = m[1]
		} else if !strings.HasPrefix(line, "      ") {
			name = ""
		}
		entries[name] += line
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if _, help, ok := strings.Cut(c.Long, "Exit codes:"); ok {
			want := codes(help)
			got := []string{"0", "3"}
			if entry, ok := entries[c.CommandPath()]; ok {
				got = codes(entry)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: exit-codes has %q, its help %q", c.CommandPath(), got, want)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand(&program{}))
}
