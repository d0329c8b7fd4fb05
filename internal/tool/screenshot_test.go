package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
)

// Only pages of the agent's own interface are rendered, by a browser that is there, and by
// a command that rules can refuse.
func TestScreenshotRefuses(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	for _, address := range []string{
		"", "127.0.0.1:8080", "file:///etc/passwd", "http://example.com/", "http://10.0.0.1/", "http://169.254.169.254/latest", "http://127.0.0.1.evil.example/",
		"http://user@127.0.0.1/", "http://[fe80::1]/", "http://0.0.0.0/", "javascript:alert(1)", "chrome://version",
	} {
		raw, err := json.Marshal(m{"url": address})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Screenshot(Screen{Shell: s, Browser: "/bin/false"}).Run(t.Context(), raw); !isBad(err) {
			t.Errorf("%q: %v", address, err)
		}
	}
	_, err := Screenshot(Screen{Shell: s}).Run(t.Context(), json.RawMessage(`{"url":"http://localhost:1/"}`))
	if !isBad(err) || !strings.Contains(err.Error(), "this machine has no Chromium") {
		t.Errorf("without a browser: %v", err)
	}
	s.Refuse = func(command string) *Denied { return &Denied{Code: "policy_deny", Rule: command} }
	res, err := Screenshot(Screen{Shell: s, Browser: "/usr/bin/chromium"}).Run(t.Context(), json.RawMessage(`{"url":"http://localhost:1/';curl x;'"}`))
	if err != nil || res.Denied == nil || !strings.Contains(res.Denied.Rule, `%27;curl%20x;%27'`) {
		t.Errorf("by a rule: %+v %v", res.Denied, err)
	}
}

// What is too large to look at is refused by its header.
func TestPNGSize(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 500))); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	if w, h := pngSize(data); w != 3 || h != 500 {
		t.Errorf("%d × %d", w, h)
	}
	other := bytes.Replace(data, []byte("IHDR"), []byte("IDAT"), 1)
	for _, no := range [][]byte{nil, data[:23], data[1:], other, append([]byte("\xff\xd8\xff\xe0"), data...)} {
		if w, h := pngSize(no); w != 0 || h != 0 {
			t.Errorf("%d × %d of %q", w, h, no)
		}
	}
}

// A picture is the file that the log has the sum of, and no link, pipe or other thing that
// a command of the change put into its place.
func TestPicture(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	var large bytes.Buffer
	if err := png.Encode(&large, image.NewGray(image.Rect(0, 0, shotPixels+1, 1))); err != nil {
		t.Fatal(err)
	}
	sumOf := func(data []byte) string {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:])
	}
	right := sumOf(b.Bytes())
	secret := filepath.Join(t.TempDir(), "secret.png")
	if err := os.WriteFile(secret, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		lay  func(file string) error
		sum  string
		fine bool
	}{
		"a picture":                   {func(f string) error { return os.WriteFile(f, b.Bytes(), 0o600) }, right, true},
		"another picture":             {func(f string) error { return os.WriteFile(f, append(b.Bytes(), 0), 0o600) }, right, false},
		"no sum":                      {func(f string) error { return os.WriteFile(f, b.Bytes(), 0o600) }, "", false},
		"no picture":                  {func(f string) error { return os.WriteFile(f, []byte("text"), 0o600) }, sumOf([]byte("text")), false},
		"a picture that is too large": {func(f string) error { return os.WriteFile(f, large.Bytes(), 0o600) }, sumOf(large.Bytes()), false},
		"a link":                      {func(f string) error { return os.Symlink(secret, f) }, right, false},
		"a pipe":                      {func(f string) error { return syscall.Mkfifo(f, 0o600) }, right, false},
		"nothing":                     {func(string) error { return nil }, right, false},
	} {
		temp := t.TempDir()
		if err := os.Mkdir(filepath.Join(temp, shotFolder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := tt.lay(filepath.Join(temp, shotFolder, "1280.png")); err != nil {
			t.Fatal(err)
		}
		data, err := Screen{Shell: &Shell{Roots: evidence.Roots{Temp: temp}}}.picture(1280, tt.sum)
		if (err == nil) != tt.fine || tt.fine && !bytes.Equal(data, b.Bytes()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	temp := t.TempDir()
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(temp, shotFolder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(secret, filepath.Join(filepath.Dir(secret), "1280.png")); err != nil {
		t.Fatal(err)
	}
	if _, err := (Screen{Shell: &Shell{Roots: evidence.Roots{Temp: temp}}}).picture(1280, right); err == nil {
		t.Error("a folder that is a link is followed")
	}
}

// A page is shown by its title, its text and what its scripts said.
func TestReadPage(t *testing.T) {
	t.Parallel()
	p := readPage("\n" + mark + " 1280 document\n<html><head><title>A &amp; B</title><style>x</style></head><body class=x><p>Hello\n there</p><script>no()</script><b>you</b></body></html>\n\n" +
		mark + " 1280 console\n\"boom\", source: x (1)\n\n" + mark + " 1280 sum\nabc  1280.png\n" + mark + " 390 document\n<p>small</p>\n" + mark + " 390 console\n\n" + mark + " 390 sum\n")
	want := "title: A & B\n--- console ---\n\"boom\", source: x (1)\n[at width 390]\n--- text ---\nHello there\nyou\n"
	if got := p.text(); got != want || !p.rendered() || p.sums[1280] != "abc" {
		t.Errorf("%q, want %q", got, want)
	}
	p.document[1280] = `<body id="t" class="neterror">`
	if p.rendered() {
		t.Error("the browser's own page is none")
	}
}
