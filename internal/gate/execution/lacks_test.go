package execution

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// A program that is not there is named only where a shell or a runner says itself
// that it found none, ends as it does then, and there really is none.
func TestLacking(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "mine"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	e := New(Machine{Tools: &ecosystem.Toolchains{Env: []string{"PATH=" + bin}}}, Job{Env: []string{"PATH=" + bin}})
	for _, tc := range []struct {
		exit         int
		output, want string
	}{
		{127, "bash: line 1: nosuch: command not found\n", "nosuch"},
		{127, "s.sh: line 3: nosuch: command not found\n", "nosuch"},
		{127, "sh: 1: nosuch: not found\n", "nosuch"},
		{127, "s.sh: 1: no-such.2: not found\n", "no-such.2"},
		{127, "sh: nosuch: not found\n", "nosuch"},
		{127, "\n> m@1.0.0 test\n> nosuch --x\n\nsh: 1: nosuch: not found\n", "nosuch"},
		{127, "env: ‘nosuch’: No such file or directory\n", "nosuch"},
		{127, "command not found: nosuch\n", "nosuch"},
		{2, "nosuch -x\nmake: nosuch: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n", "nosuch"},
		{2, "cd . && nosuch -x\n/bin/sh: 1: nosuch: not found\nmake: *** [Makefile:4: shell] Error 127\n", "nosuch"},
		{201, "task: [test] nosuch\n\"nosuch\": executable file not found in $PATH\ntask: Failed to run task \"test\": exit status 127\n", "nosuch"},
		{1, "error: rustup could not choose a version of cargo to run, because one wasn't specified explicitly, and no default is configured.\n", "Rust toolchain of the version asked for"},
		{1, "info: syncing channel updates for '1.71.1-x86_64-unknown-linux-gnu'\nerror: could not create temp root /home/ann/.rustup/tmp: Read-only file system (os error 30)\n", "Rust toolchain of the version asked for"},
		{1, "error: toolchain 'nightly-2023-01-01' is not installed\n", "Rust toolchain of the version asked for"},
		{1, "pyenv: version `3.6.1' is not installed (set by /r/.python-version)\n", "3.6.1 of pyenv"},
		{127, "pyenv: python3.9: command not found\n\nThe `python3.9' command exists in these Python versions:\n  3.9.1\n", "python3.9 of pyenv"},
		{1, "rbenv: version `2.7.0' is not installed (set by /r/.ruby-version)\n", "2.7.0 of rbenv"},
		{126, "No version is set for command node\nConsider adding one of the following versions\n", "node of asdf"},
		{1, "mise ERROR No version is set for shim: node\n", "node of mise"},
		{126, "Volta error: Node is not available.\n", "Node of Volta"},
		{1, "The operation couldn’t be completed. Unable to locate a Java Runtime.\n", "Java runtime"},
		{1, "FAIL: got \"error: toolchain 'x' is not installed\"\n", ""},       // a test speaks of it
		{127, "sh: 1: other: not found\nsh: 1: nosuch: not found\n", "nosuch"}, // the last one ended it

		{0, "sh: 1: nosuch: not found\n", ""},                                         // it did without
		{1, "sh: 1: nosuch: not found\n", ""},                                         // something else failed
		{127, "sh: 1: mine: not found\n", ""},                                         // it is there
		{127, "sh: 1: ./nosuch: not found\n", ""},                                     // a file of the project
		{127, "FAIL: want \"sh: 1: nosuch: not found\"\n", ""},                        // a test speaks of it
		{2, "make: *** No rule to make target 'nosuch', needed by 'all'.  Stop.", ""}, // no program
		{2, "cp: nosuch: No such file or directory\nmake: *** [Makefile:2: test] Error 1\n", ""},
	} {
		if got := e.lacking(ecosystem.Step{Exit: tc.exit, Output: tc.output}); got != tc.want {
			t.Errorf("exit %d\n%s\nlacks %q, want %q", tc.exit, tc.output, got, tc.want)
		}
	}
	if got := e.lacking(ecosystem.Step{Exit: 127, TimedOut: true, Output: "sh: 1: nosuch: not found\n"}); got != "" {
		t.Errorf("what ran out of time lacks %q", got)
	}
}
