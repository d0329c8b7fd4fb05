package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// MaxSize is how many bytes a configuration may have.
const MaxSize = 256 << 10

// Read reads the hooks of a file; none is there where the file is not. A file
// that someone else than its reader or root could have written is an error, as
// is one with anything in it that means nothing: a hook that was meant and is not
// called would go unnoticed.
func Read(name string) ([]Hook, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // no writer of a pipe is waited for
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	defer f.Close()
	if err := private(f); err != nil {
		return nil, fmt.Errorf("hooks: %s: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	return Parse(name, data)
}

// private refuses a file that others can write.
func private(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	owner := -1
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = int(st.Uid)
	}
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case owner != 0 && owner != os.Geteuid():
		return errors.New("it belongs to someone else; what it names is run as you")
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others can write it (mode %04o); what it names is run as you: chmod go-w it", info.Mode().Perm())
	}
	return nil
}

// Parse reads
//
//	{"hooks": {"PreToolUse": [{"match": "run_bash", "command": ["/usr/local/bin/guard"], "timeout": "5s"}]}}
//
// A mistake is an error that names its line.
func Parse(name string, data []byte) ([]Hook, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("hooks: %s: it is larger than %d bytes", name, MaxSize)
	}
	p := &parser{name: name, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	if err := p.document(); err != nil {
		return nil, fmt.Errorf("hooks: %s:%d: %w", name, p.line(), err)
	}
	return p.hooks, nil
}

type parser struct {
	name  string
	data  []byte
	dec   *json.Decoder
	hooks []Hook
}

// line is the line of what comes next.
func (p *parser) line() int {
	at := min(int(p.dec.InputOffset()), len(p.data))
	at += len(p.data[at:]) - len(bytes.TrimLeft(p.data[at:], " \t\r\n:,"))
	return 1 + bytes.Count(p.data[:at], []byte("\n"))
}

func (p *parser) document() error {
	seen := false
	err := p.object(func(key string) error {
		if key != "hooks" {
			return fmt.Errorf("unknown key %q; there is hooks", key)
		}
		seen = true
		return p.object(func(key string) error {
			if !slices.Contains(events(), Event(key)) {
				return fmt.Errorf("unknown event %q; there are %s", key, names())
			}
			return p.list(Event(key))
		})
	})
	if err != nil {
		return err
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the end")
	}
	if !seen {
		return errors.New("the key hooks is missing")
	}
	return nil
}

func names() string {
	var all []string
	for _, e := range events() {
		all = append(all, string(e))
	}
	return strings.Join(all, ", ")
}

// object reads an object whose keys each come once.
func (p *parser) object(member func(key string) error) error {
	if err := p.expect('{', "an object"); err != nil {
		return err
	}
	seen := map[string]bool{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		key, _ := t.(string)
		if seen[key] {
			return fmt.Errorf("the key %q comes twice", key)
		}
		seen[key] = true
		if err := member(key); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

func (p *parser) list(e Event) error {
	if err := p.expect('[', "a list of hooks"); err != nil {
		return err
	}
	for p.dec.More() {
		line := p.line()
		var entry struct {
			Match   string   `json:"match"`
			Command []string `json:"command"`
			Timeout string   `json:"timeout"`
		}
		var raw json.RawMessage
		if err := p.dec.Decode(&raw); err != nil {
			return err
		}
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&entry); err != nil {
			return fmt.Errorf("hook of line %d: %w", line, worded(err))
		}
		h := Hook{Event: e, Match: entry.Match, Command: entry.Command, Timeout: timeoutDefault, File: p.name, Line: line}
		if err := h.check(entry.Timeout); err != nil {
			return fmt.Errorf("hook of line %d: %w", line, err)
		}
		p.hooks = append(p.hooks, h)
	}
	_, err := p.token()
	return err
}

// errCommand says what a command is.
var errCommand = errors.New(`command: want a list of words, the first the absolute path of a program, such as ["/usr/local/bin/guard", "--strict"]`)

// worded says of a value of another type what is wanted in its place.
func worded(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err
	case strings.HasPrefix(wrong.Field, "command"):
		return errCommand
	case wrong.Field == "":
		return errors.New("want an object with command, and maybe match and timeout")
	}
	return fmt.Errorf("%s: want a text", wrong.Field)
}

// check holds what a hook says of itself.
func (h *Hook) check(timeout string) error {
	if len(h.Command) == 0 || !filepath.IsAbs(h.Command[0]) {
		return errCommand
	}
	if _, err := path.Match(h.Match, ""); err != nil {
		return fmt.Errorf("match %q: %w", h.Match, err)
	}
	if h.Match != "" && (h.Event == RunStart || h.Event == RunEnd) {
		return fmt.Errorf("match: %s is about no tool and no agent", h.Event)
	}
	if timeout == "" {
		return nil
	}
	d, err := time.ParseDuration(timeout)
	if err != nil || d <= 0 || d > timeoutMost {
		return fmt.Errorf("timeout %q: want a time such as 5s, at most %s", timeout, timeoutMost)
	}
	h.Timeout = d
	return nil
}

func (p *parser) expect(delim json.Delim, what string) error {
	t, err := p.token()
	if err != nil {
		return err
	}
	if t != delim {
		return fmt.Errorf("%s is wanted here", what)
	}
	return nil
}

func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it ends too early")
	}
	return t, err
}
