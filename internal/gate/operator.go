package gate

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// What the operator of this machine has set about registries and the way to them
// holds for the setup phase of a change too. Credentials never do: what install
// scripts of dependencies can read is public.

// wayOut are variables about the way out of this machine, of which those in files
// name files or folders that have to be readable.
var (
	wayOut      = strings.Fields("HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy")
	wayOutFiles = strings.Fields("SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE")
)

// userInfo is what stands before the host of a URL.
var userInfo = pattern.New(`://[^/@\s]*@`)

func withoutUser(value string) string { return userInfo.ReplaceAllString(value, "://") }

// registries are the operator's settings for the setup phase, and the files that
// they name.
func (t *Toolchains) registries() (env, files []string) {
	if t == nil {
		return nil, nil
	}
	names, places := slices.Clone(wayOut), slices.Clone(wayOutFiles)
	for _, eco := range ecosystems() {
		names, places = append(names, eco.registries...), append(places, eco.registryFiles...)
	}
	for _, e := range t.env {
		name, value, _ := strings.Cut(e, "=")
		switch {
		case value == "":
		case slices.Contains(places, name):
			for place := range strings.FieldsSeq(value) {
				if _, err := os.Stat(place); filepath.IsAbs(place) && err == nil {
					files = append(files, place)
				}
			}
			env = append(env, name+"="+withoutUser(value))
		case slices.ContainsFunc(names, func(n string) bool { return sameVariable(n, name) }):
			env = append(env, name+"="+withoutUser(value))
		}
	}
	return env, files
}

// sameVariable compares a name with one that may have a star in its middle.
func sameVariable(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// A settingsFile is a file of settings of the operator, of which registries are
// copied to where tools of a change look for it.
type settingsFile struct {
	variable string   // names the file; empty: none does
	places   []string // else it is the first of these, from HOME
	keep     func(line string) bool
}

// furnish writes what the operator has set about registries in files into the HOME
// of a side, before any command has used it.
func (g *Gate) furnish(home string) error {
	if g.Tools == nil {
		return nil
	}
	var errs []error
	for _, eco := range ecosystems() {
		for _, f := range eco.settingsFiles {
			if text := f.read(g.Tools); text != "" {
				to := filepath.Join(home, filepath.FromSlash(f.places[0]))
				errs = append(errs, mkdirs(filepath.Dir(to)), os.WriteFile(to, []byte(text), 0o600))
			}
		}
	}
	return errors.Join(errs...)
}

// maxSettings bounds a file of settings, in bytes.
const maxSettings = 64 << 10

// read returns the lines that are kept; none where there is no such file.
func (f settingsFile) read(t *Toolchains) string {
	files := []string{}
	if f.variable != "" {
		files = append(files, t.getenv(f.variable))
	}
	for _, p := range f.places {
		files = append(files, filepath.Join(t.getenv("HOME"), filepath.FromSlash(p)))
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
			if line = strings.TrimSpace(line); f.keep(line) {
				out.WriteString(withoutUser(line) + "\n")
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

// keepKeys keeps the lines of a file that set one of these keys, and its headings
// of those names.
func keepKeys(keys, headings []string) func(string) bool {
	in := headings == nil
	return func(line string) bool {
		if name, ok := strings.CutPrefix(line, "["); ok {
			in = slices.ContainsFunc(headings, func(h string) bool { return sameVariable(h, strings.TrimRight(name, "]")) })
			return in
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		// A value that is computed could name anything.
		return in && ok && !strings.ContainsAny(value, "$`") && slices.ContainsFunc(keys, func(k string) bool { return sameVariable(k, key) })
	}
}
