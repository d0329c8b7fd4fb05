package ecosystem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// A GoToolchain is the Go of this machine, as its operator has set it up.
type GoToolchain struct {
	Root    string // GOROOT
	Version string // such as "go1.26.8"
	Race    bool   // the race detector can be linked: cgo is on and its compiler is there
	NoRace  string // why Race is not set, for people
	// Download settings of the operator, for the setup phase only.
	ModCache, Proxy, SumDB, NoSumDB, NoProxy, Private string
}

// findGo asks the go command in the search path of env how it is set up. It
// returns nil without an error where there is none.
func findGo(ctx context.Context, env []string) (*GoToolchain, error) {
	bin := lookPath(env, "go")
	if bin == "" {
		return nil, nil //nolint:nilnil // no Go is an answer, and no fault
	}
	cmd := exec.CommandContext(ctx, bin, "env", "-json", "GOROOT", "GOVERSION", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "CGO_ENABLED", "CC", "GOOS", "GOARCH")
	cmd.Dir = string(filepath.Separator) // outside of any module, whose go.mod could ask for another toolchain
	cmd.Env = append(slices.Clone(env), "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	if err != nil {
		if ended := new(exec.ExitError); errors.As(err, &ended) {
			err = fmt.Errorf("%w: %s", err, results.FailureLine(string(ended.Stderr)))
		}
		return nil, fmt.Errorf("%s env: %w", bin, err)
	}
	v := map[string]string{}
	if err := json.Unmarshal(out, &v); err != nil {
		return nil, fmt.Errorf("%s env: %w", bin, err)
	}
	cc, _, _ := strings.Cut(v["CC"], " ")
	found := &GoToolchain{
		Root: v["GOROOT"], Version: cmp.Or(v["GOVERSION"], "go1.15"), // it is known from 1.16 on
		Race:     v["CGO_ENABLED"] == "1" && lookPath(env, cc) != "" && raceArch(v["GOOS"], v["GOARCH"]),
		ModCache: v["GOMODCACHE"], Proxy: v["GOPROXY"], SumDB: v["GOSUMDB"],
		NoSumDB: v["GONOSUMDB"], NoProxy: v["GONOPROXY"], Private: v["GOPRIVATE"],
	}
	if !found.Race {
		found.NoRace = "the race detector needs cgo and a C compiler"
	}
	return found, nil
}

// Since says whether the go command is one of a version such as "go1.18" or newer, which
// one that is not known is taken for.
func (t *GoToolchain) Since(first string) bool { return t == nil || GoSince(t.Version, first) }

// GoSince says whether a version of the go command is another one or newer, which one that is not
// known is taken for.
func GoSince(have, first string) bool {
	return !version.IsValid(have) || version.Compare(have, first) >= 0
}

// raceArch follows the list in https://go.dev/doc/articles/race_detector.
func raceArch(goos, arch string) bool {
	return goos == "linux" && slices.Contains([]string{"amd64", "arm64", "ppc64le", "s390x", "loong64"}, arch) ||
		goos == "darwin" && (arch == "amd64" || arch == "arm64")
}
