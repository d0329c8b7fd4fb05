package github

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const (
	maxCached = 1 << 20 // of one answer
	maxCache  = 8 << 20 // of all
)

// conditional remembers answers to reads with their ETags and asks only whether
// they changed: that does not count against the rate limit.
type conditional struct {
	next http.RoundTripper

	mu      sync.Mutex
	answers map[string]answer
	size    int
}

type answer struct {
	etag   string
	header http.Header
	body   []byte
}

func (c *conditional) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		return c.next.RoundTrip(req)
	}
	key := req.Header.Get("Accept") + " " + req.URL.String()
	c.mu.Lock()
	old, known := c.answers[key]
	c.mu.Unlock()
	if known {
		req = req.Clone(req.Context())
		req.Header.Set("If-None-Match", old.etag)
	}
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if known && resp.StatusCode == http.StatusNotModified {
		resp.Status, resp.StatusCode, resp.Header = "200 OK", http.StatusOK, old.header.Clone()
		setBody(resp, old.body)
		return resp, nil
	}
	return resp, c.keep(key, req, resp)
}

// fullAtEnd reports whether an answer is the last page of a list and full: it stays the same
// when the list goes on, but for the header that says so.
func fullAtEnd(req *http.Request, h http.Header, body []byte) bool {
	var items []json.RawMessage
	size := req.URL.Query().Get("per_page")
	return size != "" && !strings.Contains(h.Get("Link"), `rel="next"`) && json.Unmarshal(body, &items) == nil && strconv.Itoa(len(items)) == size
}

// keep remembers an answer. When there are too many all are forgotten: they
// are only worth a little.
func (c *conditional) keep(key string, req *http.Request, resp *http.Response) error {
	etag := resp.Header.Get("ETag")
	if resp.StatusCode != http.StatusOK || etag == "" {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	setBody(resp, body)
	if len(body) > maxCached || fullAtEnd(req, resp.Header, body) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size += len(body) - len(c.answers[key].body)
	if c.answers == nil || c.size > maxCache {
		c.answers, c.size = map[string]answer{}, len(body)
	}
	c.answers[key] = answer{etag: etag, header: resp.Header.Clone(), body: body}
	return nil
}
