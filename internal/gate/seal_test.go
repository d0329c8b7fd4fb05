package gate

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// TestBaseReached holds that a command of the head that changes the mode of the base's
// files, where the tier does not deny it, is a reason against PASS.
func TestBaseReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Detect(t.Context(), sandbox.Options{Mode: "basic", PATH: os.Getenv("PATH"), TempDir: t.TempDir(), Now: time.Now, Shim: []string{exe, shimName}})
	if err != nil {
		t.Skip(err)
	}
	own := &world{git: w.git, box: box, tools: w.tools, cache: w.cache, shared: w.shared}
	for what, tt := range map[string]struct {
		head string
		want Verdict
	}{
		"it does not": {"true", Pass},
		"it does":     {`chmod 755 "$(dirname "$PWD")/$(git rev-parse HEAD^ | cut -c1-7)/data.txt"`, Partial},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			res := own.run(t, &scenario{
				base: map[string][]byte{"build.sh": []byte("true\n"), "data.txt": []byte("x\n"), "app.sh": []byte("echo hello\n")},
				head: map[string][]byte{"build.sh": []byte(tt.head + "\n"), "app.sh": []byte("echo hello world\n")},
				input: map[string][]string{
					"none": {""}, "build": {"sh build.sh"}, "test": {"sh app.sh | grep -q hello"},
				},
			})
			reached := strings.Contains(strings.Join(res.Reasons, "; "), "reached the base's files")
			if res.Verdict != tt.want || reached != (tt.want == Partial) {
				t.Errorf("%s %q", res.Verdict, res.Reasons)
			}
		})
	}
}
