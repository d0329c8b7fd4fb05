package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// A Line is one of an append-only file.
type Line struct {
	Start int64 // offset in its file
	End   int64 // of the line after it
	Body  []byte
}

// A chunk is a row of the table lines: some whole lines of a file that follow each other.
type chunk struct {
	start, end int64
	digests    []byte
	body       []byte // without the last line's end, where there are no digests
}

// rowsAtOnce is how many rows are read at a time. The long ones are those of blobs and
// have no body.
const rowsAtOnce = 100

// chunks returns the rows of a file that hold what is from an offset on, the first of them.
func chunks(ctx context.Context, q Querier, run, file string, from int64, limit int) ([]chunk, error) {
	return collect(ctx, q, func(scan Scan) (c chunk, err error) {
		err = scan(&c.start, &c.end, &c.digests, &c.body)
		return c, err
	}, `select start_at, end_at, digest, body from lines where run = $1 and file = $2 and end_at > $3
			and start_at >= coalesce((select max(start_at) from lines where run = $1 and file = $2 and start_at <= $3), 0)
		order by start_at limit $4`, run, file, from, limit)
}

func (c chunk) content(run string) content {
	if len(c.digests) == 0 {
		return content{run: run, body: append(bytes.Clone(c.body), '\n')}
	}
	return content{run: run, digests: c.digests, size: c.end - c.start}
}

// eachChunk has take read what a file holds from an offset on, piece by piece, each from an
// offset of its own. It returns where take came to, which take says. Blobs that were replaced
// meanwhile by longer ones are there for looseFor still.
func (db *DB) eachChunk(ctx context.Context, run, file string, from int64, take func(io.Reader, int64) (int64, error)) (int64, error) {
	for {
		rows, err := chunks(ctx, db.Reader(), run, file, from, rowsAtOnce)
		if err != nil || len(rows) == 0 {
			return from, err
		}
		for _, c := range rows {
			var r io.ReadCloser
			if r, err = db.open(ctx, c.content(run), max(0, from-c.start)); err == nil {
				from, err = take(r, from)
				err = errors.Join(err, r.Close())
			}
			if err == nil && from != c.end {
				err = fmt.Errorf("a row ends at %d, what it holds at %d", c.end, from)
			}
			if err != nil {
				return from, err
			}
		}
	}
}

// EachLine calls take for the lines of a file of a run, from an offset on: 0, or the End
// of the last line that was read. It returns the End of the last line that was taken. An
// error may come after lines that were taken, also where what is stored is not what it was.
func (db *DB) EachLine(ctx context.Context, run, file string, from int64, take func(Line) error) (int64, error) {
	end, err := db.eachChunk(ctx, run, file, from, func(r io.Reader, at int64) (int64, error) {
		in := bufio.NewReaderSize(r, 64<<10)
		for {
			line, err := in.ReadBytes('\n')
			body, whole := bytes.CutSuffix(line, []byte("\n"))
			if !whole {
				if errors.Is(err, io.EOF) && len(line) == 0 {
					err = nil
				}
				return at, err
			}
			if err := take(Line{Start: at, End: at + int64(len(line)), Body: body}); err != nil {
				return at, err
			}
			at += int64(len(line))
		}
	})
	if err != nil {
		err = fmt.Errorf("lines of %s of run %s: %w", file, run, err)
	}
	return end, err
}

// errEnough ends the reading of lines.
var errEnough = errors.New("enough")

// Lines returns at most limit lines of a file of a run, from an offset on as [DB.EachLine].
func (db *DB) Lines(ctx context.Context, run, file string, from int64, limit int) ([]Line, error) {
	var lines []Line
	_, err := db.EachLine(ctx, run, file, from, func(l Line) error {
		if lines = append(lines, l); len(lines) == limit {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return lines, err
}
