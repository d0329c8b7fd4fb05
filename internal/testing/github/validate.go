package githubtest

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// description is what GitHub publishes about its REST API (@octokit/openapi
// 23.0.2, api.github.com, MIT), cut down to the operations that matter here.
//
//go:embed testdata/github-openapi-cut.json
var description []byte

// loaded is the description, read once for all tests of a program.
var loaded = sync.OnceValues(load)

// undescribed are operations that ycbot may ask for although the cut of the
// description does not have them. They are documented by GitHub.
var undescribed = []struct{ method, path, why string }{
	{"GET", `/repos/[^/]+/[^/]+/issues/\d+`, "linked issues"},
	{"GET", `/repos/[^/]+/[^/]+/issues/\d+/events`, "whether a pull request had another base"},
	{"GET", `/repos/[^/]+/[^/]+/actions/artifacts(/\d+/zip)?`, "what an earlier workflow run left"},
	{"GET", `/repos/[^/]+/[^/]+/actions/runs/\d+`, "which workflow left it"},
	{"GET", `/repos/[^/]+/[^/]+/branches/[^/]+`, "is the base protected"},
	{"GET", `/repos/[^/]+/[^/]+/rules/branches/[^/]+`, "is the check required"},
	{"GET", `/repos/[^/]+/[^/]+/commits/[^/]+/statuses`, "with creators, which the combined status does not name"},
	{"DELETE", `/installation/token`, "tokens are given back"},
	{"GET", `/user/installations(/\d+/repositories)?`, "what a person may read"},
	{"DELETE", `/applications/[^/]+/token`, "logout"},
	{"POST", `/app-manifests/[^/]+/conversions`, "an App made of a manifest"},
	{"GET", `/repositories/\d+(/.*)?`, "where redirects of renamed repositories lead"},
}

// wronglyDescribed are requests whose body GitHub takes although the description does not.
var wronglyDescribed = []struct{ method, path, why string }{
	{"POST", `/app/installations/\d+/access_tokens`, "ghinstallation posts the body null"},
	{"POST", `/repos/[^/]+/[^/]+/issues/\d+/labels`, "go-github posts an array"},
}

func load() (routers.Router, error) {
	openapi3.DefineStringFormatValidator("uri-template", openapi3.NewCallbackValidator(func(string) error { return nil }))
	doc, err := openapi3.NewLoader().LoadFromData(description)
	if err != nil {
		return nil, err
	}
	// These may hold slashes.
	for _, p := range doc.Paths.InMatchingOrder() {
		wide := strings.Replace(p, "/contents/{path}", "/contents/{path:.+}", 1)
		wide = strings.Replace(wide, "/git/ref/{ref}", "/git/ref/{ref:.+}", 1)
		if wide != p {
			item := doc.Paths.Value(p)
			doc.Paths.Delete(p)
			doc.Paths.Set(wide, item)
		}
	}
	doc.Servers = nil // any host; the path is that below the API's base
	return gorillamux.NewRouter(doc)
}

// An operation is a request that the description knows.
type operation struct {
	in *openapi3filter.RequestValidationInput
}

// checkRequest finds what is wrong with a request by GitHub's description. The
// operation is nil where the description has none.
func checkRequest(method, path, query string, header http.Header, body []byte) (*operation, error) {
	router, err := loaded()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(path)
	if err != nil {
		return nil, err
	}
	u.RawQuery = query
	req, err := http.NewRequestWithContext(context.Background(), method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	if len(body) == 0 {
		req.Body = nil
	}
	route, params, err := router.FindRoute(req)
	if err != nil {
		if among(undescribed, method, path) {
			return nil, nil
		}
		return nil, fmt.Errorf("%s %s: not in GitHub's description: %w", method, path, err)
	}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, MultiError: true,
		ExcludeReadOnlyValidations: true, ExcludeRequestBody: among(wronglyDescribed, method, path),
	}}
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
		return &operation{in}, fmt.Errorf("%s %s: %s", route.Method, route.Path, short(err))
	}
	return &operation{in}, nil
}

func among(list []struct{ method, path, why string }, method, path string) bool {
	for _, o := range list {
		if ok, err := regexp.MatchString("^"+o.path+"$", path); o.method == method && ok && err == nil {
			return true
		}
	}
	return false
}

