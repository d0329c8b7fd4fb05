package sandbox_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// A folder that is mounted for a command is swapped for a link to the secrets of the
// machine, again and again, between being looked at and being mounted: the command
// never reads there, and never writes there.
func TestMountOfASwappedFolder(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"full", "basic"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			sb := detect(t, mode, nil)
			work, outside := t.TempDir(), t.TempDir()
			cache, link := filepath.Join(work, "cache"), filepath.Join(work, "link")
			if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("S3CR3T"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(cache, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(outside, link); err != nil {
				t.Fatal(err)
			}
			stop := make(chan struct{})
			stopped := make(chan error)
			go func() {
				var err error
				for err == nil {
					select {
					case <-stop:
						stopped <- nil
						return
					default:
						err = unix.Renameat2(unix.AT_FDCWD, cache, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
					}
				}
				stopped <- err
			}()
			ran := 0
			for i := range 150 {
				c := sandbox.Command{Dir: work, Writable: []string{work, cache}, Argv: bash("cat " + cache + "/secret " + link + "/secret; echo pwned >" + cache + "/new; echo pwned >" + link + "/new")}
				if i%2 == 0 {
					c.Writable, c.ReadOnly = []string{work}, []string{cache}
				}
				res, err := sb.Run(t.Context(), c)
				if err != nil {
					continue // refused: it was a link when it was looked at
				}
				ran++
				if bytes.Contains(res.Stdout.Bytes, []byte("S3CR3T")) {
					t.Errorf("command %d read the secret", i)
					break
				}
			}
			close(stop)
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(filepath.Join(outside, "new")); err == nil {
				t.Error("a command wrote there")
			}
			t.Logf("%d of 150 commands ran", ran)
		})
	}
}
