package redact

import (
	"bytes"
	"regexp"
	"sync"

	"github.com/ycbot/ycbot/internal/pattern"
)

var mark = []byte("[redacted:token]")

// A look is a kind of token that is known by how it looks. The literal is searched for
// first, which is much faster than an expression. If the expression has a group, only
// that is replaced.
type look struct {
	literal string
	where   where
	rest    string // of the expression, after the literal
}

// where says which of the places with the literal count.
type where int

const (
	inside where = iota // all
	word                // where it begins a word
	random              // where it begins a word, and what matches looks random
	behind              // where a word of 32 hexadecimal digits is before it, which goes with it
)

// A shape is a look, ready for searching.
type shape struct {
	literal []byte
	where   where
	expr    *pattern.Pattern
}

// looks are what the shapes are made of, in the order of application: a block before
// what it may contain.
var looks = [...]look{
	// Without its end (a log that was cut) up to what no key contains.
	{`-----BEGIN `, inside, `[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,]|\\+[nrt]|-[A-Za-z0-9])*` +
		`(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`},
	{`uthorization`, inside, header},
	{`UTHORIZATION`, inside, header},
	{`eyJ`, word, `[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`},
	{`ghp_`, word, `[A-Za-z0-9]{30,}`},
	{`gho_`, word, `[A-Za-z0-9]{30,}`},
	{`ghu_`, word, webToken},
	{`ghs_`, word, webToken},
	{`ghr_`, word, `[A-Za-z0-9]{30,}`},
	{`github_pat_`, word, `[A-Za-z0-9_]{22,}`},
	// GitLab's tokens: personal, deploy, runner, CI job, trigger, feed, agent, OAuth.
	{`glpat-`, word, `[A-Za-z0-9_.-]{20,}`},
	{`gldt-`, word, `[A-Za-z0-9_-]{20,}`},
	{`glrt-`, word, `[A-Za-z0-9_.-]{20,}`},
	{`glcbt-`, word, `[A-Za-z0-9_-]{20,}`},
	{`glptt-`, word, `[A-Za-z0-9_-]{20,}`},
	{`glft-`, word, `[A-Za-z0-9_-]{20,}`},
	{`glagent-`, word, `[A-Za-z0-9_-]{20,}`},
	{`gloas-`, word, `[A-Za-z0-9_-]{20,}`},
	{`GR1348941`, word, `[A-Za-z0-9_-]{20,}`},
	{`AKIA`, word, `[0-9A-Z]{16}\b`},
	{`ASIA`, word, `[0-9A-Z]{16}\b`},
	{`ABIA`, word, `[0-9A-Z]{16}\b`},
	{`ACCA`, word, `[0-9A-Z]{16}\b`},
	{`xox`, word, `[a-z]-[A-Za-z0-9-]{10,}`},
	{`xoxe.`, word, `xox[a-z]-[A-Za-z0-9-]{10,}`},
	{`xapp-`, word, `[0-9]-[A-Za-z0-9-]{10,}`},
	{`hooks.slack.com/services/`, inside, `(T[A-Za-z0-9_]+/B[A-Za-z0-9_]+/[A-Za-z0-9]{16,})`},
	{`sk-`, random, `[A-Za-z0-9_-]{20,}`},
	// Package registries.
	{`npm_`, word, `[A-Za-z0-9]{36}\b`},
	{`:_authToken`, inside, registry},
	{`:_password`, inside, registry},
	{`:_auth`, inside, registry},
	{`_authToken=`, random, `["']?([A-Za-z0-9+/=_.-]{16,})`},
	{`_password=`, random, `["']?([A-Za-z0-9+/]{16,}={0,2})`},
	{`pypi-`, word, `[A-Za-z0-9_-]{50,}`},
	{`rubygems_`, word, `[a-f0-9]{48}\b`},
	{`cio`, word, `[A-Za-z0-9]{32}\b`},
	{`oy2`, word, `[a-z0-9]{43}\b`}, // NuGet
	{`dckr_pat_`, word, `[A-Za-z0-9_-]{20,}`},
	{`dckr_oat_`, word, `[A-Za-z0-9_-]{20,}`},
	{`hf_`, word, `[A-Za-z0-9]{30,}`},
	{`api_org_`, word, `[A-Za-z0-9]{30,}`},
	// Clouds and services.
	{`sk_live_`, word, `[A-Za-z0-9]{16,}`},
	{`rk_live_`, word, `[A-Za-z0-9]{16,}`},
	{`sk_test_`, word, `[A-Za-z0-9]{16,}`},
	{`rk_test_`, word, `[A-Za-z0-9]{16,}`},
	{`whsec_`, word, `[A-Za-z0-9+/=]{24,}`},
	{`AIza`, word, `[A-Za-z0-9_-]{35}`},
	{`GOCSPX-`, word, `[A-Za-z0-9_-]{24,}`},
	{`ya29.`, word, `[A-Za-z0-9_.-]{30,}`},
	{`1//0`, random, `[A-Za-z0-9_-]{40,}`},
	{`dop_v1_`, word, `[a-f0-9]{64}\b`},
	{`doo_v1_`, word, `[a-f0-9]{64}\b`},
	{`dor_v1_`, word, `[a-f0-9]{64}\b`},
	{`shp`, word, `(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`},
	{`SG.`, word, `[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,}`},
	{`ATATT3`, word, `[A-Za-z0-9_=-]{60,}`},
	{`ATCTT3`, word, `[A-Za-z0-9_=-]{60,}`},
	{`ATBB`, word, `[A-Za-z0-9]{32}\b`},
	{`dapi`, word, `[a-f0-9]{32}(?:-[0-9])?\b`},
	{`hv`, word, `[sbr]\.[A-Za-z0-9_-]{24,}`}, // Vault
	{`pul-`, word, `[a-f0-9]{40}\b`},
	{`FlyV1 `, word, `fm[12][a-z]?_[A-Za-z0-9+/=,_-]{30,}`},
	{`fo1_`, word, `[A-Za-z0-9_-]{40,}`},
	{`lin_api_`, word, `[A-Za-z0-9]{30,}`},
	{`PMAK-`, word, `[a-f0-9]{24}-[a-f0-9]{34}`},
	{`NRAK-`, word, `[A-Z0-9]{27}\b`},
	{`glsa_`, word, `[A-Za-z0-9]{32}_[a-f0-9]{8}\b`},
	{`glc_`, word, `[A-Za-z0-9+/=]{40,}`},
	{`sntry`, word, `[su]_[A-Za-z0-9+/=_-]{40,}`},
	{`secret_`, word, `[A-Za-z0-9]{43}\b`}, // Notion
	{`ntn_`, word, `[A-Za-z0-9]{40,}`},
	{`figd_`, word, `[A-Za-z0-9_-]{38,}`},
	{`gsk_`, word, `[A-Za-z0-9]{40,}`},
	{`xai-`, word, `[A-Za-z0-9]{60,}`},
	{`pplx-`, word, `[A-Za-z0-9]{40,}`},
	{`r8_`, word, `[A-Za-z0-9]{37}\b`},
	{`nvapi-`, word, `[A-Za-z0-9_-]{60,}`},
	{`tskey-`, word, `[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}`},
	{`AGE-SECRET-KEY-1`, word, `[0-9A-Z]{50,}`},
	{`nfp_`, word, `[A-Za-z0-9]{36,}`},                              // Netlify
	{`key-`, word, `[a-f0-9]{32}\b`},                                // Mailgun
	{`-us`, behind, `[0-9]{1,2}\b`},                                 // Mailchimp
	{`/api/webhooks/`, inside, `[0-9]{16,20}/([A-Za-z0-9_-]{60,})`}, // Discord
	{`sbp_`, word, `[a-f0-9]{40}\b`},
	{`dp.`, word, `(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}`},
	{`CFPAT-`, word, `[A-Za-z0-9_-]{40,}`},
	{`sq0`, word, `[a-z]{3}-[A-Za-z0-9_-]{22,}`},
	// Azure: what a connection string and a signed address hold, and keys with its mark.
	{`ccountKey=`, inside, `([A-Za-z0-9+/]{40,}={0,2})`},
	{`haredAccessKey=`, inside, `([A-Za-z0-9+/]{40,}={0,2})`},
	{`sig=`, random, `([A-Za-z0-9%+/_-]{40,}(?:%3[dD]|=)?)`},
	{`8Q~`, inside, `([A-Za-z0-9_.~-]{31,34})`},
	// A bot of Telegram: its number and its key.
	{`:AA`, inside, `([A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)`},
	// A line of .netrc, or several.
	{`machine `, word, `\S{1,256}\s{1,32}login\s{1,32}\S{1,256}\s{1,32}password\s{1,32}(\S{4,})`},
	// A user and a password in an address.
	{`://`, inside, `[^\s/@:'"<>\[\]{}$]{0,128}:([^\s/@'"<>\[\]{}$]{8,})@[A-Za-z0-9]`},
}

