package ecosystem

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Upstream is the operator's own proxy.
func (t *Toolchains) Upstream() func(*url.URL) (*url.URL, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if v := t.Getenv(n); v != "" {
				return v
			}
		}
		return ""
	}
	c := httpproxy.Config{
		HTTPProxy: first("HTTP_PROXY", "http_proxy"), HTTPSProxy: first("HTTPS_PROXY", "https_proxy"), NoProxy: first("NO_PROXY", "no_proxy"),
	}
	return c.ProxyFunc()
}

// userInfo is what stands before the host of a URL.
var userInfo = pattern.New(`://[^/@\s]*@`)

// WithoutUser takes the names and passwords out of the URLs in a text.
func WithoutUser(value string) string { return userInfo.ReplaceAllString(value, "://") }

// SameVariable compares a name with one that may have a star in its middle.
func SameVariable(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// A SettingsFile is a file of settings of the operator, of which registries are
// copied to where tools of a change look for it.
type SettingsFile struct {
	Variable string                 // names the file; empty: none does
	Places   []string               // else it is the first of these, from HOME
	Keep     func(line string) bool // a line is about registries
}

// maxSettings bounds a file of settings, in bytes.
const maxSettings = 64 << 10

// Read returns the lines that are kept; none where there is no such file.
func (f SettingsFile) Read(t *Toolchains) string {
	files := []string{}
	if f.Variable != "" {
		files = append(files, t.Getenv(f.Variable))
	}
	for _, p := range f.Places {
		files = append(files, filepath.Join(t.Getenv("HOME"), filepath.FromSlash(p)))
	}
	for _, name := range files {
		if info, err := os.Stat(name); !filepath.IsAbs(name) || err != nil || info.Size() > maxSettings {
			continue
		}
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrPermission) || err != nil {
			continue
		}
		var out strings.Builder
		kept := false
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); f.Keep(line) {
				out.WriteString(WithoutUser(line) + "\n")
				kept = kept || !strings.HasPrefix(line, "[")
			}
		}
		if kept {
			return out.String()
		}
		return ""
	}
	return ""
}

// KeepKeys keeps the lines of a file that set one of these keys, and its headings
// of those names.
func KeepKeys(keys, headings []string) func(string) bool {
	in := headings == nil
	return func(line string) bool {
		if name, ok := strings.CutPrefix(line, "["); ok {
			in = slices.ContainsFunc(headings, func(h string) bool { return SameVariable(h, strings.TrimRight(name, "]")) })
			return in
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		// A value that is computed could name anything.
		return in && ok && !strings.ContainsAny(value, "$`") && slices.ContainsFunc(keys, func(k string) bool { return SameVariable(k, key) })
	}
}
