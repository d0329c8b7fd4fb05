package report

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"
)

const schemaFile = "../../docs/report.schema.json"

func readSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(schemaFile))
	if err != nil {
		t.Fatal(err)
	}
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(b, s); err != nil {
		t.Fatal(err)
	}
	return s
}

func resolve(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	rs, err := readSchema(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func instance(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestSchemaTakesReports: every report that is written is valid, the emptiest too.
func TestSchemaTakesReports(t *testing.T) {
	t.Parallel()
	rs := resolve(t)
	reports := map[string]*Report{"empty": {Verdict: Error, Outcome: Errored, Trigger: "cli", Trust: "local"}}
	for _, name := range archives(t) {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		reports[name] = parseArchive(t, a)
	}
	for name, r := range reports {
		b, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := rs.Validate(instance(t, b)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaIsStrict: a field too many or too few, another word, a null list are
// errors.
func TestSchemaIsStrict(t *testing.T) {
	t.Parallel()
	rs := resolve(t)
	r := &Report{
		Verdict: Pass, Outcome: Completed, Trigger: "cli", Trust: "local",
		Checks: []Check{{Kind: KindTest, Result: ResultPass}}, Tests: &Tests{},
	}
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"unknown field":     func(m map[string]any) { m["x"] = 1 },
		"missing field":     func(m map[string]any) { delete(m, "trust") },
		"null list":         func(m map[string]any) { m["checks"] = nil },
		"verdict":           func(m map[string]any) { m["verdict"] = "PASSED" },
		"schema":            func(m map[string]any) { m["schema"] = "ycbot.report/v2" },
		"tier":              func(m map[string]any) { m["sandbox"].(map[string]any)["tier"] = "best" },
		"check: unknown":    func(m map[string]any) { m["checks"].([]any)[0].(map[string]any)["x"] = 1 },
		"check: result":     func(m map[string]any) { m["checks"].([]any)[0].(map[string]any)["result"] = "pass" },
		"tests: null names": func(m map[string]any) { m["tests"].(map[string]any)["flaky"] = nil },
		"negative number":   func(m map[string]any) { m["pr"] = -1 },
	} {
		m := instance(t, b)
		if err := rs.Validate(m); err != nil {
			t.Fatal(err)
		}
		change(m)
		if err := rs.Validate(m); err == nil {
			t.Errorf("%s: valid", name)
		}
	}
}

// TestSchemaAndTypesAgree: every field of the Go types is in the schema, with the
// same JSON type, and the other way round; everything is described.
func TestSchemaAndTypesAgree(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	seen := map[string]bool{}
	agree(t, s, s, reflect.TypeFor[Report](), "report", seen)
	for name := range s.Defs {
		if !seen[name] {
			t.Errorf("$defs/%s: no Go type uses it", name)
		}
	}
}

// agree compares the schema s of a value at path with its Go type.
func agree(t *testing.T, root, s *jsonschema.Schema, typ reflect.Type, path string, seen map[string]bool) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if s.Ref != "" {
		name := strings.TrimPrefix(s.Ref, "#/$defs/")
		if name != typ.Name() {
			t.Errorf("%s: $ref %s, want the type's name %s", path, s.Ref, typ.Name())
		}
		seen[name] = true
		s = root.Defs[name]
	}
	if got := schemaType(s); got != jsonType(typ) {
		t.Errorf("%s: type %s, in Go %s", path, got, jsonType(typ))
		return
	}
	switch jsonType(typ) {
	case "array":
		agree(t, root, s.Items, typ.Elem(), path+"[]", seen)
	case "object":
		if typ.Kind() == reflect.Struct {
			agreeFields(t, root, s, typ, path, seen)
		}
	}
}

func agreeFields(t *testing.T, root, s *jsonschema.Schema, typ reflect.Type, path string, seen map[string]bool) {
	t.Helper()
	var names, required []string
	for f := range typ.Fields() {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		names = append(names, name)
		if !strings.Contains(opts, "omitempty") {
			required = append(required, name)
		}
		p := s.Properties[name]
		if p == nil {
			t.Errorf("%s.%s: not in the schema", path, name)
			continue
		}
		if p.Description == "" {
			t.Errorf("%s.%s: no description", path, name)
		}
		agree(t, root, p, f.Type, path+"."+name, seen)
	}
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			t.Errorf("%s.%s: not in the Go type", path, name)
		}
	}
	slices.Sort(required)
	if diff := cmp.Diff(required, slices.Sorted(slices.Values(s.Required))); diff != "" {
		t.Errorf("%s: required (-Go +schema):\n%s", path, diff)
	}
	if s.AdditionalProperties == nil || s.AdditionalProperties.Not == nil {
		t.Errorf("%s: takes additional properties", path)
	}
}

func schemaType(s *jsonschema.Schema) string {
	if s.Type != "" {
		return s.Type
	}
	if len(s.Types) == 2 && s.Types[1] == "null" {
		return s.Types[0]
	}
	return strings.Join(s.Types, "|")
}

func jsonType(typ reflect.Type) string {
	if typ.String() == "time.Time" {
		return "string"
	}
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	}
	return typ.String()
}

// TestSchemaWords: an enum of the schema has exactly the constants of its Go type,
// and Parse takes exactly these.
func TestSchemaWords(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	check, finding := s.Defs["Check"].Properties, s.Defs["Finding"].Properties
	words := constants(t)
	for _, tt := range []struct {
		typ    string
		schema *jsonschema.Schema
		set    func(*Report, string)
	}{
		{"Verdict", s.Properties["verdict"], func(r *Report, w string) { r.Verdict = Verdict(w) }},
		{"Outcome", s.Properties["outcome"], func(r *Report, w string) { r.Outcome = Outcome(w) }},
		{"Kind", check["kind"], func(r *Report, w string) { r.Checks[0].Kind = Kind(w) }},
		{"Result", check["result"], func(r *Report, w string) { r.Checks[0].Result = Result(w) }},
		{"Support", check["support"], func(r *Report, w string) { r.Checks[0].Support = Support(w) }},
		{"Reproduction", check["reproduction"], func(r *Report, w string) { r.Checks[0].Reproduction = Reproduction(w) }},
		{"Severity", finding["severity"], func(r *Report, w string) { r.Findings[0].Severity = Severity(w) }},
		{"", s.Properties["trigger"], func(r *Report, w string) { r.Trigger = w }},
		{"", s.Properties["trust"], func(r *Report, w string) { r.Trust = w }},
		{"", s.Defs["Sandbox"].Properties["tier"], func(r *Report, w string) { r.Sandbox.Tier = w }},
	} {
		var enum []string
		for _, v := range tt.schema.Enum {
			enum = append(enum, v.(string))
		}
		if want := words[tt.typ]; tt.typ != "" {
			slices.Sort(want)
			if diff := cmp.Diff(want, slices.Sorted(slices.Values(enum))); diff != "" {
				t.Errorf("%s (-Go +schema):\n%s", tt.typ, diff)
			}
		}
		for _, w := range append(enum, "Nonsense") {
			r := &Report{
				Verdict: Pass, Outcome: Completed, Trigger: "cli", Trust: "local",
				Checks: []Check{{Kind: KindTest, Result: ResultPass}}, Findings: []Finding{{Severity: SeverityInfo}},
			}
			tt.set(r, w)
			if _, err := r.JSON(); (err == nil) != (w != "Nonsense") {
				t.Errorf("%s %q: %v", tt.typ, w, err)
			}
		}
	}
}

// constants returns the string constants of report.go by type.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "report.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Type == nil || len(v.Values) != 1 {
			return true
		}
		lit, ok := v.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		word, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		typ := v.Type.(*ast.Ident).Name
		out[typ] = append(out[typ], word)
		return true
	})
	return out
}
