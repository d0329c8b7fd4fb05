package blobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// What is stored comes back; the second time it is stored changes nothing, also where many
// do so at once and others remove what they have beside it.
func TestStore(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), filepath.Join(t.TempDir(), "a", "b")
	s := &Store{Bucket: File{dir}}
	var digests []Digest
	contents := [][]byte{{}, []byte("one\n"), bytes.Repeat([]byte("many\n"), 1<<20)}
	for _, data := range contents {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if _, err := s.Put(ctx, "r1", data); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		d := DigestOf(data)
		got, err := s.Read(ctx, "r1", d, int64(len(data)))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back as %d, %v", len(data), len(got), err)
		}
		digests = append(digests, d)
	}
	if _, err := s.Put(ctx, "r2", contents[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(ctx, "r2", digests[2], int64(len(contents[2]))); !errors.Is(err, ErrNotFound) {
		t.Errorf("a blob of another run: %v", err)
	}
	if n, err := s.Tidy(ctx, "r1", func(d Digest) bool { return d == digests[1] }); n != 2 || err != nil {
		t.Errorf("Tidy = %d, %v", n, err)
	}
	if _, err := s.Read(ctx, "r1", digests[1], int64(len(contents[1]))); err != nil {
		t.Errorf("what is named: %v", err)
	}
	if _, err := s.Tidy(ctx, "r1", func(Digest) bool { return false }); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "r1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a run without blobs: %v", err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "r2" {
		t.Errorf("in the bucket: %v, %v", entries, err)
	}
}

// A reader notices what was changed, cut, swollen or exchanged in the bucket.
func TestCorrupt(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	s := &Store{Bucket: File{dir}}
	data := []byte(strings.Repeat("output of a command\n", 100))
	d, err := s.Put(ctx, "r", data)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, filepath.FromSlash(key("r", d)))
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Put(ctx, "other", []byte(strings.Repeat("OUTPUT of a command\n", 100)))
	if err != nil {
		t.Fatal(err)
	}
	exchanged, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(key("other", other))))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	swollen, err := s.Put(ctx, "swollen", bytes.Repeat([]byte("x"), 1<<24))
	if err != nil {
		t.Fatal(err)
	}
	bomb, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(key("swollen", swollen))))
	if err != nil {
		t.Fatal(err)
	}
	for what, bytes := range map[string][]byte{"empty": {}, "cut": whole[:len(whole)/2], "flipped": flipped, "exchanged": exchanged, "swollen": bomb, "no gzip": data} {
		if err := os.WriteFile(name, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.Read(ctx, "r", d, int64(len(data)))
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
		if len(got) > len(data) {
			t.Errorf("%s: %d bytes were read of %d", what, len(got), len(data))
		}
	}
}

// Keys stay in their folder, and what a bucket cannot do may pass.
func TestFile(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := File{filepath.Join(dir, "blobs")}
	for _, key := range []string{"../file", "/etc/passwd", "a/../../file", ""} {
		_, err := b.Get(ctx, key)
		if err == nil || b.Put(ctx, key, nil) == nil || b.Delete(ctx, key) == nil {
			t.Errorf("key %q: %v", key, err)
		}
	}
	if _, err := b.List(ctx, "../"); err == nil {
		t.Error("lists what is above")
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	s := &Store{Bucket: File{file}}
	if _, err := s.Put(ctx, "r", nil); !errors.Is(err, ErrAway) {
		t.Errorf("a folder that is a file: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Put(ended, "r", nil); errors.Is(err, ErrAway) {
		t.Errorf("of a caller who is gone: %v", err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	if b, err := Open("file:///srv/a%20b"); err != nil || b != (File{"/srv/a b"}) {
		t.Errorf("%v, %v", b, err)
	}
	for address, want := range map[string]string{
		"s3://bucket": "the program ycbot-blobs has to be beside ycbot or in PATH",
		"/srv/blobs":  "want an address", "file://host/srv": "want file:///FOLDER", "file:srv": "want file:///FOLDER", "file:///a?create_dir=true": "nothing behind it",
		"ftp://bucket": "ftp://",
	} {
		if _, err := Open(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// A silent bucket accepts and never answers; what is read of it stops in the middle.
type silent struct{}

func (silent) Put(ctx context.Context, _ string, _ []byte) error { <-ctx.Done(); return ctx.Err() }
func (silent) Delete(ctx context.Context, _ string) error        { <-ctx.Done(); return ctx.Err() }
func (silent) List(ctx context.Context, _ string) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if !strings.HasPrefix(key, "half/") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })
	go func() { _, _ = w.Write([]byte{0x1f, 0x8b, 8}) }()
	return r, nil
}

// A bucket that does not answer is away after a time; a reader may take as long as it wants between.
func TestSilent(t *testing.T) {
	t.Parallel()
	s := &Store{Bucket: silent{}, Within: 50 * time.Millisecond}
	d := DigestOf([]byte("x"))
	for name, do := range map[string]func(context.Context) error{
		"put":       func(ctx context.Context) error { _, err := s.Put(ctx, "run", []byte("x")); return err },
		"get":       func(ctx context.Context) error { _, err := s.Read(ctx, "run", d, 1); return err },
		"get, half": func(ctx context.Context) error { _, err := s.Read(ctx, "half", d, 1); return err },
		"tidy": func(ctx context.Context) error {
			_, err := s.Tidy(ctx, "run", func(Digest) bool { return false })
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := do(ctx); !errors.Is(err, ErrAway) || ctx.Err() != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	whole := &Store{Bucket: File{Dir: t.TempDir()}, Within: 50 * time.Millisecond}
	data := bytes.Repeat([]byte("0123456789"), 100_000)
	sum, err := whole.Put(t.Context(), "run", data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := whole.Open(t.Context(), "run", sum, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	first := make([]byte, 10)
	_, err = io.ReadFull(r, first)
	time.Sleep(4 * whole.Within)
	rest, more := io.ReadAll(r)
	if err = errors.Join(err, more); err != nil || len(rest) != len(data)-10 {
		t.Errorf("read slowly: %d bytes, %v", len(rest), err)
	}
}
