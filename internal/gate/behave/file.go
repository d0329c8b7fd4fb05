package behave

import (
	_ "embed" // of the driver
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

//go:embed driver_test.go
var driver string

// A known is values of a type that cannot be made of its parts, for packages that use it.
type known struct{ imports, values string }

// knowns are those of the standard library, by what a package has to import already: what
// else would be compiled for them costs more than they bring.
func knowns() map[string]known {
	return map[string]known{
		"net/http": {`"net/http"; "net/http/httptest"`, `
		{"httptest.NewRequest(\"GET\", \"/\", nil)", func() interface{} { return httptest.NewRequest("GET", "/", nil) }},
		{"httptest.NewRequest(\"POST\", \"/a/b?c=d&c=e\", strings.NewReader(\"e=f\"))", func() interface{} { return httptest.NewRequest("POST", "/a/b?c=d&c=e", strings.NewReader("e=f")) }},
		{"httptest.NewRecorder()", func() interface{} { return httptest.NewRecorder() }},
		{"http.NotFoundHandler()", func() interface{} { return http.NotFoundHandler() }},`},
		"net/url": {`"net/url"`, `
		{"&url.URL{Path: \"/\"}", func() interface{} { return &url.URL{Path: "/"} }},
		{"&url.URL{Scheme: \"http\", Host: \"a.example\", Path: \"/b\", RawQuery: \"c=d\"}", func() interface{} { return &url.URL{Scheme: "http", Host: "a.example", Path: "/b", RawQuery: "c=d"} }},`},
		"regexp": {`"regexp"`, `
		{"regexp.MustCompile(\"a|b\")", func() interface{} { return regexp.MustCompile("a|b") }},
		{"regexp.MustCompile(\"^([a-z]+)=(.*)$\")", func() interface{} { return regexp.MustCompile("^([a-z]+)=(.*)$") }},`},
		"math/big": {`"math/big"`, `
		{"big.NewInt(0)", func() interface{} { return big.NewInt(0) }},
		{"big.NewInt(-7)", func() interface{} { return big.NewInt(-7) }},
		{"big.NewInt(1000003)", func() interface{} { return big.NewInt(1000003) }},`},
		"io/fs": {`"testing/fstest"`, `
		{"fstest.MapFS{\"a\": {Data: []byte(\"1\\n\")}, \"b/c\": {}}", func() interface{} { return fstest.MapFS{"a": {Data: []byte("1\n")}, "b/c": {}} }},`},
	}
}

// File is the test file that calls the functions, in the test of this name.
func (p Plan) File(test string) string {
	body := driver[strings.Index(driver, "\nimport ("):]
	var more, values strings.Builder
	all := knowns()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if p.imports[path] {
			for i := range strings.SplitSeq(all[path].imports, "; ") {
				if !strings.Contains(body, "\n\t"+i+"\n") {
					more.WriteString("import " + i + "\n")
				}
			}
			values.WriteString(all[path].values)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n%s%s\nconst zzTestName = %q\n\n", p.clause, more.String(), body, test)
	fmt.Fprintf(&b, "func %s(t *testing.T) { zzMain(t, zzAll()) }\n\nfunc init() { zzListen(zzAll) }\n\nfunc zzAll() zzTable {\n\treturn zzTable{\n\t\tfuncs: []zzFunc{\n", test)
	for _, f := range p.Functions {
		fmt.Fprintf(&b, "\t\t\t{name: %q, f: %s, method: %v,\n\t\t\t\tints: %s, floats: %s, strs: []string{%s},\n", f.Name, f.Name, f.Method, ints(f.words.ints), floats(f.words.floats), quoteAll(f.words.strings))
		b.WriteString("\t\t\t\tgiven: []zzGiven{")
		for _, g := range f.given {
			fmt.Fprintf(&b, "\n\t\t\t\t\t{%q, %v, func() []interface{} { return []interface{}{%s} }},", g.text(), g.base, g.text())
		}
		b.WriteString("},\n\t\t\t\trecorded: []zzTaken{")
		for _, r := range f.recorded {
			fmt.Fprintf(&b, "\n\t\t\t\t\t{%q, %v, %q},", r.code, r.base, r.test)
		}
		b.WriteString("}},\n")
	}
	b.WriteString("\t\t},\n\t\tctors: []zzCtor{")
	for _, c := range p.ctors {
		fmt.Fprintf(&b, "{%q, %s}, ", c, c)
	}
	b.WriteString("},\n\t\ttypes: []interface{}{")
	for _, t := range p.types {
		fmt.Fprintf(&b, "(*%s)(nil), ", t)
	}
	b.WriteString("},\n\t\terrs: map[string]error{")
	for _, e := range p.errs {
		fmt.Fprintf(&b, "%q: %s, ", e, e)
	}
	b.WriteString("},\n\t\taltered: map[string][]string{")
	for _, a := range p.altered {
		fmt.Fprintf(&b, "%q: {%s}, ", a.name, quoteAll(a.fields))
	}
	fmt.Fprintf(&b, "},\n\t\tknown: []zzKnown{%s},\n\t}\n}\n", values.String())
	return b.String()
}

func ints(list []int64) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return "[]int64{" + strings.Join(out, ", ") + "}"
}

func floats(list []float64) string {
	var out []string
	for _, n := range list {
		out = append(out, strconv.FormatFloat(n, 'g', -1, 64))
	}
	return "[]float64{" + strings.Join(out, ", ") + "}"
}
