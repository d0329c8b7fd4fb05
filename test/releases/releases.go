// Package releases puts releases of Go modules into git repositories, so that
// ycbot can be tried on changes that people really made.
//
// Everything comes from the module proxy through the go command, which verifies
// it. Commits have fixed authors and dates: the same files give the same commit
// each time.
package releases

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Pair is two adjacent releases of a module.
type Pair struct {
	Module, From, To string
	// Lost is what a caller of the module would miss if the sources of To were
	// put back to those of From; empty where that is nothing, or not known.
	Lost string
}

// Pairs lists them. The comment says what is special about one.
func Pairs() []Pair {
	return []Pair{
		{"github.com/Masterminds/semver/v3", "v3.3.0", "v3.3.1", "versions with an empty part in their metadata or pre-release are refused"},
		{"github.com/mitchellh/mapstructure", "v1.4.1", "v1.4.2", "the field MatchName, and composed hooks that are given data where none of them applies"},
		{"github.com/rivo/uniseg", "v0.4.3", "v0.4.4", ""},
		{"github.com/tidwall/match", "v1.1.0", "v1.1.1", "the function MatchLimit"},
		{"github.com/sirupsen/logrus", "v1.9.2", "v1.9.3", "Writer takes lines of more than 64 KB"},             // a panic takes the rest of its package along
		{"github.com/mattn/go-runewidth", "v0.0.20", "v0.0.21", "the function IsCombiningWidth"},                // a generated table
		{"github.com/google/go-cmp", "v0.5.8", "v0.5.9", ""},                                                    // a golden file
		{"github.com/yuin/goldmark", "v1.7.12", "v1.7.13", "fenced code in a list, indented by a tab, is kept"}, // of the tests, only data
		{"github.com/hashicorp/go-version", "v1.2.0", "v1.2.1", "Equal takes nil without a panic"},              // a new function and its tests
		{"github.com/spf13/pflag", "v1.0.8", "v1.0.9", "the old name ParseErrorsWhitelist still compiles"},      // the same
		{"github.com/hashicorp/golang-lru/v2", "v2.0.6", "v2.0.7", "the method Resize of TwoQueueCache"},        // the same, and a fix in another package
		{"github.com/gorilla/mux", "v1.7.3", "v1.7.4", ""},                                                      // removed tests, new tests in new files
		{"github.com/dustin/go-humanize", "v1.0.0", "v1.0.1", "the SI prefixes ronna and quetta"},               // the first go.mod
		{"github.com/spf13/cobra", "v1.8.0", "v1.8.1", ""},                                                      // a newer dependency
		{"gopkg.in/yaml.v3", "v3.0.0", "v3.0.1", "malformed documents are errors and no panics"},                // an incomplete go.sum
		{"github.com/google/uuid", "v1.3.0", "v1.3.1", ""},                                                      // a fix without a test
		{"github.com/pelletier/go-toml/v2", "v2.2.1", "v2.2.2", ""},                                             // a refactoring
		{"github.com/stretchr/testify", "v1.8.3", "v1.8.4", ""},                                                 // nothing but a workflow
	}
}

// Files says where a version of a module lies. The names are those of
// "go mod download -json".
type Files struct {
	Dir   string // its files
	GoMod string // its go.mod, also where the module has none itself
}

// Download lets the go command fetch and verify a version into its module
// cache. The folder scratch is where it runs; it must hold a go.mod.
func Download(ctx context.Context, scratch string, env []string, module, version string) (Files, error) {
	var f Files
	out, err := Command(ctx, scratch, env, "go", "mod", "download", "-json", module+"@"+version)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(out, &f); err != nil {
		return f, fmt.Errorf("go mod download %s@%s: %w", module, version, err)
	}
	return f, nil
}

// Scratch makes the folder dir with a go.mod, for [Download].
func Scratch(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module scratch\n"), 0o644)
}

// GitEnv returns env for a git that reads no settings of this machine and
// commits as author at one fixed time.
func GitEnv(env []string, author string) []string {
	email := author + "@example.com"
	return append(env[:len(env):len(env)],
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME="+author, "GIT_AUTHOR_EMAIL="+email, "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME="+author, "GIT_COMMITTER_EMAIL="+email, "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
}

// Command runs a program and returns its standard output.
func Command(ctx context.Context, dir string, env []string, argv ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(argv, " "), err, out, stderr.Bytes())
	}
	return out, nil
}
