// Package variants leaves tests out of "make test" that "make variants" runs: what shows a
// promise once more, in another language, for another author or in its whole size, and what
// takes longer than someone who changes a line should wait. Each is left out for a reason,
// which stands beside it, and runs also where -run names it alone. test/summary counts them
// apart. The Makefile finds the tests by the calls of this package in them, so that a function
// that tests share does not call it.
package variants

import (
	"flag"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
)

var asked = flag.Bool("variants", false, "run what is left out otherwise, and of tests with cases only that")

var part = partFlag()

func partFlag() *share {
	s := new(share)
	flag.Var(s, "part", "with -variants: run one part in so many of what is left out, as 2/5, by the names of the tests")
	return s
}

// share is one part in so many, or all of them: k of n, where n is 0 for all.
type share struct{ k, n uint32 }

// Set reads 2/5, and all from an empty text.
func (s *share) Set(text string) error {
	*s = share{}
	if text == "" {
		return nil
	}
	var k, n uint32
	if _, err := fmt.Sscanf(text, "%d/%d", &k, &n); err != nil || fmt.Sprintf("%d/%d", k, n) != text || n == 0 || k > n {
		return fmt.Errorf("a part is a number, a slash and how many parts there are, as 2/5")
	}
	*s = share{k, n}
	return nil
}

// String is what Set reads.
func (s *share) String() string {
	if s.n == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.k, s.n)
}

// has says whether a name is of this part.
func (s *share) has(name string) bool {
	if s.n == 0 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()%s.n == s.k%s.n
}

// Left is what a test says that is left out.
const Left = "left to make variants"

// Asked says whether the run is one of variants.
func Asked() bool { return *asked }

// Mine says whether what is left out by a name is of the part that is asked for.
func Mine(name string) bool { return part.has(name) }

// Named says whether -run names a test, or the case of that name in it, and no other:
// someone who names what is left out wants to see it.
func Named(t *testing.T, cases ...string) bool {
	t.Helper()
	f := flag.Lookup("test.run")
	return f != nil && names(f.Value.String(), strings.Join(append([]string{t.Name()}, cases...), "/"))
}

// names says whether a pattern is a name, whole and without wildcards, as people write it:
// with or without the anchors.
func names(pattern, test string) bool {
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		parts[i] = strings.TrimSuffix(strings.TrimPrefix(p, "^"), "$")
	}
	plain := func(s string) string { return strings.ReplaceAll(s, " ", "_") } // as testing does
	return plain(strings.Join(parts, "/")) == plain(test)
}

// Only leaves a whole test out.
func Only(t *testing.T) {
	t.Helper()
	if Named(t) || *asked && Mine(t.Name()) {
		return
	}
	t.Skip(Left)
}

// Run is t.Run for one case of a test, of which some are variants.
func Run(t *testing.T, name string, variant bool, f func(*testing.T)) {
	t.Helper()
	switch {
	case variant == *asked && (!variant || Mine(t.Name()+"/"+name)) || Named(t, name):
		t.Run(name, f)
	case variant:
		t.Run(name, func(t *testing.T) { t.Skip(Left) })
	}
}
