package benchtest

import (
	"net/http"
	"strings"
	"testing"
)

// TestContract holds that requests which GitHub would refuse, or does not have,
// are found, and others are not.
func TestContract(t *testing.T) {
	t.Parallel()
	const base = "http://127.0.0.1:1"
	c, err := loadContract("../../../internal/testing/github/testdata/github-openapi-cut.json", base)
	if err != nil {
		t.Fatal(err)
	}
	sha := strings.Repeat("a", 40)
	note := `{"path":"a.go","start_line":1,"end_line":1,"annotation_level":"warning","message":"m"}`
	notes := func(n int) string { return strings.TrimSuffix(strings.Repeat(note+",", n), ",") }
	check := func(n int) string {
		return `{"name":"ycbot","head_sha":"` + sha + `","output":{"title":"t","summary":"s","annotations":[` + notes(n) + `]}}`
	}
	for _, test := range []struct {
		name, method, path, body, want string
	}{
		{"50 annotations", "POST", "/repos/o/r/check-runs", check(50), ""},
		{"51 annotations", "POST", "/repos/o/r/check-runs", check(51), "maximum number of items is 50"},
		{"long summary", "POST", "/repos/o/r/check-runs", strings.Replace(check(0), `"s"`, `"`+strings.Repeat("x", 70_000)+`"`, 1), "maximum string length is 65535"},
		{"no body", "POST", "/repos/o/r/issues/1/comments", `{}`, "body"},
		{"unknown path", "GET", "/repos/o/r/secrets", "", "not in GitHub's description"},
		{"a path with slashes", "GET", "/repos/o/r/contents/.github/ycbot.yml?ref=" + sha, "", ""},
		{"what the cut leaves out", "GET", "/repos/o/r/branches/main", "", ""},
		{"that is a read only", "DELETE", "/repos/o/r/branches/main", "", "not in GitHub's description"},
		{"a token without limits", "POST", "/app/installations/1/access_tokens", "null", ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, base+test.path, strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		err = c.check(r, []byte(test.body))
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}
