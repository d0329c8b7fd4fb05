package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
)

// What one answer holds at most of a file.
const (
	readBytes = 512 << 10
	readLines = 2000
	lineBytes = 4000
	manyFiles = 20
)

type readFileArgs struct {
	Path        string `json:"path" jsonschema:"File, or a handle such as spill:E12.stdout."`
	Side        string `json:"side,omitempty" jsonschema:"head (default) or base."`
	Offset      int    `json:"offset,omitempty" jsonschema:"First line, counted from 1."`
	Limit       int    `json:"limit,omitempty" jsonschema:"Lines, at most 2000."`
	LineNumbers bool   `json:"line_numbers,omitempty" jsonschema:"Number the lines."`
}

// ReadFile makes the tool read_file.
func ReadFile(t Trees) Tool {
	return define("read_file", Read, true, func(_ context.Context, in readFileArgs) (Result, error) {
		f, err := t.open(in.Path, in.Side)
		if err != nil {
			return Result{}, err
		}
		defer f.Close()
		text, err := readLinesOf(f, in.Path, in)
		if err != nil {
			return Result{}, err
		}
		return Result{Text: text}, nil
	})
}

var spillHandle = pattern.New(`^spill:(E[1-9][0-9]*)(\.(?:stdout|stderr))?$`)

// open opens what a path or handle names.
func (t Trees) open(p, side string) (*os.File, error) {
	if strings.HasPrefix(p, "spill:") {
		m := spillHandle.FindStringSubmatch(p)
		if m == nil {
			return nil, Badf("%s is no handle; one looks like spill:E12.stdout", show(p))
		}
		if t.Spill == nil {
			return nil, Badf("there are no full outputs to read")
		}
		if m[2] == "" {
			m[2] = ".stdout"
		}
		return openRegular(t.Spill, m[1]+m[2])
	}
	at, err := t.place(p, side)
	if err != nil {
		return nil, err
	}
	return at.open()
}

// readLinesOf returns the lines of a text file that args ask for.
func readLinesOf(f io.Reader, name string, args readFileArgs) (string, error) {
	if args.Offset < 0 || args.Limit < 0 {
		return "", Badf("offset and limit are not negative")
	}
	limit := args.Limit
	if limit == 0 || limit > readLines {
		limit = readLines
	}
	from := max(args.Offset, 1)
	r := bufio.NewReaderSize(f, 16<<10)
	if head, err := r.Peek(8000); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("read %s: %w", name, err)
	} else if bytes.IndexByte(head, 0) >= 0 {
		return "", Badf("%s is a binary file", show(name))
	}
	var b strings.Builder
	n, more := 0, false
	for {
		line, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
		if err != nil && line == "" {
			break
		}
		if n++; n < from {
			continue
		}
		if n >= from+limit || b.Len()+len(line) > readBytes {
			more = true
			break
		}
		if args.LineNumbers {
			fmt.Fprintf(&b, "%6d\t", n)
		}
		b.WriteString(line)
	}
	switch {
	case n == 0:
		return "[the file is empty]\n", nil
	case n < from:
		return "", Badf("%s has %d lines; offset %d is behind its end", show(name), n, from)
	case more:
		fmt.Fprintf(&b, "[… more from line %d on: read it with offset=%d …]\n", n, n)
	}
	return b.String(), nil
}

// readLine reads one line; of a very long one it keeps the beginning.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	dropped := 0
	for {
		part, err := r.ReadSlice('\n')
		if room := lineBytes - len(line); dropped > 0 {
			dropped += len(part)
		} else if len(part) > room {
			cut := part[:room]
			for len(cut) > 0 && !utf8.RuneStart(part[len(cut)]) {
				cut = cut[:len(cut)-1]
			}
			dropped += len(part) - len(cut)
			line = append(line, cut...)
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		text := evidence.Visible(string(line))
		if dropped > 0 {
			text += fmt.Sprintf("[… %d bytes of this line left out …]\n", dropped)
		}
		return text, err
	}
}
