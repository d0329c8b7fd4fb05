package cmdline

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A Request is an HTTP request to a server on the same machine that stands in a text.
type Request struct {
	At     int // its line, from 1
	Method string
	Target string   // path and query, as RFC 9112, section 3.2.1 has it
	Port   int      // 0: none is named
	Header []string // lines, as "Accept: text/plain"
	Body   string
}

// Same says whether two requests ask for the same.
func (r Request) Same(o Request) bool {
	return r.Method == o.Method && r.Target == o.Target && r.Body == o.Body && slices.Equal(r.Header, o.Header)
}

// Message is what is sent to a host, as of HTTP/1.0 (RFC 1945), so that an answer is not sent in
// chunks and ends with the connection.
func (r Request) Message(host string) string {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.Target + " HTTP/1.0\r\n")
	if !r.has("Host") {
		b.WriteString("Host: " + host + "\r\n")
	}
	for _, h := range r.Header {
		b.WriteString(h + "\r\n")
	}
	if r.Body != "" || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		b.WriteString("Content-Length: " + strconv.Itoa(len(r.Body)) + "\r\n")
	}
	b.WriteString("Connection: close\r\n\r\n" + r.Body)
	return b.String()
}

// Curl is the request as it is typed into a shell.
func (r Request) Curl(port int) string {
	words := []string{"curl", "-si"}
	if r.Method == "HEAD" {
		words = append(words, "--head")
	} else if r.Method != "GET" || r.Body != "" {
		words = append(words, "-X", r.Method)
	}
	for _, h := range r.Header {
		words = append(words, "-H", h)
	}
	if r.Body != "" {
		words = append(words, "--data-raw", r.Body)
	}
	words = append(words, "http://localhost:"+strconv.Itoa(port)+r.Target)
	for i, w := range words {
		if q, err := syntax.Quote(w, syntax.LangBash); err == nil {
			words[i] = q
		}
	}
	return strings.Join(words, " ")
}

func (r Request) has(header string) bool {
	return slices.ContainsFunc(r.Header, func(h string) bool {
		name, _, _ := strings.Cut(h, ":")
		return strings.EqualFold(name, header)
	})
}

// asked are calls of tests that ask with what has no body. What they name begins with a slash,
// behind the address of the server, if there is one.
var asked = []*pattern.Pattern{
	// A method and a path, as net/http and net/http/httptest of Go have them, tables of tests,
	// and helpers such as request(t, "GET", url("/a"), nil).
	pattern.New(`(?:\bhttp\.Method(Get|Head|Delete)|"(GET|HEAD|DELETE)")\s*,\s*(?:[\w.]+\()?(?:[\w.]+(?:\(\))?\s*\+\s*)?"(/[^"\s\\:{]*)"`),
	// net/http of Go
	pattern.New(`\bhttp\.(Get|Head)()\(\s*[\w.]+(?:\(\))?\s*\+\s*"(/[^"\s\\]*)"\)`),
	// supertest and axios, and clients of tests in Python
	pattern.New(`\.(get|head|delete)()\(\s*(?:[\w.]+\s*\+\s*)?["'](/[^"'\s\\{]*)["']\s*\)`),
	pattern.New("\\.(get|head|delete)()\\(\\s*(?:f[\"']\\{[^}]*\\}|`\\$\\{[^}]*\\})(/[^\"'`\\s\\\\{$]*)[\"'`]\\s*\\)"),
	// fetch
	pattern.New("\\bfetch(()?)\\(\\s*(?:[\\w.]+\\s*\\+\\s*[\"']|`\\$\\{[^}]*\\})(/[^\"'`\\s\\\\{$]*)[\"'`]\\s*\\)"),
}

