package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/html"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A Screen renders pages of the agent's own servers with the machine's Chromium, as
// commands of its shell.
type Screen struct {
	Shell   *Shell
	Browser string // the program; empty: the machine has none
	// Keep stores a picture under a name, beside the outputs of commands.
	Keep func(name string, data []byte) error
}

// Browser finds Chromium in the system directories of this machine, which commands see;
// "" where there is none. look is like os.Stat.
func Browser(look func(string) (os.FileInfo, error)) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
			if info, err := look(path.Join(dir, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path.Join(dir, name)
			}
		}
	}
	return ""
}

// The widths at which a page is rendered: of a desktop and of a telephone.
var screens = []struct{ width, height int }{{1280, 800}, {390, 844}}

// What one picture and one text of a page may have.
const (
	shotTime     = 180 * time.Second
	shotSettle   = 2000 // milliseconds of the page's own clock
	shotLongest  = 20_000
	shotBytes    = 8 << 20
	shotSent     = 1 << 20 // of a picture that a model is given
	shotPixels   = 4000
	shotText     = 8000
	shotConsole  = 4000
	shotDocument = 400_000
)

type shotArgs struct {
	URL    string `json:"url" jsonschema:"A page on the loopback interface, such as http://127.0.0.1:8080/."`
	WaitMS int    `json:"wait_ms,omitempty" jsonschema:"How long the page's scripts have, at most 20000; default 2000."`
}

// Screenshot makes the tool screenshot.
func Screenshot(s Screen) Tool {
	return define("screenshot", Exec, false, s.take)
}

func (s Screen) take(ctx context.Context, in shotArgs) (Result, error) {
	address, err := loopbackURL(in.URL)
	switch {
	case err != nil:
		return Result{}, err
	case in.WaitMS < 0 || in.WaitMS > shotLongest:
		return Result{}, Badf("screenshot: wait_ms: %d is not between 0 and %d", in.WaitMS, shotLongest)
	}
	x := s.Shell.execution(cmp.Or(s.Browser, "chromium") + " --headless --screenshot " + quoteWord(address))
	if s.Shell.Refuse != nil {
		if d := s.Shell.Refuse(x.Command); d != nil {
			return s.Shell.refused(x, "screenshot", *d)
		}
	}
	if s.Browser == "" {
		return Result{}, Badf("screenshot: this machine has no Chromium; read the page with curl in run_bash, and report that it was not looked at")
	}
	x.Script = shotScript(s.Browser, address, cmp.Or(in.WaitMS, shotSettle))
	x.Run.Argv[len(x.Run.Argv)-1], x.Run.Timeout = x.Script, shotTime
	var p shown
	x.Results = func(res sandbox.Result) []byte {
		p = readPage(string(res.Stdout.Bytes))
		return []byte(p.text())
	}
	rec, res, changed, err := s.Shell.record(ctx, "screenshot", x)
	if err != nil {
		return Result{}, err
	}
	if !p.rendered() {
		return Result{Text: bashAnswer(rec, res, changed) + "nothing was rendered at " + inline(address) + "\n", Errored: true, Evidence: []string{rec.ID}}, nil
	}
	return s.answer(rec, res, p)
}

// answer keeps the pictures and shows what they are of.
func (s Screen) answer(rec evidence.Record, res sandbox.Result, p shown) (Result, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] exit=%d duration=%.1fs command=%s\n", rec.ID, res.Exit, res.Duration.Seconds(), inline(rec.Command))
	out := Result{Evidence: []string{rec.ID}}
	for _, size := range screens {
		data, err := s.picture(size.width, p.sums[size.width])
		if err != nil {
			fmt.Fprintf(&b, "picture of width %d: %v\n", size.width, err)
			continue
		}
		name := fmt.Sprintf("spill/%s.%d.png", rec.ID, size.width)
		if err := s.Keep(name, data); err != nil {
			return Result{}, fmt.Errorf("screenshot: %w", err)
		}
		fmt.Fprintf(&b, "picture: %s, %d×%d, %d bytes\n", name, size.width, size.height, len(data))
		if len(data) <= shotSent {
			out.Images = append(out.Images, Image{MIME: "image/png", Data: data})
		}
	}
	b.WriteString(p.text())
	out.Text = b.String()
	return out, nil
}

// picture reads a picture that the browser left in the agent's folder for short-lived
// files: a regular file that is the one whose sum is in the log, and a PNG.
func (s Screen) picture(width int, sum string) ([]byte, error) {
	root, err := os.OpenRoot(s.Shell.Roots.Temp)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.Join(shotFolder, fmt.Sprintf("%d.png", width)), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, Badf("there is none")
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > shotBytes {
		return nil, Badf("it is no file of up to %d bytes", shotBytes)
	}
	data, err := io.ReadAll(io.LimitReader(f, shotBytes+1))
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != sum {
		return nil, Badf("it is not the one that the browser wrote")
	}
	if w, h := pngSize(data); w == 0 || h == 0 || w > shotPixels || h > shotPixels {
		return nil, Badf("it is no PNG of up to %d pixels", shotPixels)
	}
	return data, nil
}

