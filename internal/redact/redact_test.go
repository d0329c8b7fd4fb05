package redact_test

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/testing/spent"
)

const secret = `s3cr3t/"Värdé"+<&>x`

// A known value is found in every form that programs print it in.
func TestKnownValues(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"API_KEY": secret, "SHORT": "hunter2", "LINES": "first line of the key\nsecond line of the key\n"})
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, in := range map[string]string{
		"plain":               secret,
		"hex":                 hex.EncodeToString([]byte(secret)),
		"HEX":                 fmt.Sprintf("%X", secret),
		"query":               url.QueryEscape(secret),
		"path":                url.PathEscape(secret),
		"lower percent":       strings.ToLower(url.QueryEscape("")) + "s3cr3t%2f%22V%c3%a4rd%c3%a9%22%2b%3c%26%3ex",
		"json":                `s3cr3t/\"Värdé\"+<&>x`,
		"json for html":       `s3cr3t/\"Värdé\"+\u003c\u0026\u003ex`,
		"base64":              b64(secret),
		"base64 url":          base64.URLEncoding.EncodeToString([]byte(secret)),
		"base64 raw":          base64.RawStdEncoding.EncodeToString([]byte(secret)),
		"reversed":            "x>&<+\"édräV\"/t3rc3s",
		"reversed base64":     backwards(b64(secret)),
		"reversed hex":        backwards(hex.EncodeToString([]byte(secret))),
		"json with slashes":   `s3cr3t\/\"Värdé\"+<&>x`,
		"hex with colons":     strings.ReplaceAll(fmt.Sprintf("% x", secret), " ", ":"),
		"HEX with colons":     strings.ReplaceAll(fmt.Sprintf("% X", secret), " ", ":"),
		"hex with blanks":     fmt.Sprintf("% x", secret),
		"every byte":          "%" + strings.ReplaceAll(fmt.Sprintf("% X", secret), " ", "%"),
		"every byte, lower":   "%" + strings.ReplaceAll(fmt.Sprintf("% x", secret), " ", "%"),
		"base32":              base32.StdEncoding.EncodeToString([]byte(secret)),
		"base64 at 1":         b64("x" + secret + "tail"),
		"base64 at 2":         b64("xy" + secret + "ta"),
		"base64 at 3":         b64("xyz" + secret + "t"),
		"base64 url at 1":     base64.URLEncoding.EncodeToString([]byte("x" + secret + "tail")),
		"first of two lines":  "first line of the key",
		"second of two lines": "  > second line of the key",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.String("before " + in + " after")
			if !strings.Contains(got, "[redacted:API_KEY]") && !strings.Contains(got, "[redacted:LINES]") {
				t.Fatalf("%q became %q", in, got)
			}
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("neighbours were changed: %q", got)
			}
			if b := r.Bytes([]byte("before " + in + " after")); string(b) != got {
				t.Errorf("Bytes gives %q, String %q", b, got)
			}
			// At most the characters that a neighbour shares stay of base64.
			if rest := strings.TrimSuffix(strings.TrimPrefix(got, "before "), " after"); len(rest) > len("[redacted:API_KEY]")+12 {
				t.Errorf("too much is left: %q", rest)
			}
		})
	}
	if got := r.String("hunter2"); got != "hunter2" {
		t.Errorf("a value of seven bytes was replaced: %q", got)
	}
}

// A value is found in base64 whose lines were broken, wherever the break is, and other lines
// stay as they are.
func TestWrapped(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"API_KEY": secret, "LONG": strings.Repeat("0123456789 abcdefghij", 12)})
	broken := func(text string, columns int, end string) string {
		var lines []string
		for ; len(text) > columns; text = text[columns:] {
			lines = append(lines, text[:columns])
		}
		return strings.Join(append(lines, text), end)
	}
	for front := range 90 {
		for _, columns := range []int{60, 64, 76} {
			for _, end := range []string{"\n", "\r\n", "\n  "} {
				text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", front) + secret + strings.Repeat("tail", 30)))
				got := r.String("one\ntwo " + broken(text, columns, end) + "\n$ three\n")
				if !strings.Contains(got, "[redacted:API_KEY]") || !strings.HasPrefix(got, "one\ntwo ") || !strings.HasSuffix(got, "\n$ three\n") {
					t.Fatalf("at %d of %d, %q: %q", front, columns, end, got)
				}
			}
		}
	}
	long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("0123456789 abcdefghij", 12)))
	if got := r.String(broken(long, 76, "\n") + "\n"); got != "[redacted:LONG]\n" {
		t.Errorf("%q", got)
	}
	end := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 57) + secret))
	if got := r.String(broken(end, 76, "\n") + "\nthree\n"); !strings.HasSuffix(got, "[redacted:API_KEY]\nthree\n") {
		t.Errorf("%q", got)
	}
	same := broken(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("another text ", 40))), 76, "\n") + "\n\n" + strings.Repeat("w", 80) + "\r\n  x\n"
	if got := r.String(same); got != same {
		t.Errorf("%q", got)
	}
}

