package agents

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A file that appends to a built-in agent of its name adds to its text and keeps what it
// does not set; without append it takes that one's place.
func TestExtendBuiltin(t *testing.T) {
	t.Parallel()
	read := func(settings string) (Definition, Cast) {
		t.Helper()
		c := Load(names, Folder{Project, ".ycbot/agents", Ycbot, fstest.MapFS{
			"verification.md": &fstest.MapFile{Data: []byte("---\nname: verification\ndescription: Ours\n" + settings + "---\nPort 8080 is the admin's.\n")},
		}})
		d, err := c.Find("verification")
		if err != nil {
			t.Fatal(err)
		}
		return d, c
	}
	builtins, err := Builtins(names)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := Find(builtins, "verification")

	d, c := read("prompt: append\n")
	if !strings.HasPrefix(d.Prompt, strings.TrimRight(b.Prompt, "\n")) || !strings.HasSuffix(d.Prompt, "Port 8080 is the admin's.") {
		t.Errorf("the text is not the built-in one and the file's behind it: %d bytes, ends in %q", len(d.Prompt), d.Prompt[max(0, len(d.Prompt)-80):])
	}
	if !d.Extends || d.Appends || d.Origin != Project || d.Description != "Ours" {
		t.Errorf("extends %v, appends %v, origin %s, %q", d.Extends, d.Appends, d.Origin, d.Description)
	}
	if d.AllTools || strings.Join(d.Tools, " ") != strings.Join(b.Tools, " ") || d.MaxIterations != b.MaxIterations || d.Timeout != b.Timeout ||
		d.MaxOutputTokens != b.MaxOutputTokens || d.Isolation != b.Isolation || d.Background != b.Background {
		t.Errorf("what the file does not set is not as the built-in agent has it: %+v", d)
	}
	if len(c.Problems) > 0 {
		t.Errorf("problems: %v", c.Problems)
	}

	d, _ = read("prompt: append\nmax_iterations: 7\ndisallowed_tools: [run_tests]\n")
	if d.MaxIterations != 7 || d.Has("run_tests") || !d.Has("run_bash") {
		t.Errorf("what the file sets does not count: %d, %v", d.MaxIterations, d.Tools)
	}

	d, _ = read("")
	if d.Extends || strings.Contains(d.Prompt, "VERDICT") || !d.AllTools {
		t.Errorf("without append the file does not take the agent's place: %+v", d)
	}
}