// pngSize is the size of a picture in pixels, 0 where data does not begin as a PNG does:
// with its signature and the header chunk (https://www.w3.org/TR/png-3/#11IHDR).
func pngSize(data []byte) (width, height uint32) {
	const head = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	if len(data) < len(head)+8 || string(data[:len(head)]) != head {
		return 0, 0
	}
	return binary.BigEndian.Uint32(data[len(head):]), binary.BigEndian.Uint32(data[len(head)+4:])
}

// loopbackURL is an address of a page that only the agent's own processes serve.
func loopbackURL(text string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", Badf("screenshot: %s is no address of a page; it looks like http://127.0.0.1:8080/", show(text))
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", Badf("screenshot: %s is not on the loopback interface: start_process a server and look at 127.0.0.1", show(host))
	}
	return u.String(), nil
}

// shotFolder is below TMPDIR.
const shotFolder = "screenshot"

// mark begins a part of the script's output; a document that has it in it spoils its own
// screenshot at most.
const mark = "==ycbot-page=="

// shotScript renders the page at each width. What the browser says is read from standard
// output, so that it is in the log: the document, the console, the sums of the pictures.
func shotScript(browser, address string, wait int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `D="$TMPDIR/%s"; rm -rf "$D" && mkdir -p "$D" && cd "$D" || exit 1`+"\n"+
		`T=$(mktemp -d /tmp/XXXXXX 2>/dev/null) || T=$TMPDIR`+"\nfailed=0\n", shotFolder) // a socket's path has at most 107 bytes
	for _, s := range screens {
		fmt.Fprintf(&b, `TMPDIR=$T timeout -k 5 60 %[1]s --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run --disable-extensions --disable-background-networking --user-data-dir="$D/profile" --enable-logging=stderr --virtual-time-budget=%[2]d --window-size=%[3]d,%[4]d --screenshot="$D/%[3]d.png" --dump-dom %[5]s >%[3]d.html 2>%[3]d.log || { failed=$?; tail -c 2000 %[3]d.log >&2; }
echo '%[6]s %[3]d document'; head -c %[7]d %[3]d.html; echo
echo '%[6]s %[3]d console'; sed -n 's/^\[[^]]*:CONSOLE[^]]*\] //p' %[3]d.log | head -c %[8]d; echo
echo '%[6]s %[3]d sum'; sha256sum %[3]d.png 2>/dev/null
`, browser, wait, s.width, s.height, quoteWord(address), mark, shotDocument, shotConsole)
	}
	b.WriteString(`rm -rf "$D/profile"; [ "$T" = "$TMPDIR" ] || rm -rf "$T"; exit $failed`)
	return b.String()
}

// quoteWord is a word as a shell takes it literally.
func quoteWord(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" }

// A shown is a page as it was rendered.
type shown struct {
	document map[int]string // by width
	console  map[int]string
	sums     map[int]string
}

// readPage takes the output of the script apart.
func readPage(out string) shown {
	p := shown{map[int]string{}, map[int]string{}, map[int]string{}}
	for part := range strings.SplitSeq(out, mark+" ") {
		head, body, _ := strings.Cut(part, "\n")
		var width int
		var kind string
		if _, err := fmt.Sscanf(head, "%d %s", &width, &kind); err != nil {
			continue
		}
		switch body = strings.TrimSpace(body); kind {
		case "document":
			p.document[width] = body
		case "console":
			p.console[width] = body
		case "sum":
			p.sums[width], _, _ = strings.Cut(body, " ")
		}
	}
	return p
}

// neterror is the class of Chromium's own page for an address that does not answer.
var neterror = pattern.New(`class="[^"]*\bneterror\b`)

func (p shown) rendered() bool {
	doc := p.document[screens[0].width]
	return doc != "" && p.sums[screens[0].width] != "" && !neterror.MatchString(doc) && doc != "<html><head></head><body></body></html>"
}

// text is the page for those that do not see.
func (p shown) text() string {
	title, words := readHTML(p.document[screens[0].width])
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\n", inline(title))
	console := p.console[screens[0].width]
	if other := p.console[screens[1].width]; other != console {
		console = fmt.Sprintf("%s\n[at width %d]\n%s", console, screens[1].width, other)
	}
	section(&b, "console", evidence.Visible(strings.TrimSpace(console)))
	section(&b, "text", cutMiddle(evidence.Visible(words), shotText))
	return b.String()
}

// readHTML returns the title of a document and the text that it shows.
func readHTML(document string) (title, words string) {
	z := html.NewTokenizer(strings.NewReader(document))
	var b strings.Builder
	inside := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(title), strings.TrimSpace(b.String())
		case html.StartTagToken:
			if name, _ := z.TagName(); strings.Contains(" script style title noscript template ", " "+string(name)+" ") {
				inside = string(name)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == inside {
				inside = ""
			}
		case html.TextToken:
			text := strings.Join(strings.Fields(string(z.Text())), " ")
			switch {
			case inside == "title":
				title += text
			case inside == "" && text != "":
				b.WriteString(text + "\n")
			}
		}
	}
}
