package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

type readManyArgs struct {
	Paths []string `json:"paths" jsonschema:"Files to read, at most 20."`
	Side  string   `json:"side,omitempty" jsonschema:"head (default) or base."`
}

// ReadManyFiles makes the tool read_many_files. A file that cannot be read says
// so in its place.
func ReadManyFiles(t Trees) Tool {
	return define("read_many_files", Read, true, func(_ context.Context, in readManyArgs) (Result, error) {
		if len(in.Paths) == 0 || len(in.Paths) > manyFiles {
			return Result{}, Badf("read_many_files: %d paths, want 1 to %d", len(in.Paths), manyFiles)
		}
		var b strings.Builder
		bad := 0
		for _, p := range in.Paths {
			fmt.Fprintf(&b, "==> %s <==\n", inline(p))
			text, err := t.readOne(p, in.Side, readBytes-b.Len())
			var mistake *BadCall
			switch {
			case errors.As(err, &mistake):
				bad++
				text = "error: " + mistake.Text + "\n"
			case err != nil:
				return Result{}, err
			}
			b.WriteString(text)
			if !strings.HasSuffix(text, "\n") {
				b.WriteByte('\n')
			}
		}
		return Result{Text: b.String(), Errored: bad == len(in.Paths)}, nil
	})
}

func (t Trees) readOne(p, side string, room int) (string, error) {
	if room <= 0 {
		return "", Badf("no room left in this answer; read it by itself")
	}
	f, err := t.open(p, side)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := readLinesOf(f, p, readFileArgs{})
	if err == nil && len(text) > room {
		text = text[:strings.LastIndexByte(text[:room], '\n')+1] + "[… the rest is left out: read it by itself …]\n"
	}
	return text, err
}
