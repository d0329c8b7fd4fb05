package terminal

import (
	"bytes"
	"os"
	"strings"
	"sync"
)

// A Console is standard output or standard error. Inside of a job of GitHub Actions
// the runner reads both and takes some lines for commands of its own: none that is
// written here is one, no matter who wrote its text. What must be a command goes to File.
type Console struct {
	*os.File
	guard *commandGuard // nil: no one looks for commands
}

// NewConsole makes a console of a file, for a process with the environment env.
func NewConsole(f *os.File, env []string) *Console {
	c := &Console{File: f}
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "GITHUB_ACTIONS="); ok && value != "" && value != "false" {
			c.guard = &commandGuard{start: true}
		}
	}
	return c
}

// Write implements io.Writer.
func (c *Console) Write(b []byte) (int, error) {
	if c.guard == nil {
		return c.File.Write(b)
	}
	if _, err := c.File.Write(c.guard.disarm(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// WriteString implements io.StringWriter.
func (c *Console) WriteString(s string) (int, error) { return c.Write([]byte(s)) }

// A commandGuard breaks what the runner takes for a command: "::" as the first thing
// in a line that is no white space, and "##[" anywhere. A line ends with a line feed
// or a carriage return. It remembers where in a line it is from one piece of text to
// the next.
type commandGuard struct {
	mu     sync.Mutex
	start  bool // nothing but white space, or what might be taken for it, is in the line
	json   bool // the line is one of JSON, as its first character says
	colon  bool // the line begins with one colon so far
	hashes int  // that stand before this place
}

func (g *commandGuard) disarm(b []byte) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out bytes.Buffer
	for _, c := range b {
		switch {
		case c == ':' && g.colon, c == '[' && g.hashes >= 2 && !g.json:
			out.WriteByte(' ')
			out.WriteByte(c)
		case c == '[' && g.hashes >= 2:
			out.WriteString(`\u005b`) // the same text, as it is inside a string
		default:
			out.WriteByte(c)
		}
		g.colon = g.start && c == ':'
		g.hashes++
		if c != '#' {
			g.hashes = 0
		}
		switch {
		case c == '\n' || c == '\r':
			g.start, g.json = true, false
		case g.start && c > ' ' && c < 0x80:
			g.start, g.json = false, c == '{' || c == '"'
		}
	}
	return out.Bytes()
}