// Requests are those of a file: what curl asks for where command lines stand, and, in
// tests, what clients ask for.
func Requests(name string, src []byte, test bool) []Request {
	var out []Request
	add := func(r Request) {
		if !slices.ContainsFunc(out, r.Same) {
			out = append(out, r)
		}
	}
	for _, l := range Lines(name, src) {
		if l.First[0] == "curl" && l.Text != "" {
			if r, ok := fromCurl(l.At, l.Text); ok {
				add(r)
			}
		}
	}
	if !test {
		return out
	}
	n := 0
	for text := range strings.Lines(string(src)) {
		n++
		for _, call := range asked {
			for _, m := range call.FindAllStringSubmatch(text, -1) {
				method := strings.ToUpper(m[1] + m[2])
				if method == "" {
					method = "GET"
				}
				if at, _, ok := target("http://localhost" + m[3]); ok {
					add(Request{At: n, Method: method, Target: at})
				}
			}
		}
	}
	return out
}

// valued are flags of curl that change nothing in what is asked for, and have a value.
var valued = []string{"-o", "--output", "-m", "--max-time", "-w", "--write-out", "--connect-timeout", "--retry", "--retry-delay"}

// bare are those without one.
var bare = pattern.New(`^(-[sSivfLkgN]+|--silent|--show-error|--include|--verbose|--fail|--fail-with-body|--location|--no-buffer|--compressed|--globoff|--retry-connrefused)$`)

// fromCurl is what a call of curl asks for, https://curl.se/docs/manpage.html; false where
// a flag is not known, or the server is not on the same machine.
func fromCurl(at int, text string) (Request, bool) {
	words := curlWords(text)
	r := Request{At: at}
	data, found := []string{}, false
	for i := 1; i < len(words); i++ {
		flag, value, joined := words[i], "", false
		if strings.HasPrefix(flag, "--") {
			flag, value, joined = strings.Cut(flag, "=")
		} else if len(flag) > 2 && flag[0] == '-' && strings.ContainsRune("XHd", rune(flag[1])) {
			flag, value, joined = flag[:2], flag[2:], true
		}
		switch {
		case bare.MatchString(flag):
			continue
		case flag == "-I" || flag == "--head":
			r.Method = "HEAD"
			continue
		case !strings.HasPrefix(flag, "-"):
			var ok bool
			if r.Target, r.Port, ok = target(words[i]); !ok || found {
				return r, false
			}
			found = true
			continue
		}
		if !joined {
			if i++; i == len(words) {
				return r, false
			}
			value = words[i]
		}
		switch flag {
		case "-X", "--request":
			r.Method = value
		case "-H", "--header":
			if strings.HasPrefix(value, "@") || strings.ContainsAny(value, "\r\n") {
				return r, false
			}
			r.Header = append(r.Header, value)
		case "-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json":
			if strings.HasPrefix(value, "@") {
				return r, false
			}
			if flag == "--json" {
				r.Header = append(r.Header, "Content-Type: application/json", "Accept: application/json")
			}
			data = append(data, value)
		default:
			if !slices.Contains(valued, flag) {
				return r, false
			}
		}
	}
	r.Body = strings.Join(data, "&")
	if len(data) > 0 && !r.has("Content-Type") {
		r.Header = append(r.Header, "Content-Type: application/x-www-form-urlencoded")
	}
	if r.Method == "" {
		r.Method = "GET"
		if len(data) > 0 {
			r.Method = "POST"
		}
	}
	return r, found && methodName.MatchString(r.Method)
}

var methodName = pattern.New(`^[A-Z]{3,10}$`)

// curlWords are the words of a call of curl up to a pipe; nil where one is more than a
// word. curl takes no file names here, so that words may have what a shell would look for
// files with.
func curlWords(text string) []string {
	s := statement(text)
	if s == nil {
		return nil
	}
	cmd := s.Cmd
	for {
		pipe, ok := cmd.(*syntax.BinaryCmd)
		if !ok || pipe.Op != syntax.Pipe {
			return callWords(cmd, "~\\…")
		}
		cmd = pipe.X.Cmd
	}
}

// target is what a URL asks a server on the same machine for, and its port.
func target(text string) (string, int, bool) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil || !slices.Contains([]string{"localhost", "127.0.0.1", "0.0.0.0", "::1"}, u.Hostname()) {
		return "", 0, false
	}
	port := 80
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil || port < 1 || port > 65535 {
			return "", 0, false
		}
	}
	at := u.RequestURI()
	return at, port, !strings.ContainsAny(at, " \r\n")
}