// webToken is what follows the kind of a token that may have a number and a JSON web token in it: GitHub makes those
// of installations so, and says that it will those of people.
const webToken = `[A-Za-z0-9._-]{29,}[A-Za-z0-9_-]`

// header is what follows the name Authorization where a header stands with its value, in HTTP, JSON and Go's %v.
const header = `["']?\s{0,4}[:=]\s{0,4}[\["']{0,2}(?i:bearer|basic|token)\s{1,4}([A-Za-z0-9._~+/=-]{8,})`

// registry is what follows a setting of .npmrc, of which variables stay.
const registry = `\s{0,4}=\s{0,4}["']?([A-Za-z0-9+/=_.-]{8,})`

// shapes makes them once, for the first text; an expression is compiled for the first
// text that has its literal.
var shapes = sync.OnceValue(func() []shape {
	out := make([]shape, len(looks))
	for i, l := range looks {
		out[i] = shape{[]byte(l.literal), l.where, pattern.New("^" + regexp.QuoteMeta(l.literal) + l.rest)}
	}
	return out
})

// looksRandom distinguishes a key from words with hyphens between them: it has a long
// run of letters and digits with a digit in it.
func looksRandom(token []byte) bool {
	run, digit := 0, false
	for _, c := range token {
		switch {
		case c == '-' || c == '_':
			run, digit = 0, false
			continue
		case c >= '0' && c <= '9':
			digit = true
		}
		if run++; run >= 16 && digit {
			return true
		}
	}
	return false
}

