package classes

import (
	"strings"
	"testing"
)

// TestListsOf holds which lists of sources of a Makefile are the product's, so that tests of the base run with
// the head's.
func TestListsOf(t *testing.T) {
	t.Parallel()
	const rules = "calc: main.c $(OBJS)\n\t$(CC) -o $@ main.c $(OBJS)\ntest: t/run\n\t./t/run\nt/run: t/run.c $(TOOLS) $(OBJS)\n\t$(CC) -o $@ $^\nlint:\n\tlint $(LINTED)\n"
	for _, tt := range []struct{ why, base, head, has string }{
		{"a source more", "SRCS = a.c\nOBJS = $(SRCS:.c=.o)\n", "SRCS = a.c b.c\nOBJS = $(SRCS:.c=.o)\n", "SRCS = a.c b.c\nOBJS ="},
		{"lines that go on", "OBJS = a.o \\\n  b.o\n", "OBJS = a.o \\\n  b.o \\\n  c.o\n", "\n  c.o\n"},
		{"a line more", "OBJS := a.o\n", "OBJS := a.o\nOBJS += b.o\n", "OBJS := a.o\nOBJS += b.o\n"},
		{"all of a folder", "OBJS = src/a.c src/b.c\n", "OBJS = $(wildcard src/*.c)\n", "$(wildcard src/*.c)"},
		{"in a folder that has a name", "OBJS = $(S)/a.o\n", "OBJS = $(S)/a.o $(S)/b.o\n", "$(S)/b.o"},
		{"what else changes", "OBJS = a.o\nCFLAGS = -O1\n", "OBJS = a.o b.o\nCFLAGS = -O1 -DEXACT\n", "OBJS = a.o b.o\nCFLAGS = -O1\n"},
		{"a flag in the list", "OBJS = a.o\n", "OBJS = a.o b.o -DEXACT\n", ""},
		{"under a condition", "OBJS = a.o\n", "ifdef T\nOBJS = a.o\nendif\n", ""},
		{"by what is made", "OBJS = a.o\n", "OBJS = $(if $(MAKECMDGOALS),b.o)\n", ""},
		{"of tests", "OBJS = a.o\n", "OBJS = a.o tests/fake.o\n", ""},
		{"for tests alone", "TOOLS = a.c\n", "TOOLS = a.c b.c\n", ""},
		{"for no program", "LINTED = a.c\n", "LINTED = a.c b.c\n", ""},
		{"the same", "OBJS = a.o\n", "OBJS = a.o\n", ""},
	} {
		v := Versions{Base: []byte(tt.base + rules), Head: []byte(tt.head + rules)}
		made := MadeOf(string(v.Base))
		got := string(ListsOf(v, func(name string) bool { return made[name] && SetAlike(v, name, true) }))
		if (tt.has == "") != (got == "") || !strings.Contains(got, tt.has) {
			t.Errorf("%s: %q", tt.why, got)
		}
	}
	for _, head := range []string{"A = a.c b.c\nifdef T\nA = c.c\nendif\n", "A = a.c b.c\ntest: A = c.c\n", "A = a.c b.c\n$(eval A := c.c)\n", "A = a.c b.c\noverride A = c.c\n"} {
		if SetAlike(Versions{Base: []byte("A = a.c\n"), Head: []byte(head)}, "A", true) {
			t.Errorf("set alike: %q", head)
		}
	}
	if SetAlike(Versions{Head: []byte("A = c.c\n")}, "A", true) {
		t.Error("a file that the change adds sets it alike")
	}
}