// checkResponse finds what is wrong with an answer. Refusals and redirects are passed over:
// the description lists few of them.
func (o *operation) checkResponse(status int, header http.Header, body []byte) error {
	if o == nil || status >= 300 {
		return nil
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: o.in, Status: status, Header: header, Options: o.in.Options}
	out.SetBodyBytes(body)
	// Of a fork that is gone GitHub really sends null.
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil && short(err) != "/head/repo: Value is not nullable" {
		return fmt.Errorf("%s %s -> %d: %s", o.in.Route.Method, o.in.Route.Path, status, short(err))
	}
	return nil
}

// short is the gist of what kin-openapi says at length.
func short(err error) string {
	var several openapi3.MultiError
	if errors.As(err, &several) {
		var out []string
		for _, e := range several {
			out = append(out, short(e))
		}
		return strings.Join(out, " | ")
	}
	var schema *openapi3.SchemaError
	if errors.As(err, &schema) {
		return "/" + strings.Join(schema.JSONPointer(), "/") + ": " + schema.Reason
	}
	s := err.Error()
	return s[:min(len(s), 300)]
}

// Validator is a transport that fails the test for each request that GitHub's
// description does not allow. The base is the host alone, or /api/v3 on it.
// Answers are not looked at.
func Validator(tb testing.TB, base http.RoundTripper) http.RoundTripper {
	tb.Helper()
	return validator{tb, base}
}

type validator struct {
	t    testing.TB
	base http.RoundTripper
}

func (v validator) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	if _, err := checkRequest(req.Method, strings.TrimPrefix(req.URL.EscapedPath(), "/api/v3"), req.URL.RawQuery, req.Header, body); err != nil {
		v.t.Errorf("request: %v", err)
	}
	return v.base.RoundTrip(req)
}

// complete adds what the description requires of an answer and the handler
// left out, most of it URLs: null, zero, or the first value that may be.
func (o *operation) complete(status int, body []byte) ([]byte, error) {
	if o == nil || status >= 300 || len(body) == 0 {
		return body, nil
	}
	resp := o.in.Route.Operation.Responses.Status(status)
	if resp == nil || resp.Value == nil {
		return body, nil
	}
	media := resp.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return body, nil
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(fill(media.Schema.Value, v, 0))
}

func fill(s *openapi3.Schema, v any, depth int) any {
	if s == nil || depth > 12 {
		return v
	}
	for _, part := range s.AllOf {
		v = fill(part.Value, v, depth+1)
	}
	for _, alternatives := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
		if len(alternatives) > 0 && v != nil {
			v = fill(alternative(s, alternatives, v), v, depth+1)
		}
	}
	switch v := v.(type) {
	case []any:
		if s.Items != nil {
			for i := range v {
				v[i] = fill(s.Items.Value, v[i], depth+1)
			}
		}
	case map[string]any:
		for name, p := range s.Properties {
			if old, ok := v[name]; ok {
				v[name] = fill(p.Value, old, depth+1)
			}
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok && s.Properties[name] != nil {
				v[name] = zero(s.Properties[name].Value, depth+1)
			}
		}
	}
	return v
}

// alternative is the schema that the discriminator of v names, else the first.
func alternative(s *openapi3.Schema, all openapi3.SchemaRefs, v any) *openapi3.Schema {
	if object, ok := v.(map[string]any); ok && s.Discriminator != nil {
		kind, _ := object[s.Discriminator.PropertyName].(string)
		for _, a := range all {
			if a.Ref == s.Discriminator.Mapping[kind].Ref {
				return a.Value
			}
		}
	}
	return all[0].Value
}

func zero(s *openapi3.Schema, depth int) any {
	switch {
	case s.Nullable:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0:
		return fill(s, map[string]any{}, depth)
	case len(s.OneOf) > 0:
		return zero(s.OneOf[0].Value, depth)
	case len(s.AnyOf) > 0:
		return zero(s.AnyOf[0].Value, depth)
	case s.Type.Is("string"):
		switch s.Format {
		case "uri":
			return "https://github.invalid/"
		case "date-time":
			return "2026-01-01T00:00:00Z"
		}
		return ""
	case s.Type.Is("integer") || s.Type.Is("number"):
		return 0
	case s.Type.Is("boolean"):
		return false
	case s.Type.Is("array"):
		return []any{}
	}
	return fill(s, map[string]any{}, depth)
}
