package policy

import (
	"net/netip"
	"net/url"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Address makes the target of an address that is fetched. One address has many spellings, so
// that rules are applied to two forms of it which do not depend on the spelling: as it is sent,
// and what a server may make of that.
func Address(address string) Target {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return Target{Name: "Fetch", Text: address}
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	dotless := strings.TrimSuffix(host, ".") // it means the same host
	if port := u.Port(); port != "" {
		host, dotless = host+":"+port, dotless+":"+port
	}
	file, query := u.EscapedPath(), ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	return Target{
		Name: "Fetch", Text: siteForm(u.Scheme, host) + sentForm("/"+strings.TrimPrefix(file, "/")+query),
		plain: siteForm(u.Scheme, dotless) + singleSlashes(cleanPath(decodedForm(file))+decodedForm(query)),
	}
}

// An addressPattern is a pattern for the two forms of an [Address].
type addressPattern struct{ sent, plain string }

// addressPatterns are what a rule's pattern for addresses stands for.
func addressPatterns(p string) []addressPattern {
	scheme, rest, ok := strings.Cut(p, "://")
	if !ok { // where the host ends is not known
		out := []addressPattern{{sentForm(p), singleSlashes(decodedForm(p))}}
		if host, file, more := strings.Cut(p, "/"); more && host != strings.ToLower(host) {
			out = append(out, addressPatterns(strings.ToLower(host)+"/"+file)...)
		} else if !more && p != strings.ToLower(p) {
			out = append(out, addressPatterns(strings.ToLower(p))...)
		}
		return out
	}
	host, file := rest, "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, file = rest[:i], rest[i:]
	} else if strings.ContainsAny(rest, "*?") { // it says how addresses begin
		file = ""
	}
	dotless := siteForm(scheme, strings.TrimSuffix(host, "."))
	return []addressPattern{{siteForm(scheme, host) + sentForm(file), dotless + singleSlashes(decodedForm(file))}}
}

// matchesAddress reports whether the rule is about an address. An Allow has to fit both of
// its forms, since it is not known which of them the server understands.
func (r Rule) matchesAddress(p string, t Target) bool {
	for _, a := range addressPatterns(p) {
		sent, plain := pattern.Glob(a.sent, t.Text), t.plain != "" && pattern.Glob(a.plain, t.plain)
		if r.Action != Allow && (sent || plain) || sent && (plain || t.plain == "") {
			return true
		}
	}
	return false
}

// siteForm is what comes before the path: in small letters, without the port that is meant
// anyway.
func siteForm(scheme, host string) string {
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	if port, ok := map[string]string{"https": ":443", "http": ":80"}[scheme]; ok {
		host = strings.TrimSuffix(host, port)
	}
	return scheme + "://" + host
}

// singleSlashes is s with one slash where there are several.
func singleSlashes(s string) string {
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	return s
}

// sentForm has one spelling of each byte: itself where it may stand in an address, else %XX.
func sentForm(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c, coded := s[i], false
		if c == '%' {
			if d, ok := hexByte(s[i+1:]); ok {
				c, coded = d, true
				i += 2
			}
		}
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
		if coded && !letter || c <= ' ' || c >= 0x7f {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// decodedForm has no %XX that stands for a byte.
func decodedForm(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if d, ok := hexByte(strings.TrimPrefix(s[i:], "%")); ok && s[i] == '%' {
			b.WriteByte(d)
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hexByte is the byte that two hexadecimal digits at the beginning of s stand for.
func hexByte(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	d, err := url.PathUnescape("%" + s[:2])
	if err != nil {
		return 0, false
	}
	return d[0], true
}

// cleanPath is a path without detours; a slash at its end stays.
func cleanPath(p string) string {
	clean := path.Clean("/" + p)
	if last := p[strings.LastIndexByte(p, '/')+1:]; clean != "/" && (last == "" || last == "." || last == "..") {
		clean += "/"
	}
	return clean
}
