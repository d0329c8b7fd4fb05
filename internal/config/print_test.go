package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is printed reads as the configuration that it was printed of.
func TestYAML(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"", full, "version: 1\ncommands: {lint: [], test: \"echo 'a: #b'\"}\nenv: {NO: off, N: '1'}\npublish: {comment: off}\n"} {
		c, err := Parse("f", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("printed", text)
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, text)
		}
		c.Limits = c.Limits.Under(Limits{})
		if len(c.On.PathsIgnore) == 0 {
			c.On.PathsIgnore, again.On.PathsIgnore = nil, nil // an empty list and none are the same here
		}
		if diff := cmp.Diff(c, again); diff != "" {
			t.Errorf("(-want +got):\n%s\nof\n%s", diff, text)
		}
	}
}
