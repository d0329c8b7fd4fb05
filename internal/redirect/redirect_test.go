package redirect

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A request goes to another path of its host, and to no other host, whatever the status.
func TestSame(t *testing.T) {
	t.Parallel()
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.HandleFunc("/there", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("/here", http.RedirectHandler("/there", http.StatusTemporaryRedirect))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusTemporaryRedirect))
	mux.Handle("/301", http.RedirectHandler(other.URL, http.StatusMovedPermanently))
	mux.Handle("/302", http.RedirectHandler(other.URL, http.StatusFound))
	mux.Handle("/307", http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	mux.Handle("/308", http.RedirectHandler(other.URL, http.StatusPermanentRedirect))
	mux.Handle("/scheme", http.RedirectHandler(strings.Replace(server.URL, "http:", "https:", 1), http.StatusFound))
	client := Client(server.Client())
	for path, want := range map[string][]string{
		"/here": nil, "/loop": {"more than 5 times"}, "/scheme": {"https://"},
		"/301": {server.URL, other.URL}, "/302": {server.URL, other.URL}, "/307": {server.URL, other.URL}, "/308": {server.URL, other.URL},
	} {
		resp, err := client.Post(server.URL+path, "text/plain", strings.NewReader("secret"))
		if err == nil {
			resp.Body.Close()
		}
		var e *Error
		if errors.As(err, &e) != (want != nil) || want == nil && err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, text := range want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v lacks %s", path, err, text)
			}
		}
	}
	if reached > 0 {
		t.Errorf("the other host was asked %d times", reached)
	}
}
