package cmdline

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
)

// Bounds of what is kept of a stream: bytes of its beginning, lines of its end, bytes of each
// of those.
const (
	maxStream   = 1 << 20
	maxTail     = 50
	maxTailLine = 4 << 10
	maxPart     = 64 << 10 // bytes of a line that are cleaned together
)

// A Stream is what a program printed: the beginning, a hash of what is behind that, and the
// last lines, each as it is cleaned.
type Stream struct {
	Clean func(string) string

	head strings.Builder
	part []byte // of a line that has not ended
	tail []string
	hash hash.Hash // of all behind the beginning
	more int       // bytes of that
}

// Write implements io.Writer.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			end = len(p)
		}
		end = min(end, maxPart-len(s.part))
		s.part, p = append(s.part, p[:end]...), p[end:]
		if len(s.part) == maxPart || s.part[len(s.part)-1] == '\n' {
			s.take()
		}
	}
	return n, nil
}

func (s *Stream) take() {
	line := s.Clean(string(s.part))
	s.part = s.part[:0]
	if s.hash == nil && s.head.Len()+len(line) <= maxStream {
		s.head.WriteString(line)
		return
	}
	if s.hash == nil {
		s.hash = sha256.New()
	}
	s.hash.Write([]byte(line))
	s.more += len(line)
	if len(line) > maxTailLine {
		line = line[:maxTailLine] + "\n"
	}
	if s.tail = append(s.tail, strings.Clone(line)); len(s.tail) > maxTail {
		s.tail = append(s.tail[:0], s.tail[1:]...)
	}
}

// String is what is kept.
func (s *Stream) String() string {
	if len(s.part) > 0 {
		s.take()
	}
	if s.hash == nil {
		return s.head.String()
	}
	return s.head.String() + fmt.Sprintf("\n%d bytes more, with the hash %.6x, which end with\n", s.more, s.hash.Sum(nil)) + strings.Join(s.tail, "")
}
