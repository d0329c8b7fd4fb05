package redact

import (
	"bytes"
	"regexp"

	"github.com/ycbot/ycbot/internal/pattern"
)

var mark = []byte("[redacted:token]")

// A shape is a kind of token that is known by its look. The literal is searched
// for first, which is much faster than the expression; the expression matches
// from there. If it has a group, only that is replaced.
type shape struct {
	literal []byte
	anchor  bool // the literal begins a word
	expr    *pattern.Pattern
	accept  func(token []byte) bool // nil: whatever matches
}

func word(literal, rest string) shape {
	return shape{[]byte(literal), true, pattern.New(`^` + regexp.QuoteMeta(literal) + rest), nil}
}

// shapes is in the order of application: a block before what it may contain.
var shapes = []shape{
	{
		[]byte("-----BEGIN "), false,
		// Without its end (a log that was cut) up to what no key contains.
		pattern.New(`^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s:,]|\\+[nrt]|-[A-Za-z0-9])*` +
			`(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?`), nil,
	},
	authorization("uthorization"),
	authorization("UTHORIZATION"),
	word("eyJ", `[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
	word("ghp_", `[A-Za-z0-9]{30,}`),
	word("gho_", `[A-Za-z0-9]{30,}`),
	word("ghu_", `[A-Za-z0-9]{30,}`),
	word("ghs_", `[A-Za-z0-9]{30,}`),
	word("ghr_", `[A-Za-z0-9]{30,}`),
	word("github_pat_", `[A-Za-z0-9_]{22,}`),
	// GitLab's tokens: personal, deploy, runner, CI job, trigger, feed, agent, OAuth.
	word("glpat-", `[A-Za-z0-9_.-]{20,}`),
	word("gldt-", `[A-Za-z0-9_-]{20,}`),
	word("glrt-", `[A-Za-z0-9_.-]{20,}`),
	word("glcbt-", `[A-Za-z0-9_-]{20,}`),
	word("glptt-", `[A-Za-z0-9_-]{20,}`),
	word("glft-", `[A-Za-z0-9_-]{20,}`),
	word("glagent-", `[A-Za-z0-9_-]{20,}`),
	word("gloas-", `[A-Za-z0-9_-]{20,}`),
	word("GR1348941", `[A-Za-z0-9_-]{20,}`),
	word("AKIA", `[0-9A-Z]{16}\b`),
	word("ASIA", `[0-9A-Z]{16}\b`),
	word("ABIA", `[0-9A-Z]{16}\b`),
	word("ACCA", `[0-9A-Z]{16}\b`),
	word("xox", `[a-z]-[A-Za-z0-9-]{10,}`),
	word("xoxe.", `xox[a-z]-[A-Za-z0-9-]{10,}`),
	word("xapp-", `[0-9]-[A-Za-z0-9-]{10,}`),
	{[]byte("hooks.slack.com/services/"), false, pattern.New(`^hooks\.slack\.com/services/(T[A-Za-z0-9_]+/B[A-Za-z0-9_]+/[A-Za-z0-9]{16,})`), nil},
	{[]byte("sk-"), true, pattern.New(`^sk-[A-Za-z0-9_-]{20,}`), looksRandom},
	// Package registries.
	word("npm_", `[A-Za-z0-9]{36}\b`),
	word("pypi-", `[A-Za-z0-9_-]{50,}`),
	word("rubygems_", `[a-f0-9]{48}\b`),
	word("cio", `[A-Za-z0-9]{32}\b`),
	word("oy2", `[a-z0-9]{43}\b`), // NuGet
	word("dckr_pat_", `[A-Za-z0-9_-]{20,}`),
	word("dckr_oat_", `[A-Za-z0-9_-]{20,}`),
	word("hf_", `[A-Za-z0-9]{30,}`),
	word("api_org_", `[A-Za-z0-9]{30,}`),
	// Clouds and services.
	word("sk_live_", `[A-Za-z0-9]{16,}`),
	word("rk_live_", `[A-Za-z0-9]{16,}`),
	word("sk_test_", `[A-Za-z0-9]{16,}`),
	word("rk_test_", `[A-Za-z0-9]{16,}`),
	word("whsec_", `[A-Za-z0-9+/=]{24,}`),
	word("AIza", `[A-Za-z0-9_-]{35}`),
	word("GOCSPX-", `[A-Za-z0-9_-]{24,}`),
	word("ya29.", `[A-Za-z0-9_.-]{30,}`),
	{[]byte("1//0"), true, pattern.New(`^1//0[A-Za-z0-9_-]{40,}`), looksRandom},
	word("dop_v1_", `[a-f0-9]{64}\b`),
	word("doo_v1_", `[a-f0-9]{64}\b`),
	word("dor_v1_", `[a-f0-9]{64}\b`),
	word("shp", `(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b`),
	word("SG.", `[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,}`),
	word("ATATT3", `[A-Za-z0-9_=-]{60,}`),
	word("ATCTT3", `[A-Za-z0-9_=-]{60,}`),
	word("ATBB", `[A-Za-z0-9]{32}\b`),
	word("dapi", `[a-f0-9]{32}(?:-[0-9])?\b`),
	{[]byte("hv"), true, pattern.New(`^hv[sbr]\.[A-Za-z0-9_-]{24,}`), nil}, // Vault
	word("pul-", `[a-f0-9]{40}\b`),
	word("FlyV1 ", `fm[12][a-z]?_[A-Za-z0-9+/=,_-]{30,}`),
	word("fo1_", `[A-Za-z0-9_-]{40,}`),
	word("lin_api_", `[A-Za-z0-9]{30,}`),
	word("PMAK-", `[a-f0-9]{24}-[a-f0-9]{34}`),
	word("NRAK-", `[A-Z0-9]{27}\b`),
	word("glsa_", `[A-Za-z0-9]{32}_[a-f0-9]{8}\b`),
	word("glc_", `[A-Za-z0-9+/=]{40,}`),
	word("sntry", `[su]_[A-Za-z0-9+/=_-]{40,}`),
	word("secret_", `[A-Za-z0-9]{43}\b`), // Notion
	word("ntn_", `[A-Za-z0-9]{40,}`),
	word("figd_", `[A-Za-z0-9_-]{38,}`),
	word("gsk_", `[A-Za-z0-9]{40,}`),
	word("xai-", `[A-Za-z0-9]{60,}`),
	word("pplx-", `[A-Za-z0-9]{40,}`),
	word("r8_", `[A-Za-z0-9]{37}\b`),
	word("nvapi-", `[A-Za-z0-9_-]{60,}`),
	word("tskey-", `[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}`),
	word("AGE-SECRET-KEY-1", `[0-9A-Z]{58}`),
	word("sbp_", `[a-f0-9]{40}\b`),
	word("dp.", `(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}`),
	word("CFPAT-", `[A-Za-z0-9_-]{40,}`),
	word("sq0", `[a-z]{3}-[A-Za-z0-9_-]{22,}`),
	// Azure: what a connection string and a signed address hold, and keys with its mark.
	{[]byte("ccountKey="), false, pattern.New(`^ccountKey=([A-Za-z0-9+/]{40,}={0,2})`), nil},
	{[]byte("haredAccessKey="), false, pattern.New(`^haredAccessKey=([A-Za-z0-9+/]{40,}={0,2})`), nil},
	{[]byte("sig="), true, pattern.New(`^sig=([A-Za-z0-9%+/_-]{40,}(?:%3[dD]|=)?)`), looksRandom},
	{[]byte("8Q~"), false, pattern.New(`^8Q~([A-Za-z0-9_.~-]{31,34})`), nil},
	// A bot of Telegram: its number and its key.
	{[]byte(":AA"), false, pattern.New(`^:(AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)`), nil},
	// A user and a password in an address.
	{[]byte("://"), false, pattern.New(`^://[^\s/@:'"<>\[\]{}$]{0,128}:([^\s/@'"<>\[\]{}$]{8,})@[A-Za-z0-9]`), nil},
}

// authorization is the header with its value, in HTTP, JSON and Go's %v.
func authorization(literal string) shape {
	return shape{
		[]byte(literal), false,
		pattern.New(`^(?i:uthorization)["']?\s{0,4}[:=]\s{0,4}[\["']{0,2}(?i:bearer|basic|token)\s{1,4}([A-Za-z0-9._~+/=-]{8,})`), nil,
	}
}

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
	for _, s := range shapes {
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
		if s.anchor && i > 0 && isWord(b[i-1]) && !escaped(b[:i]) {
			continue
		}
		m := s.expr.FindSubmatchIndex(b[i:])
		if m == nil || s.accept != nil && !s.accept(b[i:i+m[1]]) {
			continue
		}
		from, to := i+m[0], i+m[1]
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

// escaped says whether text ends in an escape such as JSON's \n, whose letter is
// no part of the word that follows.
func escaped(text []byte) bool {
	n := len(text)
	return n > 1 && text[n-2] == '\\' && bytes.IndexByte([]byte("nrtbf"), text[n-1]) >= 0
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
