package cmdline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func usable(lines []Line) (out []string, left int) {
	for _, l := range lines {
		if l.Words == nil {
			left++
			continue
		}
		out = append(out, strings.Join(l.Words, "|"))
	}
	return out, left
}

// Command lines are found where they stand, and what a shell would do more with than pass
// words on is none.
func TestLines(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		file, text string
		want       []string
		left       int
	}{
		"blocks":  {"README.md", "no block: x a\n```sh\nx a 'b c' \"d\"   # why\n\nx a | y\nx $HOME\nx <file>\nx [flags]\nA=1 x\nx a && x b\nx a > b\nx \"a \\\"b\\\" \\c\"\nx a \\\n  d\n```\n```go\nx b\n```\n~~~\nx e\n~~~\n", []string{"x|a|b c|d", `x|a "b" \c`, "x|a|d", "x|e"}, 7},
		"prompts": {"README.md", "```console\n$ x a\nx says this\n$ x b\n```\n", []string{"x|a", "x|b"}, 0},
		"script":  {"testdata/a.txtar", "exec x a\nstdout b\n! exec x -c\nexec x $WORK\n-- f --\nexec x no\n", []string{"x|a", "x|-c"}, 1},
		"go":      {"a_test.go", "c := exec.Command(\"x\", \"a b\", \"-c\")\nexec.CommandContext(t.Context(), \"x\", `y`).Run()\nexec.Command(\"x\", dir)\nexec.Command(x)\n", []string{"x|a b|-c", "x|y"}, 1},
		"python":  {"test_a.py", "subprocess.run([\"x\", 'a'], check=True)\nsubprocess.check_output([\"x\", name])\nsubprocess.run(\"x b c\", shell=True)\n", []string{"x|a", "x|b|c"}, 1},
		"node":    {"a.test.js", "execFileSync('x', ['a', '-b'])\nspawnSync('x', args)\nexecSync('x c | y')\nexecSync('x c')\n", []string{"x|a|-b", "x|c"}, 2},
	} {
		got, left := usable(Lines(x.file, []byte(x.text)))
		if d := cmp.Diff(x.want, got); d != "" || left != x.left {
			t.Errorf("%s: %d left out, not %d\n%s", name, left, x.left, d)
		}
	}
	if at := Lines("README.md", []byte("a\n\n```\nx\n```\n"))[0].At; at != 4 {
		t.Errorf("it stands in line %d", at)
	}
}

// What differs between two runs of one side is no difference, on whichever side it is
// seen; all else is.
func TestDiffers(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		base, head [2]string
		want       string
	}{
		{[2]string{"a\nb", "a\nb"}, [2]string{"a\nb", "a\nb"}, ""},
		{[2]string{"at 10:00:01", "at 10:00:02"}, [2]string{"at 10:00:03", "at 10:00:03"}, ""},
		{[2]string{"at 10:00:03", "at 10:00:03"}, [2]string{"at 10:00:04", "at 10:00:05"}, ""},
		{[2]string{"in 1.5ms, 3 files", "in 980µs, 3 files"}, [2]string{"in 2s, 4 files", "in 2s, 4 files"}, "in 1.5ms, 3 files -> in 2s, 4 files"},
		{[2]string{"/tmp/x123/a", "/tmp/y9/a"}, [2]string{"/tmp/z/b", "/tmp/z/b"}, "/tmp/x123/a -> /tmp/z/b"},
		{[2]string{"a", "a"}, [2]string{"a\nb", "a\nb"}, " -> b"},
		{[2]string{"a\nb", "a\nb"}, [2]string{"a", "a"}, "b -> "},
	} {
		b, ok1 := Read(x.base[:]...)
		h, ok2 := Read(x.head[:]...)
		got := ""
		if was, is, differs := b.Differs(h); differs {
			got = was + " -> " + is
		}
		if !ok1 || !ok2 || got != x.want {
			t.Errorf("%q, %q: %q, not %q", x.base, x.head, got, x.want)
		}
	}
	if _, ok := Read("a b", "a"); ok {
		t.Error("a word less can be masked")
	}
	if _, ok := Read("a\nb", "a"); ok {
		t.Error("a line less can be masked")
	}
}

func TestGains(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{"a\nn\nb\n": true, "a\nb\n": false, "b\na\nn\n": false, "a\nn\nm\n": false} {
		b, _ := Read("a\nb\n")
		h, _ := Read(head)
		if b.Gains(h) != want {
			t.Errorf("%q", head)
		}
	}
}

// TestLargeStreams: of a large output the beginning and the last lines are kept, and what is
// between is compared by its hash, with what is cleaned.
func TestLargeStreams(t *testing.T) {
	t.Parallel()
	stream := func(dir, differs, last string) string {
		s := Stream{Clean: strings.NewReplacer(dir, "$TREE").Replace}
		line := []byte(strings.Repeat("x", 90) + " in " + dir + "\n")
		for n := range 40000 {
			if n == 30000 {
				line = []byte(differs + " in " + dir + "\n")
			}
			for _, part := range [][]byte{line[:7], line[7:]} {
				if _, err := s.Write(part); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.Write([]byte(strings.Repeat("y", 3<<20) + "\n" + last)); err != nil {
			t.Fatal(err)
		}
		return s.String()
	}
	one := stream("/a", "same", "the end")
	if len(one) > maxStream+maxTail*maxTailLine || !strings.HasSuffix(one, "\nthe end") || !strings.HasPrefix(one, "xxx") || strings.Contains(one, "/a") {
		t.Errorf("%d bytes of %.20q to %q", len(one), one, one[len(one)-20:])
	}
	b, ok1 := Read(one)
	for what, tt := range map[string]struct {
		other   string
		differs bool
	}{
		"another folder": {stream("/other", "same", "the end"), false},
		"between":        {stream("/a", "other", "the end"), true},
		"at the end":     {stream("/a", "same", "another"), true},
	} {
		h, ok2 := Read(tt.other)
		if _, _, differs := b.Differs(h); !ok1 || !ok2 || differs != tt.differs {
			t.Errorf("%s: differs %v", what, differs)
		}
	}
	small := Stream{Clean: strings.TrimSpace}
	if _, err := small.Write([]byte("a\nb")); err != nil || small.String() != "ab" {
		t.Errorf("%q", small.String())
	}
}
