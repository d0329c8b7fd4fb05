package lfs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

const secret = "Basic c2VjcmV0"

func pointer(n int) workspace.Pointer {
	text := fmt.Sprintf("content %d", n)
	return workspace.Pointer{Path: fmt.Sprintf("f%d.bin", n), OID: fmt.Sprintf("%x", sha256.Sum256([]byte(text))), Size: int64(len(text))}
}

// anywhere resolves every name to a public address, but for those of this machine.
func anywhere(_ context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if host == "inner.example" {
		return []netip.Addr{netip.MustParseAddr("93.184.215.14"), netip.MustParseAddr("10.0.0.1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
}

// client reaches the server under any name that ends in example.com, by TLS.
func client(storage *httptest.Server) Client {
	c := storage.Client()
	t, _ := c.Transport.(*http.Transport)
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if strings.HasPrefix(addr, "files.example.com:") || strings.HasPrefix(addr, "more.example.com:") {
			addr = storage.Listener.Addr().String()
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	return Client{c, anywhere}
}

// serve is an LFS server whose contents lie on another host. Of the third object it has
// nothing, the fourth it does not locate, the fifth breaks off, the sixth lies on this
// machine and the seventh leads there.
func serve(t *testing.T, all []workspace.Pointer) (c Client, url string, asked *[]int) {
	t.Helper()
	asked = new([]int)
	storage := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/led" {
			if r.Header.Get("X-Signed") != "" || r.Header.Get("X-Token") != "" {
				http.Error(w, "a credential of another host", http.StatusTeapot)
				return
			}
			fmt.Fprint(w, "content 7")
			return
		}
		if r.Header.Get("Authorization") != "" {
			http.Error(w, "a credential", http.StatusTeapot)
			return
		}
		if r.Header.Get("X-Signed") != "yes" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		i := slices.IndexFunc(all, func(p workspace.Pointer) bool { return strings.HasSuffix(r.URL.Path, p.OID) })
		switch i {
		case 4:
			w.Header().Set("Content-Length", "100")
		case 6:
			http.Redirect(w, r, "https://127.0.0.1:1/x", http.StatusFound)
			return
		case 7: // on a host of its own, as a bucket is
			http.Redirect(w, r, "https://more.example.com/led", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "content %d", i)
	}))
	t.Cleanup(storage.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Operation string
			Objects   []struct{ OID string }
		}
		if r.URL.Path != "/o/r.git/info/lfs/objects/batch" || r.Header.Get("Authorization") != secret || r.Header.Get("Accept") != mediaType {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Operation != "download" {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		*asked = append(*asked, len(in.Objects))
		var out struct {
			Objects []map[string]any `json:"objects"`
		}
		for _, o := range in.Objects {
			one := map[string]any{"oid": o.OID}
			switch slices.IndexFunc(all, func(p workspace.Pointer) bool { return p.OID == o.OID }) {
			case 2:
				one["error"] = map[string]any{"code": 404, "message": "it is gone"}
			case 3:
			case 5:
				one["actions"] = map[string]any{"download": map[string]any{"href": "https://inner.example/" + o.OID}}
			default:
				one["actions"] = map[string]any{"download": map[string]any{"href": "https://files.example.com/" + o.OID, "header": map[string]string{"X-Signed": "yes"}}}
			}
			out.Objects = append(out.Objects, one)
		}
		if err := json.NewEncoder(w).Encode(out); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return client(storage), server.URL + "/o/r.git/info/lfs", asked
}

// All that can be fetched comes, with the credential of the host for that host alone, and
// the error names each that does not.
func TestFetch(t *testing.T) {
	t.Parallel()
	var all []workspace.Pointer
	for n := range 130 {
		all = append(all, pointer(n))
	}
	c, url, asked := serve(t, all)
	got := map[string]bool{}
	keep := func(p workspace.Pointer, body io.Reader) error {
		data, err := io.ReadAll(body)
		if err == nil && fmt.Sprintf("%x", sha256.Sum256(data)) != p.OID {
			err = errors.New("another content")
		}
		got[p.Path] = err == nil
		return err
	}
	origin := git.Remote{URL: url, Settings: []string{"http.postBuffer=1", "http.https://example.org/.extraheader=Authorization: " + secret}}
	err := c.Fetch(t.Context(), origin, url, all, keep)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`"f2.bin": 127.0.0.1`, `says: "it is gone"`, `"f3.bin": 127.0.0.1`, "does not say where it is", `"f4.bin": unexpected EOF`, `"f5.bin": inner.example is not asked: it has no public address`, `"f6.bin": files.example.com: 127.0.0.1:1 is not asked`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %q in it", err, want)
		}
	}
	if strings.Count(err.Error(), "\n") != 4 || !got["f0.bin"] || !got["f129.bin"] || got["f4.bin"] || len(got) != 126 {
		t.Errorf("%d came: %v", len(got), err)
	}
	if !slices.Equal(*asked, []int{100, 30}) {
		t.Errorf("asked for %v", *asked)
	}
}

// A server that cannot be used is an error that names its host and no more of its address.
func TestFetchNothing(t *testing.T) {
	t.Parallel()
	all := []workspace.Pointer{pointer(0)}
	c, url, _ := serve(t, all)
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	t.Cleanup(broken.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, tc := range []struct{ origin, at, want string }{
		{url, url, "answers 401 Unauthorized"},
		{broken.URL, broken.URL, "invalid character"},
		{gone.URL, gone.URL + "/?signature=s3cr", "connection refused"},
		{"", "git@github.com:o/r.git", "over https"},
		{"", "file:///etc", "over https"},
		{"https://github.com/o/r", url, "is not asked without https"},
		{"https://github.com/o/r", "http://169.254.169.254/latest", "is not asked without https"},
		{"https://github.com/o/r", "https://169.254.169.254/latest", "no public address"},
		{"https://github.com/o/r", "https://127.0.0.1:1/x", "no public address"},
	} {
		err := c.Fetch(t.Context(), git.Remote{URL: tc.origin}, tc.at, all, func(workspace.Pointer, io.Reader) error {
			t.Error("something came")
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cr") {
			t.Errorf("%s: %v, want %q", tc.at, err, tc.want)
		}
	}
	origin := git.Remote{URL: "https://github.com/o/r", Settings: []string{"http.extraheader=Authorization: " + secret}}
	if err := c.Fetch(t.Context(), origin, "https://files.example.com/o/r", all, nil); err == nil || !strings.Contains(err.Error(), "answers 403") {
		t.Errorf("another host: %v", err)
	}
}
