package benchtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// undescribed are operations that GitHub documents and the cut leaves out.
var undescribed = regexp.MustCompile(`^GET /repos/[^/]+/[^/]+/(issues/\d+|branches/[^/]+|rules/branches/[^/]+|commits/[^/]+/statuses|actions/artifacts)$` +
	`|^DELETE /installation/token$|^GET /app/hook/deliveries$` +
	`|^POST /app-manifests/[^/]+/conversions$|^DELETE /applications/[^/]+/token$|^GET /user/installations(/\d+/repositories)?$`)

// pages are what people see in a browser, and the login, which are no part of the interface.
var pages = regexp.MustCompile(`^/(favicon\.ico)?$|^/(login|session|settings|organizations|_emulate)(/|$)|^/apps/[^/]+/installations/`)

// A contract holds requests against GitHub's own description of its interface.
type contract struct{ router routers.Router }

// loadContract reads a cut of GitHub's description, for a server at base.
func loadContract(file, base string) (*contract, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromFile(file)
	if err != nil {
		return nil, err
	}
	// A path or ref may hold slashes; the router takes a pattern for that.
	for _, path := range doc.Paths.InMatchingOrder() {
		wide := path
		for _, name := range []string{"path", "ref"} {
			if strings.HasSuffix(path, "/{"+name+"}") {
				wide = strings.TrimSuffix(path, "}") + ":.+}"
			}
		}
		if wide != path && !strings.HasSuffix(path, "/commits/{ref}") {
			item := doc.Paths.Value(path)
			doc.Paths.Delete(path)
			doc.Paths.Set(wide, item)
		}
	}
	doc.Servers = openapi3.Servers{{URL: base}}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	return &contract{router}, nil
}

// check returns what is wrong with a request, or nil.
func (c *contract) check(r *http.Request, body []byte) error {
	if undescribed.MatchString(r.Method + " " + r.URL.Path) {
		return nil
	}
	r = r.Clone(context.WithoutCancel(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := c.router.FindRoute(r)
	if err != nil {
		return fmt.Errorf("not in GitHub's description: %w", err)
	}
	// GitHub takes these two, whatever its description says of them.
	switch {
	case strings.HasSuffix(route.Path, "/access_tokens") && string(bytes.TrimSpace(body)) == "null":
		return nil
	case strings.HasSuffix(route.Path, "/labels") && bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")):
		return nil
	}
	err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc:         openapi3filter.NoopAuthenticationFunc,
			MultiError:                 true,
			ExcludeReadOnlyValidations: true,
		},
	})
	return brief(err)
}

// brief keeps of a violation where it is and what it is.
func brief(err error) error {
	var many openapi3.MultiError
	if errors.As(err, &many) {
		var out []error
		for _, e := range many {
			out = append(out, brief(e))
		}
		return errors.Join(out...)
	}
	var schema *openapi3.SchemaError
	if errors.As(err, &schema) {
		return fmt.Errorf("/%s: %s", strings.Join(schema.JSONPointer(), "/"), schema.Reason)
	}
	return err
}

// A proxy passes on to target what ycbot asks of it. Requests of the REST
// interface are recorded and held against the contract; git's and those for
// pages are only passed on.
type proxy struct {
	contract *contract
	target   *httputil.ReverseProxy
	wrong    func(format string, args ...any)
	seen     func(Call)
}

func newProxy(target *url.URL) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		Transport:     fresh(),
	}
}

// fresh connects again for each request: Node's server closes a connection that was not used
// for five seconds, perhaps as the next request is sent.
func fresh() *http.Transport { return &http.Transport{DisableKeepAlives: true} }

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isGit(r.URL.Path) || pages.MatchString(r.URL.Path) {
		p.target.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := p.contract.check(r, body); err != nil {
		p.wrong("request %s %s is against GitHub's description: %v", r.Method, r.URL.Path, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	status := &statusWriter{ResponseWriter: w}
	p.target.ServeHTTP(status, r)
	p.seen(Call{Method: r.Method, Path: r.URL.Path, Body: body, Status: status.code})
}

func isGit(path string) bool {
	return strings.HasSuffix(path, "/info/refs") || strings.HasSuffix(path, "/git-upload-pack") || strings.HasSuffix(path, "/git-receive-pack")
}

// A statusWriter remembers how a request was answered.
type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets the server flush through.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
