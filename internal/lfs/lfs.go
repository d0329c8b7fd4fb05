// Package lfs fetches the contents of files under Git LFS by its batch API.
//
// See https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md. Only the basic
// transfer is asked for. What a server sends is not checked here: [workspace.Mirror.KeepContent]
// keeps nothing but what has the id that the commit names.
package lfs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/proxy"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

const (
	mediaType = "application/vnd.git-lfs+json"
	// atOnce is how many objects one request asks for; servers take no more than 100 or 1000.
	atOnce = 100
	// maxAnswer bounds the answer to such a request, in bytes.
	maxAnswer = 1 << 20
	// askTime bounds a request for addresses, getTime one for a content.
	askTime = time.Minute
	getTime = 10 * time.Minute
)

// Client asks LFS servers. Both fields are wanted.
type Client struct {
	HTTP    *http.Client
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Fetch hands the contents of pointers to keep, one after the other. endpoint is the URL of
// the server's LFS API. Only the host of origin gets what http.extraheader of its settings
// has; every other, where that leads to as well, is asked over https and at public addresses
// alone: who writes a repository does not choose what of the operator's network is asked.
// What cannot be fetched does not keep the rest from coming: the error joins all that failed.
func (c Client) Fetch(ctx context.Context, origin git.Remote, endpoint string, pointers []workspace.Pointer, keep func(workspace.Pointer, io.Reader) error) error {
	at, err := url.Parse(endpoint)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" {
		return fmt.Errorf("files under Git LFS are fetched over https, not from %q", endpoint)
	}
	own := ""
	if u, err := url.Parse(origin.URL); err == nil {
		own = u.Host
	}
	var settings []string
	if at.Host == own {
		settings = origin.Settings
	}
	client := *c.HTTP
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return errors.New("it leads on and on")
		}
		if first := via[0].URL; req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
			req.Header = http.Header{} // the credential, in whichever header it is, is for no other
		}
		return c.allowed(req.Context(), req.URL, own)
	}
	c.HTTP = &client
	var failed error
	for chunk := range slices.Chunk(pointers, atOnce) {
		objects, err := c.ask(ctx, at, own, settings, chunk)
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, p := range chunk {
			err := c.get(ctx, at, own, settings, objects[p.OID], func(body io.Reader) error { return keep(p, body) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%q: %w", p.Path, err))
			}
		}
	}
	return failed
}

// An object is what a server says of one.
type object struct {
	OID     string `json:"oid"`
	Actions struct {
		Download *action `json:"download"`
	} `json:"actions"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type action struct {
	Href   string            `json:"href"`
	Header map[string]string `json:"header"`
}

// ask returns where objects are, by their ids.
func (c Client) ask(ctx context.Context, at *url.URL, own string, settings []string, pointers []workspace.Pointer) (map[string]object, error) {
	type wanted struct {
		OID  string `json:"oid"`
		Size int64  `json:"size"`
	}
	body := struct {
		Operation string   `json:"operation"`
		Transfers []string `json:"transfers"`
		Objects   []wanted `json:"objects"`
	}{Operation: "download", Transfers: []string{"basic"}}
	for _, p := range pointers {
		body.Objects = append(body.Objects, wanted{p.OID, p.Size})
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.JoinPath("objects", "batch").String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header = headerOf(settings)
	req.Header.Set("Accept", mediaType)
	req.Header.Set("Content-Type", mediaType)
	answer, err := c.do(req, own, func(body io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(body, maxAnswer)) })
	if err != nil {
		return nil, err
	}
	var got struct {
		Objects []object `json:"objects"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, fmt.Errorf("answer of %s: %w", at.Host, err)
	}
	out := map[string]object{}
	for _, o := range got.Objects {
		out[o.OID] = o
	}
	return out, nil
}

// get fetches one object.
func (c Client) get(ctx context.Context, at *url.URL, own string, settings []string, o object, keep func(io.Reader) error) error {
	switch {
	case o.Error != nil:
		return fmt.Errorf("%s says: %.200q", at.Host, o.Error.Message)
	case o.Actions.Download == nil:
		return fmt.Errorf("%s does not say where it is", at.Host)
	}
	ctx, cancel := context.WithTimeout(ctx, getTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.Actions.Download.Href, nil)
	if err != nil {
		return err
	}
	if req.URL.Host == at.Host { // the credential is for no other
		maps.Copy(req.Header, headerOf(settings))
	}
	for name, value := range o.Actions.Download.Header {
		req.Header.Set(name, value)
	}
	_, err = c.do(req, own, func(body io.Reader) ([]byte, error) { return nil, keep(body) })
	return err
}

func (c Client) do(req *http.Request, own string, read func(io.Reader) ([]byte, error)) ([]byte, error) {
	if err := c.allowed(req.Context(), req.URL, own); err != nil {
		return nil, err
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		var failed *url.Error // its text has the whole address, in which there may be a signature
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, fmt.Errorf("%s: %w", req.URL.Host, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", req.URL.Host, res.Status)
	}
	return read(res.Body)
}

// allowed says why an address is not asked.
func (c Client) allowed(ctx context.Context, at *url.URL, own string) error {
	if at.Host == own {
		return nil
	}
	if at.Scheme != "https" {
		return fmt.Errorf("%s is not asked without https", at.Host)
	}
	found, err := c.Resolve(ctx, at.Hostname())
	if err != nil {
		return fmt.Errorf("%s: %w", at.Host, err)
	}
	if len(found) == 0 || slices.ContainsFunc(found, func(a netip.Addr) bool { return !proxy.Public(a) }) {
		return fmt.Errorf("%s is not asked: it has no public address", at.Host)
	}
	return nil
}

// headerOf is what git would send beside a request, by its http.extraheader.
func headerOf(settings []string) http.Header {
	h := http.Header{}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		key = strings.ToLower(key)
		if !strings.HasPrefix(key, "http.") || !strings.HasSuffix(key, ".extraheader") {
			continue
		}
		if name, text, ok := strings.Cut(value, ":"); ok {
			h.Set(strings.TrimSpace(name), strings.TrimSpace(text))
		}
	}
	return h
}
