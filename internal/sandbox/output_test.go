package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func writeAll(t *testing.T, c *capture, text []byte, step int) {
	t.Helper()
	c.over = func() { t.Error("over the limit") }
	if c.limit == 0 {
		c.limit = 1 << 40
	}
	for len(text) > 0 {
		n := min(step, len(text))
		if m, err := c.Write(text[:n]); m != n || err != nil {
			t.Fatalf("wrote %d of %d: %v", m, n, err)
		}
		text = text[n:]
	}
}

// What fits is kept as it is; of what does not the beginning and the end are,
// with the exact number of bytes between them, and no character is split.
func TestCapture(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, headLimit, headLimit + 1, headLimit + tailLimit, headLimit + tailLimit + 1, KeepLimit, 3*KeepLimit + 7} {
		for _, unit := range []string{"a", "é", "語", "🙂", "line\n"} {
			for _, step := range []int{4096, 65537, 5 << 20} {
				text := []byte(strings.Repeat(unit, size/len(unit)+1)[:size/len(unit)*len(unit)])
				var c capture
				writeAll(t, &c, text, step)
				checkCapture(t, fmt.Sprintf("%d bytes of %q by %d", size, unit, step), c.output(), text)
			}
		}
	}
}

func checkCapture(t *testing.T, name string, out Output, text []byte) {
	t.Helper()
	if out.Total != int64(len(text)) {
		t.Errorf("%s: total %d", name, out.Total)
	}
	if len(text) <= headLimit+tailLimit {
		if !bytes.Equal(out.Bytes, text) {
			t.Errorf("%s: was changed", name)
		}
		return
	}
	if len(out.Bytes) > KeepLimit || !utf8.Valid(out.Bytes) {
		t.Errorf("%s: kept %d bytes, valid %v", name, len(out.Bytes), utf8.Valid(out.Bytes))
	}
	at := bytes.Index(out.Bytes, []byte("["))
	end := at + bytes.IndexByte(out.Bytes[at:], '\n') + 1
	var left int
	if _, err := fmt.Sscanf(string(out.Bytes[at:end]), "[%d bytes left out]\n", &left); err != nil {
		t.Fatalf("%s: marker %q: %v", name, out.Bytes[at:end], err)
	}
	head, tail := bytes.TrimSuffix(out.Bytes[:at], []byte("\n")), out.Bytes[end:]
	if out.Bytes[at-1] != '\n' {
		t.Errorf("%s: the marker is not a line of its own", name)
	}
	if bytes.HasPrefix(text, out.Bytes[:at]) {
		head = out.Bytes[:at] // the line's end is the text's own
	}
	if !bytes.HasPrefix(text, head) || !bytes.HasSuffix(text, tail) || len(head)+left+len(tail) != len(text) {
		t.Errorf("%s: %d + %d left out + %d is not the text", name, len(head), left, len(tail))
	}
	if len(head) < headLimit-4 || len(tail) < tailLimit-4 {
		t.Errorf("%s: only %d and %d bytes kept", name, len(head), len(tail))
	}
}

// Bytes that are no text are kept, too.
func TestCaptureBinary(t *testing.T) {
	t.Parallel()
	var c capture
	writeAll(t, &c, bytes.Repeat([]byte{0x80}, 2*KeepLimit), 1000)
	if out := c.output(); out.Total != 2*KeepLimit || len(out.Bytes) < KeepLimit-256 {
		t.Errorf("total %d, kept %d", out.Total, len(out.Bytes))
	}
}

// The tee sees everything, and what it fails with neither stops the command nor
// is it asked again.
func TestCaptureTee(t *testing.T) {
	t.Parallel()
	var all bytes.Buffer
	c := capture{tee: &all}
	writeAll(t, &c, bytes.Repeat([]byte("x"), 3*KeepLimit), 999)
	if all.Len() != 3*KeepLimit {
		t.Errorf("the tee saw %d bytes", all.Len())
	}
	calls := 0
	c = capture{tee: writerFunc(func() error { calls++; return errors.New("full") })}
	writeAll(t, &c, []byte("abc"), 1)
	if calls != 1 || c.teeErr == nil || c.total != 3 {
		t.Errorf("%d calls, error %v, total %d", calls, c.teeErr, c.total)
	}
}

type writerFunc func() error

func (w writerFunc) Write(b []byte) (int, error) { return len(b), w() }

// However much a command writes, what it costs is bounded. Not parallel: it
// measures the memory of the process.
func TestCaptureMemory(t *testing.T) {
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := capture{limit: 1 << 40}
	for range 256 << 20 / len(chunk) {
		if _, err := c.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 16*KeepLimit {
		t.Errorf("%d bytes allocated for 256 MiB of output", got)
	}
}
