package sandbox

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// memoryFile is an unnamed file that holds data, to be read from its beginning.
func memoryFile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("data", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memfd")
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("memfd: %w", err)
	}
	return f, nil
}

// accounts is an account file of the host with own in place of the user who has the
// same number there.
func accounts(file, own string) []byte {
	data, err := os.ReadFile(file)
	if err != nil {
		data = []byte("root:x:0:0::/:/bin/sh\n") // an image without accounts
	}
	id := func(line string) string {
		if f := strings.Split(line, ":"); len(f) > 2 {
			return f[2]
		}
		return ""
	}
	lines := []string{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && id(line) != id(own) {
			lines = append(lines, line)
		}
	}
	return []byte(strings.Join(append(lines, own), "\n") + "\n")
}
