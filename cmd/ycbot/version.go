package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(p.stdout, p.versionLine())
			return err
		},
	}
}

func (p *program) versionLine() string {
	return fmt.Sprintf("ycbot %s %s %s\n", version(), runtime.Version(), p.platform)
}

// release is the number of a release, which its build sets (-X main.release).
var release string

// version is a release's number, else what the build recorded: the commit.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	v := "devel"
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			v += "-" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			v += "+dirty"
		}
	}
	return v
}

func readAll(r io.Reader) ([]byte, error) {
	const limit = 1 << 20
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && len(data) > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return data, err
}
