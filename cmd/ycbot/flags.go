package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ycbot/ycbot/internal/usage"
)

// nearestFlag returns the flag of cmd that a mistyped one was likely meant to be.
func nearestFlag(cmd *cobra.Command, name string) string {
	best, distance := "", 3
	name, _, _ = strings.Cut(name, "=")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := levenshtein.ComputeDistance(name, f.Name); d < distance {
			best, distance = f.Name, d
		}
	})
	return best
}

// given refuses flags that were given without a value, as by a variable that is not set: what
// holds without them is not what was asked for.
func given(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flag(name); f.Changed && f.Value.String() == "" {
			return usage.Errorf("--%s is empty: give it a value, or leave it out", name)
		}
	}
	return nil
}

// aboveZero refuses limits that were given as zero, which could mean nothing at all or no limit.
func aboveZero(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flag(name); f.Changed && f.Value.String() == "0" {
			return usage.Errorf("--%s 0: want a number above zero; without the flag the usual limit holds, and --no-model asks no model", name)
		}
	}
	return nil
}

// A choice is a flag that takes one of a few words.
type choice struct {
	value string
	words []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.words, "|") }

func (c *choice) Set(s string) error {
	// Reports print some of these words in capitals.
	i := slices.IndexFunc(c.words, func(w string) bool { return strings.EqualFold(w, s) })
	if i < 0 {
		return fmt.Errorf("want one of %s", strings.Join(c.words, ", "))
	}
	c.value = c.words[i]
	return nil
}

// A timeLimit is a flag that takes a duration above zero.
type timeLimit struct{ time.Duration }

func (t *timeLimit) String() string {
	if t.Duration == 0 {
		return ""
	}
	return t.Duration.String()
}
func (t *timeLimit) Type() string { return "duration" }

func (t *timeLimit) Set(s string) error {
	d, err := usage.Duration(s)
	if err == nil {
		t.Duration = d
	}
	return err
}