// tokens replaces everything that has the shape of a token.
func tokens(b []byte) []byte {
	for _, s := range shapes() {
		b = s.replace(b)
	}
	return b
}

func (s shape) replace(b []byte) []byte {
	var out []byte
	done := 0 // b[:done] is in out
	for at := 0; ; {
		i := bytes.Index(b[at:], s.literal)
		if i < 0 {
			break
		}
		i += at
		at = i + len(s.literal)
		before := 0 // of what is replaced, what is before the literal
		if s.where == behind {
			if i < hexKey || i-hexKey < done || bytes.ContainsFunc(b[i-hexKey:i], notHex) {
				continue
			}
			before = hexKey
		}
		if w := i - before; s.where != inside && w > 0 && isWord(b[w-1]) && !escaped(b[:w]) {
			continue
		}
		m := s.expr.FindSubmatchIndex(b[i:])
		if m == nil || s.where == random && !looksRandom(b[i:i+m[1]]) {
			continue
		}
		from, to := i+m[0]-before, i+m[1]
		if len(m) > 2 {
			from, to = i+m[2], i+m[3]
		}
		out = append(append(out, b[done:from]...), mark...)
		done, at = to, to
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

// hexKey is how many hexadecimal digits a key has.
const hexKey = 32

func notHex(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }

// escaped says whether text ends in an escape such as JSON's \n, whose letter is
// no part of the word that follows.
func escaped(text []byte) bool {
	n := len(text)
	return n > 1 && text[n-2] == '\\' && bytes.IndexByte([]byte("nrtbf"), text[n-1]) >= 0
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
