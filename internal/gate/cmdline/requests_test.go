package cmdline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Requests are found where curl is called and where tests ask; what curl would read from a
// file, or ask of another machine, is none.
func TestRequests(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		file, text string
		want       []string
	}{
		"curl": {"README.md", "curl localhost:1/none\n```\ncurl localhost:8080\ncurl -sS 'http://127.0.0.1:81/a?b=c&d'\ncurl -s http://localhost/a?b=c | jq .\ncurl -I localhost:1/head\ncurl localhost:8080/\n```\n", []string{
			"8080 GET / HTTP/1.0|Host: h|Connection: close||", "81 GET /a?b=c&d HTTP/1.0|Host: h|Connection: close||",
			"80 GET /a?b=c HTTP/1.0|Host: h|Connection: close||", "1 HEAD /head HTTP/1.0|Host: h|Connection: close||",
		}},
		"data": {"README.md", "```sh\n$ curl -XPUT -H 'Host: x' --json '{\"a\":  1}' \\\n    -o out \\\n    localhost:1/a\n$ curl -d a=1 --data b=2 localhost:1/b\n$ curl -X DELETE \"localhost:1/c\"\n$ curl --json \"{\\\"a\\\":1}\" localhost:1/d\n```\n", []string{
			"1 PUT /a HTTP/1.0|Host: x|Content-Type: application/json|Accept: application/json|Content-Length: 9|Connection: close||{\"a\":  1}",
			"1 POST /b HTTP/1.0|Host: h|Content-Type: application/x-www-form-urlencoded|Content-Length: 7|Connection: close||a=1&b=2",
			"1 DELETE /c HTTP/1.0|Host: h|Connection: close||",
			"1 POST /d HTTP/1.0|Host: h|Content-Type: application/json|Accept: application/json|Content-Length: 7|Connection: close||{\"a\":1}",
		}},
		"none": {"README.md", "```\ncurl http://example.com/a\ncurl https://localhost/a\ncurl -d @f localhost:1/a\ncurl -H @f localhost:1/a\ncurl localhost:1/~a\ncurl $'localhost:1/a'\ncurl -u me:you localhost:1/a\ncurl http://me:you@localhost/a\ncurl $HOST/a\ncurl localhost:1/a localhost:1/b\ncurl localhost:99999/\ncurl localhost:1/...\ncurl -H\ncurl\ncurl -H 'A: b\nC: d' localhost:1/\n```\n", nil},
		"go": {"a_test.go", "httptest.NewRequest(\"GET\", \"/a?b=1\", nil)\nhttp.NewRequestWithContext(ctx, http.MethodDelete, srv.URL+\"/b\", http.NoBody)\nhttp.Get(srv.URL + \"/c\")\nhttp.NewRequest(\"POST\", \"/d\", nil)\nhttptest.NewRequest(http.MethodGet, \"/e\", body)\nhttptest.NewRequest(http.MethodGet, path, nil)\nrequest(t, \"GET\", app.URL(\"/f\"), nil)\nr.Handle(\"GET\", \"/g/:id\")\n{\"HEAD\", \"/h\", 200},\n", []string{
			"0 GET /a?b=1 HTTP/1.0|Host: h|Connection: close||", "0 DELETE /b HTTP/1.0|Host: h|Connection: close||", "0 GET /c HTTP/1.0|Host: h|Connection: close||", "0 GET /e HTTP/1.0|Host: h|Connection: close||",
			"0 GET /f HTTP/1.0|Host: h|Connection: close||", "0 HEAD /h HTTP/1.0|Host: h|Connection: close||",
		}},
		"node":   {"a.test.js", "await request(app).get('/a').expect(200)\nfetch(`${base}/b`)\nfetch(url + '/c')\naxios.get(`${base}/d?x=1`)\nmap.get('key')\nrequest(app).get('/e/' + id)\nfetch(`${base}/f/${id}`)\n", []string{"0 GET /a HTTP/1.0|Host: h|Connection: close||", "0 GET /b HTTP/1.0|Host: h|Connection: close||", "0 GET /c HTTP/1.0|Host: h|Connection: close||", "0 GET /d?x=1 HTTP/1.0|Host: h|Connection: close||"}},
		"python": {"test_a.py", "client.get(\"/a\")\nrequests.delete(f\"{url}/b\")\nrequests.get(url + '/c')\nd.get('a')\nclient.get(f\"/x/{n}\")\n", []string{"0 GET /a HTTP/1.0|Host: h|Connection: close||", "0 DELETE /b HTTP/1.0|Host: h|Connection: close||", "0 GET /c HTTP/1.0|Host: h|Connection: close||"}},
	} {
		var got []string
		for _, r := range Requests(name+x.file, []byte(x.text), strings.Contains(x.file, "test")) {
			got = append(got, fmt.Sprintf("%d %s", r.Port, strings.ReplaceAll(r.Message("h"), "\r\n", "|")))
		}
		if d := cmp.Diff(x.want, got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// A request that is typed for curl is read from that again.
func TestCurl(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"curl -si http://localhost:1/a?b=c", "curl -si --head http://localhost:1/", "curl -si -X DELETE http://localhost:1/",
		`curl -si -X POST -H 'A: b' -H 'Content-Type: text/plain' --data-raw "it's" http://localhost:1/`,
	} {
		r, ok := fromCurl(1, text)
		if !ok {
			t.Errorf("%s is no request", text)
			continue
		}
		again, ok := fromCurl(1, r.Curl(1))
		if d := cmp.Diff(r, again); !ok || d != "" {
			t.Errorf("%s is typed as %s\n%s", text, r.Curl(1), d)
		}
	}
}