func backwards(s string) string {
	rs := []rune(s)
	slices.Reverse(rs)
	return string(rs)
}

// Where one secret contains another, the longer one is replaced whole.
func TestLongestWins(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"A": "password", "B": "password-and-more"})
	if got, want := r.String("password-and-more password"), "[redacted:B] [redacted:A]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

const pem = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\nMIIEowIBAAKCAQEA0123+/==\nabcd\n-----END RSA PRIVATE KEY-----"

// Tokens that everybody knows are found without configuration, and ordinary text
// stays what it is. A nil Redactor does this, too.
func TestShapes(t *testing.T) {
	t.Parallel()
	var r *redact.Redactor
	const gone = "[redacted:token]"
	const hexa = "0123456789abcdef0123456789abcdef"
	long := "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
	const install = "ghs_1234567_eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJnaXRodWIiLCJpYXQiOjF9.c2lnbmF0dXJl"
	for _, tt := range []struct{ in, want string }{
		{"ghp_" + long, gone},
		{"token=gho_" + long + ";", "token=" + gone + ";"},
		{"https://x-access-token:ghs_" + long + "@github.com/o/r", "https://x-access-token:" + gone + "@github.com/o/r"},
		{"GITHUB_TOKEN=" + install + ".", "GITHUB_TOKEN=" + gone + "."},
		{"https://x-access-token:" + install + "@github.com/o/r", "https://x-access-token:" + gone + "@github.com/o/r"},
		{"ghs_" + long + ". And", gone + ". And"},
		{"ghu_" + install[4:] + ", " + install, gone + ", " + gone},
		{"github_pat_11ABCDEFG0" + long + "_" + long, gone},
		{"sk-" + long, gone},
		{"sk-proj-" + long + "_" + long, gone},
		{"sk-ant-api03-" + long + "-" + long, gone},
		{"key AKIAIOSFODNN7EXAMPLE.", "key " + gone + "."},
		{"npm_" + long, gone},
		{"//registry.npmjs.org/:_authToken=npm_" + long, "//registry.npmjs.org/:_authToken=" + gone},
		{"pypi-AgEIcHlwaS5vcmc" + long + long, gone},
		{"sk_" + "live_" + long, gone},
		{"rk_" + "live_" + long, gone},
		{"whsec_" + long, gone},
		{"AIza" + long[:35], gone},
		{"ya29.a0" + long, gone},
		{"GOCSPX-" + long[:28], gone},
		{"hf_" + long, gone},
		{"dop_v1_" + hexa + hexa, gone},
		{"shpat_" + hexa, gone},
		{"dapi" + hexa, gone},
		{"dapi" + hexa + "-2", gone},
		{"pul-" + hexa + "01234567", gone},
		{"dckr_pat_" + long[:27], gone},
		{"ATATT3xFfGF0" + long + long, gone},
		{"hvs." + long, gone},
		{"SG." + long[:22] + "." + long + long[:7], gone},
		{"glrt-" + long, gone},
		{"gldt-" + long, gone},
		{"xapp-1-A012-345-" + hexa, gone},
		{"rubygems_" + hexa + hexa[:16], gone},
		{"https://hooks." + "slack.com/services/T012AB/B345CD/" + long[:24], "https://hooks.slack.com/services/" + gone},
		{"DefaultEndpointsProtocol=https;AccountName=n;AccountKey=" + long + long + "==;EndpointSuffix=x", "DefaultEndpointsProtocol=https;AccountName=n;AccountKey=" + gone + ";EndpointSuffix=x"},
		{"?sv=2024&sig=" + long + long[:7] + "%3D&se=1", "?sv=2024&sig=" + gone + "&se=1"},
		{"bot 1234567890:AA" + long[:33] + " x", "bot 1234567890:AA" + gone + " x"},
		{"postgres://app:correct-horse@db/x", "postgres://app:" + gone + "@db/x"},
		{"ghu_" + long + " ghr_" + long, gone + " " + gone},
		{"xoxb-123456789012-abcdefABCDEF", gone},
		{"a " + pem + " b", "a " + gone + " b"},
		{`"key":"` + strings.ReplaceAll(pem, "\n", `\n`) + `","x":1`, `"key":"` + gone + `","x":1`},
		{"-----BEGIN PRIVATE KEY-----\nMIIEvQ\n[cut]", gone + "[cut]"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", gone},
		{"https://discord.com/api/webhooks/1234567890123456789/" + long + long, "https://discord.com/api/webhooks/1234567890123456789/" + gone},
		{"AGE-SECRET-KEY-1" + strings.ToUpper(long+long[:22]), gone},
		{"//registry.npmjs.org/:_authToken=123e4567-e89b-12d3-a456-426614174000\n", "//registry.npmjs.org/:_authToken=" + gone + "\n"},
		{"_authToken=123e4567e89b12d3a456426614174000", "_authToken=" + gone},
		{"//r.example/:_password = \"aHVudGVyMg==\"", "//r.example/:_password = \"" + gone + "\""},
		{"//r.example/:_auth=aHVudGVyMg==", "//r.example/:_auth=" + gone},
		{"_password=aHVudGVyMmh1bnRlcjI=", "_password=" + gone},
		{"machine api.example login me password hunter22\n", "machine api.example login me password " + gone + "\n"},
		{"machine api.example\n  login me\n  password hunter22\n", "machine api.example\n  login me\n  password " + gone + "\n"},
		{"nfp_" + long + "abcd", gone},
		{"key-" + hexa, gone},
		{"mc " + hexa + "-us12, " + hexa + "-us1", "mc " + gone + ", " + gone},
		{"Authorization: Bearer abc.def-ghi_123", "Authorization: Bearer " + gone},
		{"> authorization: basic dXNlcjpwYXNzd29yZA==\n", "> authorization: basic " + gone + "\n"},
		{`{"Authorization": "token abcdef0123456789"}`, `{"Authorization": "token ` + gone + `"}`},
		{`map[Authorization:[Bearer abcdefgh12345678]]`, `map[Authorization:[Bearer ` + gone + `]]`},
		{"AUTHORIZATION: BEARER abcdefgh12345678", "AUTHORIZATION: BEARER " + gone},
	} {
		if got := r.String(tt.in); got != tt.want {
			t.Errorf("%q:\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
	for _, same := range []string{
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
		"ok  \tgithub.com/o/r/internal/task-runner-with-a-long-name\t0.012s",
		"task-0123456789abcdef0123456789abcdef",
		"key-" + hexa + hexa, "a" + hexa + "-us12", hexa + "-user", "abc-us12", hexa[1:] + "-us1", "region-us-east-1", "nfp_value", "_password=compute_password_of(user)",
		"self._password = other", "//registry.npmjs.org/:_authToken=${NPM_TOKEN}", "the machine has a login and a password of its own", "/api/webhooks/1234567890123456789/messages",
		"sk-learn-is-a-library-with-a-long-name-2024",
		"desk-0123456789abcdef0123456789abcdef0123",
		"Authorization: Bearer <token>",
		"the Authorization header",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----",
		"npm_config_registry npm_lifecycle_event_and_a_long_name_0123456789", "npm_" + long + "tail", "pypi-mirror-of-the-company",
		"hf_hub_download(repo_id, filename)", "sk_live_", "AIzawa", "rk_live_short", "SG.UN.1", "hvs.file", "dapi-client", "glob-pattern-0123456789abcdef0123",
		"http://localhost:8080/@scope/name", "git+ssh://git@github.com/o/r", "https://user@example.org/x", "http://[::1]:8080/a@b", "std::vector:AAA",
		"secret_key_base", "r8_stable", "ASIAN-PACIFIC", "do_v1_x", "ciocolata", "sig=none", "at a.c:12:AA", "ATBBA",
		"ghp_short xox-box AKIA eyJ sk-",
		"MAKIAVELLI0123456789ABCDEF",
		"123e4567-e89b-12d3-a456-426614174000",
		"",
	} {
		if got := r.String(same); got != same {
			t.Errorf("ordinary text %q became %q", same, got)
		}
	}
}

// What was redacted stays as it is, and the input is never written to.
func TestTwice(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"API_KEY": secret})
	in := []byte("x " + secret + " ghp_" + strings.Repeat("a1", 20))
	before := bytes.Clone(in)
	once := r.Bytes(in)
	if !bytes.Equal(in, before) {
		t.Error("the input was changed")
	}
	if twice := r.Bytes(once); !bytes.Equal(once, twice) {
		t.Errorf("%q became %q", once, twice)
	}
}

// A full stream of ordinary output with many secrets to look for takes well
// under a second; the limit is loose, because machines are.
func TestFastEnough(t *testing.T) {
	t.Parallel()
	secrets := map[string]string{}
	for i := range 20 {
		secrets[fmt.Sprintf("KEY_%d", i)] = fmt.Sprintf("secret-value-%d-%d", i, i*7919)
	}
	r := redact.New(secrets)
	in := bytes.Repeat([]byte("--- PASS: TestSomething/with_a_name (0.00s) task-1 sk- eyJ -----BEGIN \n"), 1<<20/72)
	var got []byte
	took := spent.On(t, func() { got = r.Bytes(in) })
	if !bytes.Equal(got, in) {
		t.Error("ordinary output was changed")
	}
	if took > 5*time.Second {
		t.Errorf("%v for %d bytes", took, len(in))
	}
}

func BenchmarkBytes(b *testing.B) {
	secrets := map[string]string{}
	for i := range 20 {
		secrets[fmt.Sprintf("KEY_%d", i)] = fmt.Sprintf("secret-value-%d-%d", i, i*7919)
	}
	r := redact.New(secrets)
	in := bytes.Repeat([]byte("--- PASS: TestSomething/with_a_name (0.00s) task-1 sk- eyJ -----BEGIN \n"), 1<<20/72)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r.Bytes(in)
	}
}

// Credentials are picked by name, ordinary variables stay.
func TestSecretsFrom(t *testing.T) {
	t.Parallel()
	got := redact.SecretsFrom([]string{
		"GITHUB_TOKEN=ghs_0123456789", "OPENAI_API_KEY=sk-0123456789", "GITHUBTOKEN=0123456789abc", "npm_config__auth=bmFtZTpwYXNz",
		"DB_PASSWORD= correct horse ", "CLIENT_SECRET=abcdefgh", "GITHUB_PAT=abcdefgh1", "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"DATABASE_URL=postgres://ycbot:in-the-url@db/ycbot", "YCBOT_APP_PRIVATE_KEY=-----BEGIN", "EMPTY_TOKEN=", "MALFORMED",
		"PIN_SECRET=1234", "MAX_KEY=1234567890", "TOKENIZERS_PARALLELISM=disabled", "GIT_AUTHOR_NAME=A. Developer", "KEYBOARD=de-latin1-nodeadkeys",
		"SSH_AUTH_SOCK=/tmp/ssh-XXX/agent.1", "YCBOT_APP_PRIVATE_KEY_FILE=/etc/ycbot/key.pem", "GOOGLE_APPLICATION_CREDENTIALS=/home/u/key.json",
		"PATH=/usr/bin:/bin", "HOME=/home/someone", "MONKEY=bananas-and-more", "AUTH_URL=https://login.example.org",
		"REGISTRY_LOGIN=named-by-setup", "YCBOT_SETUP_ENV=REGISTRY_LOGIN, INDEX,NUMBER PROXY WITH BRIEF", "INDEX=https://plain.example/simple",
		"NUMBER=1234567890", "PROXY=https://tok3n-alone@goproxy.example", "WITH=https://me:passw0rd@pypi.example/simple", "BRIEF=1234", "OTHER=https://username@host.example",
	})
	want := map[string]string{
		"GITHUB_TOKEN": "ghs_0123456789", "OPENAI_API_KEY": "sk-0123456789", "GITHUBTOKEN": "0123456789abc", "npm_config__auth": "bmFtZTpwYXNz",
		"DB_PASSWORD": "correct horse", "CLIENT_SECRET": "abcdefgh", "GITHUB_PAT": "abcdefgh1", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"DATABASE_URL": "in-the-url", "REGISTRY_LOGIN": "named-by-setup",
		"NUMBER": "1234567890", "PROXY": "tok3n-alone", "WITH": "passw0rd", "YCBOT_APP_PRIVATE_KEY": "-----BEGIN",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestUnseen holds that what is not seen does not hide a secret, and stays where there is none.
func TestUnseen(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"TOKEN": "abcdefghijklmnop1234"})
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	for _, in := range []string{"\x1b[31m", "\x1b[0m", "\u009b", "\u009b0m", "\x1b", "\u009b31m\x1b[0m", "\x1b]0;x\x07", "\x1b(B", "\u200b", "\u00ad", "\x00", "\a", "\x7f", "\u0085", "\ufe0f", "\U000e0041", "\u202e"} {
		s := r.String("\x1b[1mone\x1b[0m\nA abcdefgh" + in + "ijklmnop1234 B " + token[:15] + in + token[15:] + " C\nthree\a\n")
		if want := "\x1b[1mone\x1b[0m\nA [redacted:TOKEN] B [redacted:token] C\nthree\a\n"; s != want {
			t.Errorf("%q: %q", in, s)
		}
	}
	key := "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\x1b[0mAgEAAoIBAQC7\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END \x1b[1mPRIVATE KEY-----\n"
	if s := r.String(key); strings.Contains(s, "MIIE") {
		t.Errorf("a key: %q", s)
	}
}
