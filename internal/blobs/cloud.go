package blobs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Program is what speaks to buckets of clouds; see its own source in cmd/ycbot-blobs. It
// lies beside ycbot, or in PATH.
const Program = "ycbot-blobs"

// A Cloud is a bucket of a cloud, behind a program of its own that is started when it is
// needed, and again when it has died.
type Cloud struct {
	Program string // its file
	Address string // of the bucket

	mu      sync.Mutex
	running *helper
}

// A helper is that program at work.
type helper struct {
	input  io.Closer // which ends it
	dir    string    // of the socket; no one else may enter it
	client *http.Client
}

// start returns the program at work.
func (c *Cloud) start(ctx context.Context) (*helper, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		return c.running, nil
	}
	h, err := c.launch(ctx)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(c.Program), err)
	}
	c.running = h
	return h, nil
}

func (c *Cloud) launch(ctx context.Context) (_ *helper, err error) {
	h := &helper{}
	if h.dir, err = os.MkdirTemp("", "ycbot-blobs-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(h.dir)
		}
	}()
	name := filepath.Join(h.dir, "socket")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	socket, err := l.File()
	if err = errors.Join(err, l.Close()); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.Program, c.Address) //nolint:gosec // what the operator named
	cmd.ExtraFiles = []*os.File{socket}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what ends ycbot at a terminal lets it finish first
	if h.input, err = cmd.StdinPipe(); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err = errors.Join(err, socket.Close()); err != nil {
		return nil, err
	}
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(io.LimitReader(output, 10_000)).ReadString('\n')
		said <- strings.TrimSpace(line)
		_ = cmd.Wait() // what it was asked says what is wrong
	}()
	h.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", name)
		},
		MaxIdleConnsPerHost: 16,
	}}
	select {
	case line := <-said:
		if line != "ready" {
			h.close()
			return nil, fmt.Errorf("it says: %q", line)
		}
		return h, nil
	case <-ctx.Done():
		h.close()
		return nil, context.Cause(ctx)
	}
}

func (h *helper) close() {
	_ = h.input.Close()
	h.client.CloseIdleConnections()
	_ = os.RemoveAll(h.dir)
}

// Close ends the program.
func (c *Cloud) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		c.running.close()
		c.running = nil
	}
	return nil
}

// drop lets go of a program that does not answer, so that another is started.
func (c *Cloud) drop(h *helper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == h {
		h.close()
		c.running = nil
	}
}

func (h *helper) ask(ctx context.Context, method, key, query string, body []byte) (*http.Response, error) {
	address := url.URL{Scheme: "http", Host: "bucket", Path: "/" + key, RawQuery: query}
	request, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return h.client.Do(request)
}

// longestError is how much of an error is read.
const longestError = 1000

// do asks for something, once more where the program has died: all that is asked may be
// done twice. The caller closes the answer.
func (c *Cloud) do(ctx context.Context, method, key, query string, body []byte) (io.ReadCloser, error) {
	h, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := h.ask(ctx, method, key, query, body)
	if err != nil && ctx.Err() == nil {
		c.drop(h)
		if h, err = c.start(ctx); err == nil {
			answer, err = h.ask(ctx, method, key, query, body)
		}
	}
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return nil, ErrNotFound
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, longestError))
	return nil, errors.Join(fmt.Errorf("%s: %s", answer.Status, strings.TrimSpace(string(text))), err)
}

// Put implements [Bucket].
func (c *Cloud) Put(ctx context.Context, key string, data []byte) error {
	return closed(c.do(ctx, http.MethodPut, key, "", data))
}

// Get implements [Bucket].
func (c *Cloud) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	return c.do(ctx, http.MethodGet, key, "", nil)
}

// Delete implements [Bucket].
func (c *Cloud) Delete(ctx context.Context, key string) error {
	return closed(c.do(ctx, http.MethodDelete, key, "", nil))
}

// List implements [Bucket].
func (c *Cloud) List(ctx context.Context, prefix string) (keys []string, err error) {
	body, err := c.do(ctx, http.MethodGet, "", url.Values{"prefix": {prefix}}.Encode(), nil)
	if err != nil {
		return nil, err
	}
	err = json.NewDecoder(body).Decode(&keys)
	return keys, errors.Join(err, body.Close())
}

func closed(body io.ReadCloser, err error) error {
	if err != nil {
		return err
	}
	return body.Close()
}
