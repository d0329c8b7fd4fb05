package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/ycbot/ycbot/internal/blobs"
)

// ycbot stores in S3 through this program: what it stored is there, also when the program
// was killed in between; a bucket that refuses or is full is one that may come back.
func TestS3(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ycbot-blobs")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	backend := s3mem.New()
	if err := backend.CreateBucket("runs"); err != nil {
		t.Fatal(err)
	}
	s3 := gofakes3.New(backend).Server()
	var full atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if full.Load() && r.Method == http.MethodPut {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		s3.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true", "TMPDIR": t.TempDir()} {
		t.Setenv(name, value)
	}
	cloud := &blobs.Cloud{Program: program, Address: "s3://runs?region=us-east-1&use_path_style=true&endpoint=" + server.URL}
	s := &blobs.Store{Bucket: cloud}
	ctx := t.Context()
	if err := s.Check(ctx); err != nil {
		t.Fatal(err)
	}
	data := bytes.Repeat([]byte("output\n"), 1<<18)
	d, err := s.Put(ctx, "run", data)
	if err != nil {
		t.Fatal(err)
	}
	if err := kill(t, program); err != nil {
		t.Fatal(err)
	}
	got, err := s.Read(ctx, "run", d, int64(len(data)))
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes came back of %d, %v", len(got), len(data), err)
	}
	full.Store(true)
	if _, err := s.Put(ctx, "run", []byte("more")); !errors.Is(err, blobs.ErrAway) {
		t.Errorf("a bucket that is full: %v", err)
	}
	full.Store(false)
	if _, err := s.Put(ctx, "run", []byte("more")); err != nil {
		t.Error(err)
	}
	if _, err := s.Read(ctx, "run", blobs.DigestOf([]byte("other")), 5); !errors.Is(err, blobs.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
	if n, err := s.Tidy(ctx, "run", func(k blobs.Digest) bool { return k == d }); n != 1 || err != nil {
		t.Errorf("Tidy = %d, %v", n, err)
	}
	if err := cloud.Close(); err != nil {
		t.Error(err)
	}
	wrong := &blobs.Store{Bucket: &blobs.Cloud{Program: program, Address: "s3://runs?unknown=1"}}
	if _, err := wrong.Put(ctx, "run", nil); !errors.Is(err, blobs.ErrAway) || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("an address that is wrong: %v", err)
	}
}

// kill kills the program that this test started.
func kill(t *testing.T, program string) error {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return err
	}
	for _, name := range names {
		if exe, err := os.Readlink(name); err == nil && exe == program {
			var pid int
			for _, c := range strings.Split(name, "/")[2] {
				pid = 10*pid + int(c-'0')
			}
			return syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return errors.New("it does not run")
}
