package imports

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// maxBinary is how large the program may be without its symbols, in bytes: it is
// fetched by each job that has not cached it. 45 MB as "ls -h" counts them. Each kind of
// struct that is sorted has 12 to 25 KB of it, and a third of that by a stable sort.
const maxBinary = 45 << 20

// linked.txt names the modules that the program is made of. One more is a decision: what
// it costs in size and in the time of the first build belongs into docs/decisions.md (38).
func TestLinkedModules(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "../../../cmd/ycbot")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	text, err := os.ReadFile("testdata/linked.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Fields(string(text)), got); diff != "" {
		t.Errorf("internal/testing/imports/testdata/linked.txt and what cmd/ycbot links differ (-listed +linked):\n%s", diff)
	}
}

func TestSizeOfBinary(t *testing.T) {
	variants.Only(t) // it links the program; TestLinkedModules has their list
	t.Parallel()
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("links the program, for Linux")
	}
	file := filepath.Join(t.TempDir(), "ycbot")
	// As releases, the image and "make build" have it: with cgo there is C to compile, too.
	flags, err := os.ReadFile("../../../cmd/ycbot/build.flags")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build"}, strings.Fields(string(flags)), []string{"-ldflags=-s -w", "-o", file, "../../../cmd/ycbot"})...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxBinary {
		t.Errorf("the stripped program has %.1f MB, more than %d", float64(info.Size())/(1<<20), maxBinary>>20)
	}
}

// Releases are built with the flags of build.flags.
func TestBuildFlags(t *testing.T) {
	t.Parallel()
	flags, err := os.ReadFile("../../../cmd/ycbot/build.flags")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Builds []struct{ Flags, Gcflags []string }
	}
	if err := yaml.Unmarshal(text, &release); err != nil || len(release.Builds) == 0 {
		t.Fatal(err, len(release.Builds))
	}
	got := release.Builds[0].Flags
	for _, f := range release.Builds[0].Gcflags {
		got = append(got, "-gcflags="+f)
	}
	if diff := cmp.Diff(strings.Fields(string(flags)), got); diff != "" {
		t.Errorf("build.flags and .goreleaser.yaml (-file +release):\n%s", diff)
	}
}
