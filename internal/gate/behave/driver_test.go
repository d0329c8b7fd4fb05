package behave

// This file is laid, under the package clause of a project's package, beside its sources,
// with a table of the functions to call (see [Plan.File]). It is written for go 1.13 and
// newer, uses nothing but the standard library, and all its names begin with zz. Here it
// is compiled as a test, so that its parts are tested.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"os/exec"
	zzpath "path/filepath"
	"reflect"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"
)

// A zzTable is what is called, and what inputs are made of. It is the same on both sides.
type zzTable struct {
	funcs   []zzFunc
	ctors   []zzCtor
	types   []interface{}       // pointers to nil of the package's types that have methods
	errs    map[string]error    // errors of the package that others look for
	altered map[string][]string // types that the change declares otherwise, and the fields that can be compared
	known   []zzKnown           // values of types that cannot be made of their parts
}

type zzFunc struct {
	name     string
	f        interface{}
	method   bool // its first argument is the receiver
	given    []zzGiven
	recorded []zzTaken
	ints     []int64
	floats   []float64
	strs     []string
}

type zzCtor struct {
	name string
	f    interface{}
}

// A zzGiven is an input that stands in the tree.
type zzGiven struct {
	src  string
	base bool // in the tree of the base
	make func() []interface{}
}

// A zzTaken is an input that was recorded while a test ran.
type zzTaken struct {
	code string // see zzWriter
	base bool   // it says as much as an input that stands in the tree of the base
	test string // in which it was
}

type zzKnown struct {
	src  string
	make func() interface{}
}

// A zzValue makes a value, a new one each time, because functions change what they get.
type zzValue struct {
	src  string
	prep []string // statements before src
	make func() reflect.Value
}

// Bounds. None of them depends on the machine.
const (
	zzMost     = 250 // inputs of a function
	zzRandom   = 80  // of these, that are not in the order of their size
	zzDeep     = 4   // levels of what is made
	zzForms    = 16 << 10
	zzFormDeep = 9
	zzHangs    = 4 // of a function in a pass
	zzHangsAll = 2 // of one that has come back from no call so far
	zzPairs    = 1000
	zzPairsAll = 50000 // of a map, above which its size stands for all
)

// What became of a call.
const (
	zzReturned = 'r'
	zzFailed   = 'e' // returned an error
	zzPanicked = 'p'
	zzHung     = 'h'
	zzEnded    = 'x' // the process ended
	zzSkipped  = '-'
	zzUnstable = '~'
)

// zzPause is how long a process may do something else than a call: begin, with its
// TestMain, and make inputs.
const zzPause = 20 * time.Second

// zzLimit is how long a call may take, zzTime how long the calls of a function, when all
// are made, and zzSlow from when on a call is a slow one.
const (
	zzLimit = time.Second
	zzSlow  = 250 * time.Millisecond
	zzTime  = 1500 * time.Millisecond
)

// --- making values

type zzMaker struct {
	t    *zzTable
	f    *zzFunc
	all  map[string][]zzValue
	busy map[reflect.Type]bool
}

func zzNewMaker(t *zzTable, f *zzFunc) *zzMaker {
	return &zzMaker{t: t, f: f, all: map[string][]zzValue{}, busy: map[reflect.Type]bool{}}
}

var (
	zzErrorType = reflect.TypeOf((*error)(nil)).Elem()
	zzTimeType  = reflect.TypeOf(time.Time{})
)

type zzBrokenWriter struct{}

func (zzBrokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

type zzBrokenReader struct{}

func (zzBrokenReader) Read([]byte) (int, error) { return 0, errors.New("broken") }

// zzCommon are values for interfaces and for types of the standard library.
func zzCommon() []zzKnown {
	return []zzKnown{
		{"errors.New(\"e\")", func() interface{} { return errors.New("e") }},
		{"new(bytes.Buffer)", func() interface{} { return new(bytes.Buffer) }},
		{"strings.NewReader(\"a b\\nc\")", func() interface{} { return strings.NewReader("a b\nc") }},
		{"strings.NewReader(\"\")", func() interface{} { return strings.NewReader("") }},
		{"brokenWriter{}", func() interface{} { return zzBrokenWriter{} }},
		{"brokenReader{}", func() interface{} { return zzBrokenReader{} }},
		{"context.Background()", func() interface{} { return context.Background() }},
		{"time.UTC", func() interface{} { return time.UTC }},
		{"time.FixedZone(\"\", 9000)", func() interface{} { return time.FixedZone("", 9000) }},
		{"time.FixedZone(\"\", -28800)", func() interface{} { return time.FixedZone("", -28800) }},
		{"time.Date(2024, 2, 29, 23, 30, 15, 500000000, time.UTC)", func() interface{} { return time.Date(2024, 2, 29, 23, 30, 15, 500000000, time.UTC) }},
		{"time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)", func() interface{} { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"time.Date(2025, 7, 6, 12, 0, 0, 1, time.FixedZone(\"\", 9000))", func() interface{} {
			return time.Date(2025, 7, 6, 12, 0, 0, 1, time.FixedZone("", 9000))
		}},
		{"time.Unix(0, 0).UTC()", func() interface{} { return time.Unix(0, 0).UTC() }},
	}
}

// zzAny are values where any will do.
func zzAny() []zzKnown {
	return []zzKnown{
		{"1", func() interface{} { return 1 }}, {"\"a\"", func() interface{} { return "a" }}, {"true", func() interface{} { return true }},
		{"1.5", func() interface{} { return 1.5 }}, {"[]int{1, 2}", func() interface{} { return []int{1, 2} }},
		{"map[string]interface{}{\"a\": 1}", func() interface{} { return map[string]interface{}{"a": 1} }},
		{"errors.New(\"e\")", func() interface{} { return errors.New("e") }}, {"[]byte(\"a\")", func() interface{} { return []byte("a") }},
		{"int64(-1)", func() interface{} { return int64(-1) }}, {"\"\"", func() interface{} { return "" }}, {"uint8(255)", func() interface{} { return uint8(255) }},
	}
}

// values are those of a type in the order of their size; none where it cannot be made.
func (m *zzMaker) values(t reflect.Type, deep int) []zzValue {
	key := t.String() + "@" + strconv.Itoa(deep)
	if have, ok := m.all[key]; ok {
		return have
	}
	if deep > zzDeep || m.busy[t] {
		if t.Kind() == reflect.Ptr || t.Kind() == reflect.Slice || t.Kind() == reflect.Map || t.Kind() == reflect.Interface {
			return []zzValue{m.zero(t)}
		}
		if deep > zzDeep {
			return nil
		}
	}
	m.busy[t] = true
	out := m.fresh(t, deep)
	delete(m.busy, t)
	most := 60
	if deep > 0 {
		most = 14
	}
	if deep > 1 {
		most = 7
	}
	if len(out) > most {
		out = out[:most]
	}
	m.all[key] = out
	return out
}

func (m *zzMaker) zero(t reflect.Type) zzValue {
	src := "*new(" + zzName(t) + ")"
	switch t.Kind() {
	case reflect.Ptr, reflect.Slice, reflect.Map, reflect.Interface, reflect.Func, reflect.Chan:
		src = "nil"
	case reflect.Struct:
		src = zzName(t) + "{}"
	}
	return zzValue{src: src, make: func() reflect.Value { return reflect.Zero(t) }}
}

func (m *zzMaker) knownOf(t reflect.Type) []zzValue {
	var out []zzValue
	for _, k := range append(zzCommon(), m.t.known...) {
		k := k
		v := reflect.TypeOf(k.make())
		if v == t || t.Kind() == reflect.Interface && t.NumMethod() > 0 && v.Implements(t) {
			out = append(out, zzValue{src: k.src, make: func() reflect.Value { return zzAs(reflect.ValueOf(k.make()), t) }})
		}
	}
	return out
}

// zzAs is a value as one of a type that it can be assigned to.
func zzAs(v reflect.Value, t reflect.Type) reflect.Value {
	out := reflect.New(t).Elem()
	if v.IsValid() {
		out.Set(v)
	}
	return out
}

func (m *zzMaker) fresh(t reflect.Type, deep int) []zzValue {
	if known := m.knownOf(t); len(known) > 0 {
		switch t.Kind() {
		case reflect.Struct:
			known = append([]zzValue{m.zero(t)}, known...)
		case reflect.Interface, reflect.Ptr:
			known = append(known, m.zero(t))
		}
		return known
	}
	if m.own(t) || t.Kind() == reflect.Ptr && m.own(t.Elem()) {
		if made := m.constructed(t, deep); len(made) > 0 {
			if made = append(made, m.empty(t)); t.Kind() == reflect.Ptr {
				made = append(made, m.zero(t))
			}
			return made
		}
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32, reflect.Float64, reflect.String:
		return m.basic(t)
	case reflect.Slice, reflect.Array:
		return m.lists(t, deep)
	case reflect.Map:
		return m.maps(t, deep)
	case reflect.Ptr:
		out := []zzValue{}
		for _, v := range m.values(t.Elem(), deep+1) {
			v := v
			name := zzName(t.Elem())
			src := "&" + v.src
			if !strings.HasPrefix(v.src, name+"{") {
				x := v.src
				if t.Elem().Kind() != reflect.Struct {
					x = zzTypeOf(t.Elem()) + "(" + x + ")"
				}
				src = "func() " + zzName(t) + " { x := " + x + "; return &x }()"
			}
			out = append(out, zzValue{src: src, make: func() reflect.Value {
				p := reflect.New(t.Elem())
				p.Elem().Set(v.make())
				return zzAs(p, t)
			}})
		}
		return append(out, m.zero(t))
	case reflect.Struct:
		return m.structs(t, deep)
	case reflect.Interface:
		return m.interfaces(t)
	case reflect.Func:
		return m.stubs(t)
	case reflect.Complex64, reflect.Complex128:
		return []zzValue{m.zero(t), {src: "1i", make: func() reflect.Value { return reflect.ValueOf(1i).Convert(t) }}}
	}
	return nil
}

// own says whether a type is one that the package declares.
func (m *zzMaker) own(t reflect.Type) bool { return t.Name() != "" && t.PkgPath() == zzPkgPath() }

func zzPkgPath() string { return reflect.TypeOf(zzTable{}).PkgPath() }

// empty is a pointer to the zero value, or that.
func (m *zzMaker) empty(t reflect.Type) zzValue {
	if t.Kind() != reflect.Ptr {
		return m.zero(t)
	}
	return zzValue{src: "new(" + zzName(t.Elem()) + ")", make: func() reflect.Value { return zzAs(reflect.New(t.Elem()), t) }}
}

// constructed are values that functions of the package make.
func (m *zzMaker) constructed(t reflect.Type, deep int) []zzValue {
	var out []zzValue
	for _, c := range m.t.ctors {
		f := reflect.ValueOf(c.f)
		ft := f.Type()
		if ft.NumOut() == 0 || ft.Out(0) != t {
			continue
		}
		lists, ok := m.arguments(ft, 0, deep+1)
		if !ok {
			continue
		}
		n := 0
		for _, at := range zzTuples(lists, 24, 0) {
			args, src := zzPick(lists, at), c.name+"("+zzSources(lists, at, ft.IsVariadic())+")"
			if ft.NumOut() > 1 {
				src = "func() " + zzName(t) + " { x, _ := " + src + "; return x }()"
			}
			v := zzValue{src: src, make: func() reflect.Value {
				in := args()
				var res []reflect.Value
				if ft.IsVariadic() {
					res = f.CallSlice(in)
				} else {
					res = f.Call(in)
				}
				if last := res[len(res)-1]; len(res) > 1 && last.Type() == zzErrorType && !last.IsNil() {
					panic("not made")
				}
				return res[0]
			}}
			if zzMakes(v) {
				out = append(out, v)
				if n++; n == 5 {
					break
				}
			}
		}
	}
	return out
}

// zzMakes says whether a value can be made.
func zzMakes(v zzValue) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	got := v.make()
	return got.Kind() != reflect.Ptr || !got.IsNil()
}

func (m *zzMaker) basic(t reflect.Type) []zzValue {
	var out []zzValue
	named := t.PkgPath() != "" || t.Kind() != reflect.Int && t.Kind() != reflect.String && t.Kind() != reflect.Float64 && t.Kind() != reflect.Bool
	add := func(v reflect.Value, src string) {
		if named {
			src = zzName(t) + "(" + src + ")"
		}
		for _, have := range out {
			if have.src == src {
				return
			}
		}
		out = append(out, zzValue{src: src, make: func() reflect.Value { return v }})
	}
	switch t.Kind() {
	case reflect.Bool:
		for _, b := range []bool{false, true} {
			add(reflect.ValueOf(b).Convert(t), strconv.FormatBool(b))
		}
	case reflect.Float32, reflect.Float64:
		list := append([]float64{0, 1, -1, 0.5, -0.5, 2}, m.f.floats...)
		for _, n := range m.f.ints {
			list = append(list, float64(n))
		}
		for _, f := range append(list, 1.5, -1.5, 2.5, 0.1, 1e-9, 3, 10, 100, -100, 1e15, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64) {
			add(reflect.ValueOf(f).Convert(t), strconv.FormatFloat(f, 'g', -1, 64))
		}
		add(reflect.ValueOf(math.NaN()).Convert(t), "math.NaN()")
		add(reflect.ValueOf(math.Inf(1)).Convert(t), "math.Inf(1)")
		add(reflect.ValueOf(math.Inf(-1)).Convert(t), "math.Inf(-1)")
	case reflect.String:
		for _, s := range zzStrings(m.f.strs) {
			add(reflect.ValueOf(s).Convert(t), strconv.Quote(s))
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		for _, n := range zzInts(m.f.ints) {
			if n >= 0 && !reflect.Zero(t).OverflowUint(uint64(n)) {
				add(reflect.ValueOf(uint64(n)).Convert(t), strconv.FormatInt(n, 10))
			}
		}
		most := uint64(math.MaxUint64) >> (64 - uint(t.Bits()))
		add(reflect.ValueOf(most).Convert(t), strconv.FormatUint(most, 10))
	default:
		most := int64(math.MaxInt64) >> (64 - uint(t.Bits()))
		for i, n := range zzInts(m.f.ints) {
			if i == 10 {
				add(reflect.ValueOf(most).Convert(t), strconv.FormatInt(most, 10))
				add(reflect.ValueOf(-most-1).Convert(t), strconv.FormatInt(-most-1, 10))
			}
			if !reflect.Zero(t).OverflowInt(n) {
				add(reflect.ValueOf(n).Convert(t), strconv.FormatInt(n, 10))
			}
		}
	}
	return out
}

// zzInts are numbers, those of the change and their neighbours first but for the smallest.
func zzInts(literals []int64) []int64 {
	list := []int64{0, 1, -1, 2, 3, -2}
	for _, n := range literals {
		list = append(list, n, n+1, n-1, -n)
	}
	return append(list, -3, 5, 10, -10, 4, 6, 7, 8, 9, 11, 12, 15, 16, 20, 31, 32, 63, 64, 99, 100, -100, 127, 255, 256, 999, 1000, 1001, 1024, 65536, 1000000)
}

func zzStrings(literals []string) []string {
	list := []string{"", "a", "b"}
	for _, s := range literals {
		list = append(list, s)
	}
	list = append(list, "ab", "é", "A", " ", "0", "1", "-1", "a b", "日本語", "a,b", "a/b", "\n", "a=b", "B", "10", "1.5", "/", ".", "../a", "a.b", "%", "-", "_", "a\nb", "\x00", "\xff", "  a ", "aa", "aB", "true", "null", "[]", "{}", "\"")
	for _, s := range literals {
		list = append(list, s+"a", "a"+s, "a"+s+"b", s+s, strings.ToUpper(s))
		if len(s) > 1 {
			list = append(list, s[:len(s)-1], s[1:])
		}
	}
	return append(list, strings.Repeat("a", 40), strings.Repeat("ab ", 100))
}

func (m *zzMaker) lists(t reflect.Type, deep int) []zzValue {
	elems := m.values(t.Elem(), deep+1)
	if len(elems) == 0 && t.Kind() == reflect.Slice {
		return []zzValue{m.zero(t)}
	}
	name := zzName(t)
	build := func(at ...int) zzValue {
		var src []string
		for _, i := range at {
			src = append(src, elems[i].src)
		}
		return zzValue{src: name + "{" + strings.Join(src, ", ") + "}", make: func() reflect.Value {
			v := reflect.New(t).Elem()
			if t.Kind() == reflect.Slice {
				v.Set(reflect.MakeSlice(t, len(at), len(at)))
			}
			for i, e := range at {
				v.Index(i).Set(elems[e].make())
			}
			return v
		}}
	}
	if t.Kind() == reflect.Array {
		out := []zzValue{m.zero(t)}
		for i := range elems {
			var at []int
			for j := 0; j < t.Len() && j < 64; j++ {
				at = append(at, (i+j)%len(elems))
			}
			if len(at) == t.Len() {
				out = append(out, build(at...))
			}
		}
		return out
	}
	var out []zzValue
	if t.Elem().Kind() == reflect.Uint8 && t.Elem().PkgPath() == "" {
		for _, s := range append([]string{""}, zzStrings(m.f.strs)...) {
			s := s
			out = append(out, zzValue{src: name + "(" + strconv.Quote(s) + ")", make: func() reflect.Value { return reflect.ValueOf([]byte(s)).Convert(t) }})
		}
		out[0] = m.zero(t)
		return out
	}
	out = append(out, m.zero(t))
	for _, at := range [][]int{{0}, {1}, {0, 1}, {1, 0}, {2}, {1, 2}, {2, 1}, {1, 1}, {0, 1, 2}, {2, 0, 1}, {}, {3}, {3, 1, 2}, {4}, {5}, {6}, {7}, {1, 3, 2, 4}, {8}, {9}, {4, 3, 2, 1, 0}, {10}, {11}, {12}, {13}} {
		ok := true
		for _, i := range at {
			ok = ok && i < len(elems)
		}
		if ok {
			out = append(out, build(at...))
		}
	}
	return out
}

func (m *zzMaker) maps(t reflect.Type, deep int) []zzValue {
	keys, elems := m.values(t.Key(), deep+1), m.values(t.Elem(), deep+1)
	out := []zzValue{{src: zzName(t) + "{}", make: func() reflect.Value { return reflect.MakeMap(t) }}}
	for _, at := range [][][2]int{{{0, 0}}, {{1, 1}}, {{1, 0}, {2, 1}}, {{2, 2}}, {{0, 1}, {1, 2}, {2, 0}}, {{3, 3}}, {{4, 1}}} {
		at, src, ok := at, []string{}, true
		for _, p := range at {
			if ok = ok && p[0] < len(keys) && p[1] < len(elems); ok {
				src = append(src, keys[p[0]].src+": "+elems[p[1]].src)
			}
		}
		if ok {
			out = append(out, zzValue{src: zzName(t) + "{" + strings.Join(src, ", ") + "}", make: func() reflect.Value {
				v := reflect.MakeMap(t)
				for _, p := range at {
					v.SetMapIndex(keys[p[0]].make(), elems[p[1]].make())
				}
				return v
			}})
		}
	}
	return append(out, m.zero(t))
}

// structs are the zero value and those that differ from it in some fields. Fields that
// other packages keep for themselves are left alone.
func (m *zzMaker) structs(t reflect.Type, deep int) []zzValue {
	out := []zzValue{m.zero(t)}
	var fields []int
	var lists [][]zzValue
	for _, i := range m.fields(t) {
		f := t.Field(i)
		if f.PkgPath != "" && f.PkgPath != zzPkgPath() || f.Name == "_" {
			continue
		}
		if vs := m.values(f.Type, deep+1); len(vs) > 1 && f.Type.Kind() != reflect.Func || len(vs) > 1 && f.PkgPath == "" {
			fields, lists = append(fields, i), append(lists, vs)
		}
	}
	for _, at := range zzTuples(lists, 40, 12) {
		at := at
		var src []string
		for i, n := range at {
			if n > 0 || !zzZero(lists[i][0]) {
				src = append(src, t.Field(fields[i]).Name+": "+lists[i][n].src)
			}
		}
		if len(src) == 0 {
			continue
		}
		out = append(out, zzValue{src: zzName(t) + "{" + strings.Join(src, ", ") + "}", make: func() reflect.Value {
			v := reflect.New(t).Elem()
			for i, n := range at {
				zzOpen(v.Field(fields[i])).Set(lists[i][n].make())
			}
			return v
		}})
	}
	return out
}

// fields are those of a structure, as they stand; of one that the change declares otherwise
// what is the same on both sides.
func (m *zzMaker) fields(t reflect.Type) []int {
	var out []int
	if shared, ok := m.t.altered[zzTypeKey(t)]; ok && t.Name() != "" {
		for _, name := range shared {
			if f, ok := t.FieldByName(name); ok && len(f.Index) == 1 {
				out = append(out, f.Index[0])
			}
		}
		return out
	}
	for i := 0; i < t.NumField(); i++ {
		out = append(out, i)
	}
	return out
}

func zzZero(v zzValue) bool {
	got := v.make()
	return got.IsValid() && reflect.DeepEqual(zzForm(got, nil, false), zzForm(reflect.Zero(got.Type()), nil, false))
}

// zzOpen is an addressable field without the mark that it is for its package alone.
func zzOpen(v reflect.Value) reflect.Value {
	if v.CanAddr() && !v.CanInterface() {
		return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	return v
}

func (m *zzMaker) interfaces(t reflect.Type) []zzValue {
	var out []zzValue
	if t.NumMethod() == 0 {
		for _, k := range zzAny() {
			k := k
			out = append(out, zzValue{src: k.src, make: func() reflect.Value { return zzAs(reflect.ValueOf(k.make()), t) }})
		}
		return append(out, m.zero(t))
	}
	for _, p := range m.t.types {
		for _, of := range []reflect.Type{reflect.TypeOf(p).Elem(), reflect.TypeOf(p)} {
			if of.Kind() == reflect.Interface || !of.Implements(t) {
				continue
			}
			for i, v := range m.values(of, 2) {
				v := v
				if got := v.make; i < 3 && v.src != "nil" {
					out = append(out, zzValue{src: v.src, prep: v.prep, make: func() reflect.Value { return zzAs(got(), t) }})
				}
			}
			break
		}
	}
	if len(out) == 0 {
		return nil
	}
	return append(out, m.zero(t))
}

// zzCalls is what functions that were given as arguments were called with.
var zzCalls strings.Builder

// stubs are functions that return zero values, or an error. That they are called is seen.
func (m *zzMaker) stubs(t reflect.Type) []zzValue {
	stub := func(with func([]reflect.Value)) func() reflect.Value {
		return func() reflect.Value {
			return reflect.MakeFunc(t, func(in []reflect.Value) []reflect.Value {
				if zzCalls.Len() < 2000 {
					zzCalls.WriteString(" called")
					for _, v := range in {
						zzCalls.WriteString(" " + zzForm(v, nil, false))
					}
				}
				var out []reflect.Value
				for i := 0; i < t.NumOut(); i++ {
					out = append(out, reflect.New(t.Out(i)).Elem())
				}
				with(out)
				return out
			})
		}
	}
	body := func(last string) string {
		var ins, outs []string
		for i := 0; i < t.NumIn(); i++ {
			in := "_ " + zzName(t.In(i))
			if t.IsVariadic() && i == t.NumIn()-1 {
				in = "_ ..." + zzName(t.In(i).Elem())
			}
			ins = append(ins, in)
		}
		for i := 0; i < t.NumOut(); i++ {
			outs = append(outs, "r"+strconv.Itoa(i)+" "+zzName(t.Out(i)))
		}
		text := "func(" + strings.Join(ins, ", ") + ") (" + strings.Join(outs, ", ") + ") {"
		if last != "" {
			text += " r" + strconv.Itoa(t.NumOut()-1) + " = " + last + ";"
		}
		if t.NumOut() > 0 {
			text += " return "
		}
		return text + "}"
	}
	out := []zzValue{{src: body(""), make: stub(func([]reflect.Value) {})}}
	if n := t.NumOut(); n > 0 {
		switch last := t.Out(n - 1); {
		case last == zzErrorType:
			out = append(out, zzValue{src: body("errors.New(\"e\")"), make: stub(func(r []reflect.Value) { r[n-1].Set(reflect.ValueOf(errors.New("e"))) })})
		case last.Kind() == reflect.Bool:
			out = append(out, zzValue{src: body("true"), make: stub(func(r []reflect.Value) { r[n-1].SetBool(true) })})
		}
	}
	return append(out, m.zero(t))
}

// arguments are the values of a function's parameters from one on, false where one of
// them cannot be made.
func (m *zzMaker) arguments(t reflect.Type, from, deep int) ([][]zzValue, bool) {
	var out [][]zzValue
	for i := from; i < t.NumIn(); i++ {
		vs := m.values(t.In(i), deep)
		if len(vs) == 0 {
			return nil, false
		}
		out = append(out, vs)
	}
	return out, true
}

// receivers are the values of a method's receiver, and what these are after one call of a
// method.
func (m *zzMaker) receivers(t reflect.Type) []zzValue {
	plain := m.values(t, 0)
	if t.Kind() != reflect.Ptr {
		return plain
	}
	out, rest := plain, []zzValue(nil)
	if len(plain) > 3 {
		out, rest = plain[:3:3], plain[3:]
	}
	first := []zzValue{}
	for _, i := range []int{1, 0, 2} {
		if i >= len(plain) {
			continue
		}
		seen := map[string]bool{}
		for _, of := range m.t.funcs {
			seen[of.name[strings.LastIndex(of.name, ".")+1:]] = of.method
			first = append(first, m.after(plain[i], t, of.name, reflect.ValueOf(of.f), of.method)...)
		}
		for j := 0; j < t.NumMethod() && j < 12; j++ {
			if !seen[t.Method(j).Name] {
				first = append(first, m.after(plain[i], t, t.Method(j).Name, t.Method(j).Func, true)...)
			}
		}
	}
	if len(first) > 60 {
		first = first[:60]
	}
	return append(append(out, first...), rest...)
}

func (m *zzMaker) after(v zzValue, t reflect.Type, name string, f reflect.Value, method bool) []zzValue {
	if !method || f.Type().In(0) != t || v.src == "nil" {
		return nil
	}
	lists, ok := m.arguments(f.Type(), 1, 2)
	if !ok {
		return nil
	}
	if i := strings.LastIndex(name, "."); i >= 0 {
		name = name[i+1:]
	}
	var out []zzValue
	for _, at := range zzTuples(lists, 4, 0) {
		args := zzPick(lists, at)
		prep := []string{"x := " + v.src, "x." + name + "(" + zzSources(lists, at, f.Type().IsVariadic()) + ")"}
		out = append(out, zzValue{src: "x", prep: prep, make: func() reflect.Value {
			x := v.make()
			zzCall(f, append([]reflect.Value{x}, args()...))
			return x
		}})
	}
	return out
}

func zzCall(f reflect.Value, in []reflect.Value) []reflect.Value {
	if f.Type().IsVariadic() {
		return f.CallSlice(in)
	}
	return f.Call(in)
}

func zzPick(lists [][]zzValue, at []int) func() []reflect.Value {
	return func() []reflect.Value {
		var out []reflect.Value
		for i, n := range at {
			out = append(out, lists[i][n].make())
		}
		return out
	}
}

func zzSources(lists [][]zzValue, at []int, variadic bool) string {
	var out []string
	for i, n := range at {
		out = append(out, lists[i][n].src)
	}
	if variadic {
		out[len(out)-1] += "..."
		if out[len(out)-1] == "nil..." {
			out = out[:len(out)-1]
		}
	}
	return strings.Join(out, ", ")
}

// zzTuples are choices of one value of each list, those with the smallest ones first, and
// some more of all.
func zzTuples(lists [][]zzValue, most, more int) [][]int {
	total := 0
	for _, l := range lists {
		total += len(l) - 1
	}
	var out [][]int
	seen := map[string]bool{}
	var walk func(at []int, left int)
	walk = func(at []int, left int) {
		if len(out) >= most {
			return
		}
		if i := len(at); i < len(lists) {
			for n := 0; n < len(lists[i]) && n <= left; n++ {
				walk(append(at[:i:i], n), left-n)
			}
			return
		}
		if left == 0 {
			out = append(out, at)
			seen[fmt.Sprint(at)] = true
		}
	}
	for sum := 0; sum <= total && len(out) < most; sum++ {
		walk(nil, sum)
	}
	random := uint32(1)
	for i := 0; i < more && len(lists) > 1; i++ {
		var at []int
		for _, l := range lists {
			random = random*1664525 + 1013904223
			at = append(at, int(random>>8)%len(l))
		}
		if !seen[fmt.Sprint(at)] {
			seen[fmt.Sprint(at)] = true
			out = append(out, at)
		}
	}
	return out
}

// A zzInput is what a function is called with.
type zzInput struct {
	src   string // of the call, behind the statements that it needs
	prep  []string
	call  string // without those; empty: as src
	at    []int  // in the lists of values; nil: it stands in the tree
	make  func() []reflect.Value
	given bool // it stands in the tree of the base
	taken bool // it was recorded
	form  bool // src is not Go
	test  string
}

// zzInputs are those of a function; none where a type cannot be made. What goes wrong while
// they are made is of this function alone.
func zzInputs(t *zzTable, f *zzFunc) (out []zzInput) {
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	m := zzNewMaker(t, f)
	fv := reflect.ValueOf(f.f)
	ft := fv.Type()
	for _, g := range f.given {
		g := g
		in := zzInput{src: f.name + "(" + g.src + ")", given: g.base, make: func() []reflect.Value {
			var args []reflect.Value
			for i, a := range g.make() {
				args = append(args, zzConvert(a, ft.In(i)))
			}
			return args
		}}
		if len(g.make()) == ft.NumIn() && !ft.IsVariadic() && zzTries(in) {
			out = append(out, in)
		}
	}
	out = append(out, zzRecorded(t, f)...)
	from, lists := 0, [][]zzValue(nil)
	if f.method {
		from, lists = 1, [][]zzValue{m.receivers(ft.In(0))}
		if len(lists[0]) == 0 {
			return out
		}
	}
	rest, ok := m.arguments(ft, from, 0)
	if !ok {
		return out
	}
	lists = append(lists, rest...)
	for _, at := range zzTuples(lists, zzMost-zzRandom, zzRandom) {
		prep, call := zzExpression(f, ft, lists, at)
		out = append(out, zzInput{src: strings.Join(append(append([]string{}, prep...), call), "; "), prep: prep, call: call, at: at, make: zzPick(lists, at)})
	}
	return out
}

// zzExpression is a call as Go has it, behind the statements that it needs.
func zzExpression(f *zzFunc, ft reflect.Type, lists [][]zzValue, at []int) (prep []string, call string) {
	if !f.method {
		return nil, f.name + "(" + zzSources(lists, at, ft.IsVariadic()) + ")"
	}
	recv := lists[0][at[0]]
	name := f.name[strings.LastIndex(f.name, ".")+1:]
	args := zzSources(lists[1:], at[1:], ft.IsVariadic())
	if len(recv.prep) > 0 {
		return recv.prep, "x." + name + "(" + args + ")"
	}
	src := recv.src
	if strings.HasPrefix(src, "&") || src == "nil" || strings.HasPrefix(src, "*") {
		src = "(" + src + ")"
	}
	if src == "(nil)" {
		src = "(" + zzName(ft.In(0)) + ")(nil)"
	}
	return nil, src + "." + name + "(" + args + ")"
}

func zzTries(in zzInput) (ok bool) {
	defer func() { ok = recover() == nil }()
	in.make()
	return true
}

// zzConvert makes an argument that stands in the tree one of a parameter's type.
func zzConvert(a interface{}, t reflect.Type) reflect.Value {
	v := reflect.ValueOf(a)
	switch {
	case !v.IsValid():
		return reflect.Zero(t)
	case v.Type().AssignableTo(t):
		return zzAs(v, t)
	case v.Kind() == t.Kind(), v.Kind() == reflect.Int && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64,
		v.Kind() == reflect.Int32 && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64, v.Kind() == reflect.Float64 && t.Kind() == reflect.Float32:
		return v.Convert(t)
	}
	panic("another type")
}

// zzName is a type as the package writes it.
func zzName(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == zzPkgPath() {
			return zzNear(t.Name())
		}
		return zzNear(t.String())
	}
	switch t.Kind() {
	case reflect.Ptr:
		return "*" + zzName(t.Elem())
	case reflect.Slice:
		return "[]" + zzName(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + zzName(t.Elem())
	case reflect.Map:
		return "map[" + zzName(t.Key()) + "]" + zzName(t.Elem())
	case reflect.Chan:
		return map[reflect.ChanDir]string{reflect.BothDir: "chan ", reflect.RecvDir: "<-chan ", reflect.SendDir: "chan<- "}[t.ChanDir()] + zzName(t.Elem())
	case reflect.Func:
		var ins, outs []string
		for i := 0; i < t.NumIn(); i++ {
			in := zzName(t.In(i))
			if t.IsVariadic() && i == t.NumIn()-1 {
				in = "..." + zzName(t.In(i).Elem())
			}
			ins = append(ins, in)
		}
		for i := 0; i < t.NumOut(); i++ {
			outs = append(outs, zzName(t.Out(i)))
		}
		text := "func(" + strings.Join(ins, ", ") + ")"
		switch {
		case len(outs) == 1:
			text += " " + outs[0]
		case len(outs) > 1:
			text += " (" + strings.Join(outs, ", ") + ")"
		}
		return text
	}
	return t.String()
}

// zzTypeOf is a type as it stands in a conversion.
func zzTypeOf(t reflect.Type) string {
	if name := zzName(t); t.Name() == "" && (t.Kind() == reflect.Ptr || t.Kind() == reflect.Func || t.Kind() == reflect.Chan) {
		return "(" + name + ")"
	}
	return zzName(t)
}

// zzNear is the name of a type whose arguments have import paths in it, with the names of
// packages in place of those.
func zzNear(name string) string {
	i := strings.Index(name, "[")
	if i < 0 {
		return name
	}
	out, word := name[:i], ""
	for _, c := range name[i:] {
		if !strings.ContainsRune("[],*() ", c) {
			word += string(c)
			continue
		}
		out, word = out+zzLast(word)+string(c), ""
	}
	return out
}

func zzLast(word string) string {
	if rest := strings.TrimPrefix(word, zzPkgPath()+"."); rest != word {
		return rest
	}
	return word[strings.LastIndex(word, "/")+1:]
}

// zzTypeKey names a type without its arguments: by its name where it is of the package.
func zzTypeKey(t reflect.Type) string {
	name := t.Name()
	if i := strings.Index(name, "["); i > 0 {
		name = name[:i]
	}
	if p := t.PkgPath(); p != zzPkgPath() {
		return p + "." + name
	}
	return name
}

// --- what can be seen of values

type zzFormer struct {
	b       strings.Builder
	altered map[string][]string
	soft    bool // without the words of errors, and nil as what is empty
	seen    map[unsafe.Pointer]bool
}

// zzForm is what can be seen of a value, the same for what is the same.
func zzForm(v reflect.Value, t *zzTable, soft bool) string {
	f := &zzFormer{soft: soft, seen: map[unsafe.Pointer]bool{}}
	if t != nil {
		f.altered = t.altered
	}
	f.form(v, t, 0)
	return f.b.String()
}

func (f *zzFormer) form(v reflect.Value, t *zzTable, deep int) {
	if !v.IsValid() {
		f.b.WriteString("nil")
		return
	}
	if f.b.Len() > zzForms || deep > zzFormDeep {
		f.b.WriteString("…")
		return
	}
	v = zzOpen(v)
	if fields, ok := f.altered[zzTypeKey(v.Type())]; ok && v.Type().Name() != "" {
		f.b.WriteString(v.Type().Name() + "{")
		for _, name := range fields {
			f.b.WriteString(name + ":")
			f.form(v.FieldByName(name), t, deep+1)
			f.b.WriteString(" ")
		}
		f.b.WriteString("…}")
		return
	}
	if v.CanInterface() && f.special(v, t) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		f.b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		f.b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		f.b.WriteString(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		f.b.WriteString(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case reflect.Complex64, reflect.Complex128:
		f.b.WriteString(fmt.Sprint(v.Complex()))
	case reflect.String:
		f.b.WriteString(strconv.Quote(v.String()))
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		f.b.WriteString(v.Type().String())
		if k := v.Kind(); (k == reflect.Func || k == reflect.Chan) && v.IsNil() {
			f.b.WriteString("(nil)")
		}
	case reflect.Interface:
		if v.IsNil() {
			f.b.WriteString("nil")
			return
		}
		if !v.Type().Implements(zzErrorType) {
			f.b.WriteString(v.Elem().Type().String() + ":")
		}
		f.form(v.Elem(), t, deep+1)
	case reflect.Ptr:
		f.pointer(v, t, deep)
	case reflect.Slice, reflect.Array:
		f.list(v, t, deep)
	case reflect.Map:
		f.pairs(v, t, deep)
	case reflect.Struct:
		f.b.WriteString("{")
		other := v.Type().Name() != "" && v.Type().PkgPath() != zzPkgPath()
		for i, n := 0, 0; i < v.NumField(); i++ {
			if other && v.Field(i).IsZero() {
				continue // the other side may have another version of the package, without that
			}
			if n++; n > 1 {
				f.b.WriteString(" ")
			}
			f.b.WriteString(v.Type().Field(i).Name + ":")
			f.form(v.Field(i), t, deep+1)
		}
		f.b.WriteString("}")
	}
}

func (f *zzFormer) pointer(v reflect.Value, t *zzTable, deep int) {
	if v.IsNil() {
		f.b.WriteString("nil")
		return
	}
	p := unsafe.Pointer(v.Pointer())
	if f.seen[p] {
		f.b.WriteString("^")
		return
	}
	f.seen[p] = true
	f.b.WriteString("&")
	f.form(v.Elem(), t, deep+1)
	delete(f.seen, p)
}

func (f *zzFormer) list(v reflect.Value, t *zzTable, deep int) {
	if v.Kind() == reflect.Slice && v.IsNil() && !f.soft {
		f.b.WriteString("nil")
		return
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		f.b.WriteString(strconv.Quote(string(v.Bytes())))
		return
	}
	if v.Kind() == reflect.Slice && v.Len() > 0 {
		p := unsafe.Pointer(v.Pointer())
		if f.seen[p] && deep > 4 {
			f.b.WriteString("^")
			return
		}
		f.seen[p] = true
		defer delete(f.seen, p)
	}
	f.b.WriteString("[")
	for i := 0; i < v.Len() && f.b.Len() < zzForms; i++ {
		if i > 0 {
			f.b.WriteString(" ")
		}
		f.form(v.Index(i), t, deep+1)
	}
	f.b.WriteString("]")
}

func (f *zzFormer) pairs(v reflect.Value, t *zzTable, deep int) {
	if v.IsNil() && !f.soft {
		f.b.WriteString("nil")
		return
	}
	if p := unsafe.Pointer(v.Pointer()); v.Len() > 0 {
		if f.seen[p] {
			f.b.WriteString("^")
			return
		}
		f.seen[p] = true
		defer delete(f.seen, p)
	}
	if v.Len() > zzPairsAll {
		f.b.WriteString("map[…" + strconv.Itoa(v.Len()) + "]")
		return
	}
	of := func(v reflect.Value) string {
		one := &zzFormer{soft: f.soft, seen: f.seen, altered: f.altered}
		one.form(v, t, deep+1)
		return one.b.String()
	}
	type pair struct {
		text string
		key  reflect.Value
	}
	var keys []pair
	for _, k := range v.MapKeys() {
		keys = append(keys, pair{of(k), k})
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i].text < keys[j].text })
	var out []string
	for i, k := range keys {
		if i == zzPairs {
			out = append(out, "…"+strconv.Itoa(v.Len()))
			break
		}
		out = append(out, k.text+":"+of(v.MapIndex(k.key)))
	}
	sort.Strings(out) // keys that look alike
	f.b.WriteString("map[" + strings.Join(out, " ") + "]")
}

// special are values of which something else can be seen than their parts.
func (f *zzFormer) special(v reflect.Value, t *zzTable) bool {
	if v.Kind() == reflect.Ptr && v.IsNil() {
		return false
	}
	if v.Type() == zzTimeType {
		at := v.Interface().(time.Time)
		if now := time.Since(at); now < time.Hour && now > -time.Hour {
			f.b.WriteString("now")
			return true
		}
		f.b.WriteString(at.Format(time.RFC3339Nano))
		return true
	}
	if v.Kind() == reflect.Interface {
		return false
	}
	if v.Type().PkgPath() == "context" || v.Kind() == reflect.Ptr && (v.Type().Elem().PkgPath() == "context" || v.Type().Elem().PkgPath() == "bufio") {
		f.b.WriteString(v.Type().String())
		return true
	}
	switch x := v.Interface().(type) {
	case reflect.Type:
		f.b.WriteString(fmt.Sprint(x))
		return true
	case *bytes.Buffer:
		f.b.WriteString(strconv.Quote(x.String()))
		return true
	case *strings.Builder:
		f.b.WriteString(strconv.Quote(x.String()))
		return true
	case *strings.Reader, *bytes.Reader: // how far it was read is no promise of those who read
		f.b.WriteString(v.Type().String())
		return true
	case *time.Location:
		f.b.WriteString(x.String())
		return true
	case error:
		f.failure(x, v, t)
		return true
	}
	return false
}

// failure is what can be seen of an error.
func (f *zzFormer) failure(err error, v reflect.Value, t *zzTable) {
	own := func(e interface{}) bool {
		of := reflect.TypeOf(e)
		if of.Kind() == reflect.Ptr {
			of = of.Elem()
		}
		return of.PkgPath() == zzPkgPath()
	}
	f.b.WriteString("error")
	if t != nil {
		var is []string
		for name, e := range t.errs {
			if e != nil && errors.Is(err, e) {
				is = append(is, name)
			}
		}
		sort.Strings(is)
		for _, name := range is {
			f.b.WriteString(" is " + name)
		}
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if own(e) {
			f.b.WriteString(" as " + reflect.TypeOf(e).String())
		}
	}
	if !f.soft {
		f.b.WriteString(" " + strconv.Quote(err.Error()))
	}
}

// --- recording

// Bounds of what is recorded of a function.
const (
	zzTakes     = 100      // inputs
	zzTakesEach = 4        // of one test
	zzTakesMore = 20       // above that, of all tests
	zzSeen      = 5000     // calls that are looked at
	zzTakenSize = 4 << 10  // bytes of one
	zzTakenAll  = 64 << 10 // bytes
	zzTakenMost = 2000     // values in one
	zzTakenDeep = 40
)

// zzRecorder is set where calls are recorded; what is called before, while variables are
// made, is not.
var zzRecorder func(f int, args []interface{})

// zzNote stands at the beginning of each function whose calls are recorded.
func zzNote(f int, args ...interface{}) {
	if zzRecorder != nil {
		zzRecorder(f, args)
	}
}

// zzListen begins to print what functions are called with, each input once.
func zzListen(table func() zzTable) {
	if os.Getenv(zzCallsVar) != zzRecording {
		return
	}
	t, out, busy := table(), os.Stdout, int32(0)
	taken, calls, size := make([]map[string]bool, len(t.funcs)), make([]int, len(t.funcs)), make([]int, len(t.funcs))
	each, more := make([]map[string]int, len(t.funcs)), make([]int, len(t.funcs))
	types := zzTypes(&t)
	zzRecorder = func(f int, args []interface{}) {
		// Nothing that is called here is recorded, and no one waits.
		if !atomic.CompareAndSwapInt32(&busy, 0, 1) {
			return
		}
		defer atomic.StoreInt32(&busy, 0)
		if calls[f]++; calls[f] > zzSeen || len(taken[f]) >= zzTakes {
			return
		}
		code, base, ok := zzWrite(&t, types, reflect.TypeOf(t.funcs[f].f), args)
		if !ok || taken[f][code] || size[f]+len(code) > zzTakenAll {
			return
		}
		if taken[f] == nil {
			taken[f], each[f] = map[string]bool{}, map[string]int{}
		}
		test := zzRunning()
		if each[f][test]++; each[f][test] > zzTakesEach {
			if more[f]++; more[f] > zzTakesMore {
				return
			}
		}
		size[f] += len(code)
		taken[f][code] = true
		b, _ := json.Marshal(zzAnswer{Name: t.funcs[f].name, Code: code, Base: base, Test: test})
		out.Write([]byte("\ncalls: " + string(b) + "\n"))
	}
}

// zzRunning is the test that calls; empty: it is not known.
func zzRunning() string {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		name := f.Function[strings.LastIndex(f.Function, "/")+1:]
		for _, part := range strings.Split(name, ".") {
			if strings.HasSuffix(f.File, "_test.go") && strings.HasPrefix(part, "Test") && part != "TestMain" {
				return part
			}
		}
	}
	return ""
}

// zzTypes are the types that values of interfaces may have, by their names; nil: two have
// the same name.
func zzTypes(t *zzTable) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	var add func(of reflect.Type)
	add = func(of reflect.Type) {
		if have, ok := out[of.String()]; ok {
			if have != of {
				out[of.String()] = nil
			}
			return
		}
		out[of.String()] = of
		switch of.Kind() {
		case reflect.Ptr, reflect.Slice, reflect.Array, reflect.Chan:
			add(of.Elem())
		case reflect.Map:
			add(of.Key())
			add(of.Elem())
		case reflect.Struct:
			for i := 0; i < of.NumField(); i++ {
				add(of.Field(i).Type)
			}
		case reflect.Func:
			for i := 0; i < of.NumIn(); i++ {
				add(of.In(i))
			}
			for i := 0; i < of.NumOut(); i++ {
				add(of.Out(i))
			}
		}
		if of.Kind() != reflect.Ptr && of.Kind() != reflect.Interface && of.Name() != "" {
			add(reflect.PtrTo(of))
		}
	}
	for _, k := range append(append(zzCommon(), zzAny()...), t.known...) {
		add(reflect.TypeOf(k.make()))
	}
	for _, v := range []interface{}{[]string{}, []interface{}{}, map[string]string{}, int8(0), int16(0), int32(0), uint(0), uint16(0), uint32(0), uint64(0), float32(0), bytes.NewReader(nil), fmt.Errorf("%w", io.EOF), time.Second, time.Time{}} {
		add(reflect.TypeOf(v))
	}
	for _, f := range t.funcs {
		add(reflect.TypeOf(f.f))
	}
	for _, c := range t.ctors {
		add(reflect.TypeOf(c.f))
	}
	for _, p := range t.types {
		add(reflect.TypeOf(p))
	}
	return out
}

// A zzWriter writes a value so that another process can make it again. Basic values are
// their text, lists are lists, maps lists of pairs, structures maps by field, pointers
// lists of a number and, the first time, what they point to, and values of interfaces lists
// of a type and the value.
type zzWriter struct {
	t     *zzTable
	types map[string]reflect.Type
	seen  map[zzPlace]int
	left  int
	base  bool // nothing but basic values, and lists and maps of them
}

type zzPlace struct {
	at unsafe.Pointer
	of reflect.Type
}

// A zzUnfit is a value that cannot be written.
type zzUnfit struct{}

// zzWrite writes the arguments of a call.
func zzWrite(t *zzTable, types map[string]reflect.Type, ft reflect.Type, args []interface{}) (code string, base, ok bool) {
	w := &zzWriter{t: t, types: types, seen: map[zzPlace]int{}, left: zzTakenMost, base: true}
	defer func() {
		if p := recover(); p != nil {
			code, base, ok = "", false, false
		}
	}()
	var list []interface{}
	for i, a := range args {
		list = append(list, w.code(zzAs(reflect.ValueOf(a), ft.In(i)), 0))
	}
	b, err := json.Marshal(list)
	return string(b), w.base, err == nil && len(b) <= zzTakenSize
}

func (w *zzWriter) code(v reflect.Value, deep int) interface{} {
	if w.left--; w.left < 0 || deep > zzTakenDeep {
		panic(zzUnfit{})
	}
	v = zzOpen(v)
	t := v.Type()
	if code, ok := w.special(v); ok {
		w.base = false
		return code
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.String:
		return zzText(v.String())
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return nil
		}
		if v.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			return zzText(string(v.Bytes()))
		}
		out := []interface{}{}
		for i := 0; i < v.Len(); i++ {
			out = append(out, w.code(v.Index(i), deep+1))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		pairs := []string{}
		all := map[string]interface{}{}
		for it := v.MapRange(); it.Next(); {
			pair := []interface{}{w.code(zzAs(it.Key(), t.Key()), deep+1), w.code(zzAs(it.Value(), t.Elem()), deep+1)}
			b, _ := json.Marshal(pair)
			pairs = append(pairs, string(b))
			all[string(b)] = pair
		}
		sort.Strings(pairs)
		out := []interface{}{}
		for _, p := range pairs {
			out = append(out, all[p])
		}
		return out
	}
	w.base = false
	switch v.Kind() {
	case reflect.Ptr:
		if v.IsNil() {
			return nil
		}
		at := zzPlace{unsafe.Pointer(v.Pointer()), t}
		if n, ok := w.seen[at]; ok {
			return []interface{}{n}
		}
		n := len(w.seen)
		w.seen[at] = n
		return []interface{}{n, w.code(v.Elem(), deep+1)}
	case reflect.Struct:
		out := map[string]interface{}{}
		for i := 0; i < v.NumField(); i++ {
			if name := t.Field(i).Name; name != "_" {
				out[name] = w.code(v.Field(i), deep+1)
			}
		}
		return out
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		of := v.Elem().Type()
		if w.types[of.String()] != of {
			panic(zzUnfit{})
		}
		return []interface{}{of.String(), w.code(zzAs(v.Elem(), of), deep+1)}
	case reflect.Func:
		if v.IsNil() {
			return nil
		}
		return "func"
	}
	if (v.Kind() == reflect.Chan || v.Kind() == reflect.UnsafePointer) && v.Pointer() == 0 {
		return nil
	}
	panic(zzUnfit{})
}

// special are values that are written otherwise than by their parts, and those that are
// not: the change declares them differently.
func (w *zzWriter) special(v reflect.Value) (interface{}, bool) {
	t := v.Type()
	if _, ok := w.t.altered[zzTypeKey(t)]; ok && t.Name() != "" {
		panic(zzUnfit{})
	}
	switch {
	case zzUnlocked(t):
		return nil, true
	case t == zzTimeType:
		return v.Interface().(time.Time).Format(time.RFC3339Nano), true
	case t == reflect.TypeOf(strings.Builder{}):
		return zzText(v.Addr().Interface().(*strings.Builder).String()), true
	case t == reflect.TypeOf(time.UTC):
		if v.IsNil() {
			return nil, true
		}
		return v.Interface().(*time.Location).String(), true
	case v.Kind() == reflect.Interface && !v.IsNil() && zzOfContext(v.Elem().Type()):
		return "context", true
	}
	return nil, false
}

// zzUnlocked are types of which a new one is as good, and another one may be held.
func zzUnlocked(t reflect.Type) bool {
	return t.PkgPath() == "sync" && (t.Name() == "Mutex" || t.Name() == "RWMutex" || t.Name() == "WaitGroup" || t.Name() == "Pool" || t.Name() == "Cond")
}

func zzOfContext(t reflect.Type) bool {
	if t.Kind() == reflect.Ptr {
		t = t.Elem()
	}
	return t.PkgPath() == "context"
}

// zzText is a text that JSON keeps as it is.
func zzText(s string) string {
	if utf8.ValidString(s) {
		return "=" + s
	}
	return "~" + base64.StdEncoding.EncodeToString([]byte(s))
}

// A zzReader makes what a zzWriter wrote. It panics where a type is another one now.
type zzReader struct {
	types    map[string]reflect.Type
	pointers map[int]reflect.Value
}

func zzReadText(c interface{}) string {
	s := c.(string)
	if s[0] == '=' {
		return s[1:]
	}
	b, err := base64.StdEncoding.DecodeString(s[1:])
	if err != nil {
		panic(err)
	}
	return string(b)
}

// into makes a value in a place.
func (r *zzReader) into(v reflect.Value, c interface{}) {
	v = zzOpen(v)
	t := v.Type()
	if c == nil {
		return
	}
	switch {
	case t == zzTimeType:
		at, err := time.Parse(time.RFC3339Nano, c.(string))
		if err != nil {
			panic(err)
		}
		v.Set(reflect.ValueOf(at))
		return
	case t == reflect.TypeOf(strings.Builder{}):
		v.Addr().Interface().(*strings.Builder).WriteString(zzReadText(c))
		return
	case t == reflect.TypeOf(time.UTC):
		at, err := time.LoadLocation(c.(string))
		if err != nil {
			panic(err)
		}
		v.Set(reflect.ValueOf(at))
		return
	case v.Kind() == reflect.Interface && c == "context":
		v.Set(reflect.ValueOf(context.Background()))
		return
	}
	number := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(c.(string) == "true")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(c.(string), 10, t.Bits())
		number(err)
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n, err := strconv.ParseUint(c.(string), 10, t.Bits())
		number(err)
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(c.(string), 64)
		number(err)
		v.SetFloat(n)
	case reflect.String:
		v.SetString(zzReadText(c))
	case reflect.Array, reflect.Slice:
		r.list(v, c)
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		for _, p := range c.([]interface{}) {
			key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			r.into(key, p.([]interface{})[0])
			r.into(elem, p.([]interface{})[1])
			v.SetMapIndex(key, elem)
		}
	case reflect.Ptr:
		list := c.([]interface{})
		n := int(list[0].(float64))
		if len(list) > 1 {
			p := reflect.New(t.Elem())
			r.pointers[n] = p
			r.into(p.Elem(), list[1])
		}
		v.Set(r.pointers[n].Convert(t))
	case reflect.Struct:
		fields := c.(map[string]interface{})
		for i := 0; i < t.NumField(); i++ {
			if name := t.Field(i).Name; name != "_" {
				code, ok := fields[name]
				if !ok {
					panic("another structure")
				}
				delete(fields, name)
				r.into(v.Field(i), code)
			}
		}
		if len(fields) > 0 {
			panic("another structure")
		}
	case reflect.Interface:
		list := c.([]interface{})
		x := reflect.New(r.types[list[0].(string)]).Elem()
		r.into(x, list[1])
		v.Set(x)
	case reflect.Func:
		v.Set((&zzMaker{}).stubs(t)[0].make())
	default:
		panic("another type")
	}
}

func (r *zzReader) list(v reflect.Value, c interface{}) {
	t := v.Type()
	if v.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		v.Set(reflect.ValueOf([]byte(zzReadText(c))).Convert(t))
		return
	}
	list := c.([]interface{})
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(t, len(list), len(list)))
	}
	for i, e := range list {
		r.into(v.Index(i), e)
	}
}

// zzRecorded are the inputs of a function that were recorded.
func zzRecorded(t *zzTable, f *zzFunc) []zzInput {
	if len(f.recorded) == 0 {
		return nil
	}
	ft, types := reflect.TypeOf(f.f), zzTypes(t)
	var out []zzInput
	for _, k := range append(append([]zzTaken{}, f.recorded...), zzVaried(f)...) {
		k := k
		in := zzInput{src: f.name + "(…)", form: true, given: k.base, taken: true, test: k.test, make: func() []reflect.Value {
			var list []interface{}
			if err := json.Unmarshal([]byte(k.code), &list); err != nil || len(list) != ft.NumIn() {
				panic("another function")
			}
			r := &zzReader{types: types, pointers: map[int]reflect.Value{}}
			var args []reflect.Value
			for i, c := range list {
				v := reflect.New(ft.In(i)).Elem()
				r.into(v, c)
				args = append(args, v)
			}
			return args
		}}
		out = append(out, in)
	}
	return out
}

// A zzLeaf is a basic value in a recorded input.
type zzLeaf struct {
	code string
	set  func(string)
}

// zzLeaves finds them in the order in which they stand.
func zzLeaves(c interface{}, set func(interface{}), out *[]zzLeaf) {
	switch c := c.(type) {
	case string:
		*out = append(*out, zzLeaf{c, func(s string) { set(s) }})
	case []interface{}:
		for i := range c {
			i := i
			zzLeaves(c[i], func(v interface{}) { c[i] = v }, out)
		}
	case map[string]interface{}:
		keys := []string{}
		for k := range c {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			k := k
			zzLeaves(c[k], func(v interface{}) { c[k] = v }, out)
		}
	}
}

// zzVariants are other values in place of a basic one: those of the change, in place of
// one another, behind it and alone, and those next to it.
func zzVariants(f *zzFunc, code string) []string {
	var out []string
	add := func(s string) { out = append(out, zzText(s)) }
	switch n, err := strconv.ParseInt(code, 10, 64); {
	case err == nil:
		for _, i := range f.ints {
			out = append(out, strconv.FormatInt(i, 10))
		}
		for _, i := range []int64{n + 1, n - 1, 0, -n} {
			out = append(out, strconv.FormatInt(i, 10))
		}
	case code == "true":
		out = append(out, "false")
	case code == "false":
		out = append(out, "true")
	case code != "" && code[0] == '=':
		text := code[1:]
		for _, other := range f.strs {
			if other == "" || len(text) > zzReplaced || !strings.Contains(text, other) {
				continue
			}
			for _, s := range f.strs {
				if s != other {
					add(strings.Replace(text, other, s, 1))
				}
			}
		}
		for _, s := range f.strs {
			add(text + s)
			add(s)
		}
		add("")
		if len(text) > 1 {
			add(text[:len(text)-1])
			add(text + text)
		}
	}
	return out
}

// Bounds of what is made of recorded inputs.
const (
	zzVariations = 1000 // inputs of a function
	zzLeavesMost = 30   // values of an input that are varied
	zzReplaced   = 1000 // bytes of a text in which literals are replaced by one another
)

// zzVaried are recorded inputs with another basic value in one place. Of many they are some
// from all over, the same ones on both sides.
func zzVaried(f *zzFunc) []zzTaken {
	type variation struct {
		list []interface{}
		leaf zzLeaf
		code string
	}
	seen := map[string]bool{}
	var all []variation
	for _, k := range f.recorded {
		seen[k.code] = true
		var list []interface{}
		var leaves []zzLeaf
		if json.Unmarshal([]byte(k.code), &list) != nil {
			continue
		}
		zzLeaves(list, nil, &leaves)
		for i := 0; i < len(leaves) && i < zzLeavesMost; i++ {
			for _, code := range zzVariants(f, leaves[i].code) {
				all = append(all, variation{list, leaves[i], code})
			}
		}
	}
	var out []zzTaken
	step := zzStep(len(all))
	for n, at := 0, 0; n < len(all) && len(out) < zzVariations; n, at = n+1, (at+step)%len(all) {
		v := all[at]
		v.leaf.set(v.code)
		b, err := json.Marshal(v.list)
		v.leaf.set(v.leaf.code)
		if code := string(b); err == nil && !seen[code] && len(code) <= 2*zzTakenSize {
			seen[code] = true
			out = append(out, zzTaken{code: code})
		}
	}
	return out
}

// zzStep is a step that comes to each of n places once and to distant ones first.
func zzStep(n int) int {
	gcd := func(a, b int) int {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	step := n*5/8 + 1
	for n > 1 && gcd(step, n) != 1 {
		step++
	}
	return step
}

// zzRecordedCall is a call as Go has it, or in the words of a form where Go has none.
func zzRecordedCall(f *zzFunc, ft reflect.Type, args []reflect.Value) (string, bool) {
	lists, at, form := [][]zzValue{}, []int{}, false
	for _, a := range args {
		src, ok := zzLiteral(a)
		if !ok {
			form = true
			if src = zzForm(a, nil, false); len(src) > 80 {
				src = src[:80]
				for !utf8.ValidString(src) {
					src = src[:len(src)-1]
				}
				src += "…"
			}
			if src = strings.TrimPrefix(src, "&"); a.Kind() == reflect.Ptr && !a.IsNil() {
				src = "&" + zzName(a.Type().Elem()) + src
			}
		}
		lists, at = append(lists, []zzValue{{src: src}}), append(at, 0)
	}
	_, call := zzExpression(f, ft, lists, at)
	return call, form
}

// zzLiteral is a value, or what it points to, as Go writes it, where it can.
func zzLiteral(v reflect.Value) (string, bool) {
	switch v.Kind() {
	case reflect.Ptr, reflect.Interface:
		if v.IsNil() {
			return "nil", true
		}
		if v.Kind() == reflect.Ptr && v.Elem().Kind() == reflect.Struct && zzName(v.Type().Elem()) == v.Type().Elem().Name() {
			src, ok := zzSource(v.Elem())
			return "&" + src, ok
		}
		if v.Kind() == reflect.Interface && v.Elem().Type().PkgPath() == "" && v.Elem().Kind() <= reflect.String {
			return zzSource(v.Elem())
		}
		return "", false
	}
	return zzSource(v)
}

// --- calling

// A zzOutcome is what came of a call.
type zzOutcome struct {
	Class  string
	Input  string `json:"-"`
	Soft   string `json:"-"`
	Text   string // for people, and all that is compared
	Panic  string // what it panicked with
	Fault  bool   // a run-time error, not what a panic statement raises
	Micros int64
	Check  []string // statements of a test that hold what it returned; none where that cannot be written
}

func zzHash(s string) string {
	h := fnv.New32a()
	io.WriteString(h, s)
	return fmt.Sprintf("%08x", h.Sum32())[2:]
}

// zzRun calls a function with an input.
// zzPlaces are what differs between the sides by its place alone, and words for it.
var zzPlaces = strings.NewReplacer()

// zzPlaced finds those: of the tree, by the module around the package, and of the calls. A longer
// path comes first.
func zzPlaced(calls string) {
	places := map[string]string{}
	add := func(path, word string) {
		if len(path) > 1 {
			places[path] = word
			if real, err := zzpath.EvalSymlinks(path); err == nil {
				places[real] = word
			}
		}
	}
	add(os.TempDir(), "$TMPDIR")
	add(os.Getenv("HOME"), "$HOME")
	add(calls, "$CALLS")
	if root, err := os.Getwd(); err == nil {
		for dir := root; dir != zzpath.Dir(dir); dir = zzpath.Dir(dir) {
			if _, err := os.Stat(zzpath.Join(dir, "go.mod")); err == nil {
				root = dir
				break
			}
		}
		add(root, "$TREE")
	}
	var list []string
	for path := range places {
		list = append(list, path)
	}
	sort.Slice(list, func(i, j int) bool { return len(list[i]) > len(list[j]) })
	var pairs []string
	for _, path := range list {
		pairs = append(pairs, path, places[path])
	}
	zzPlaces = strings.NewReplacer(pairs...)
}

func zzRun(t *zzTable, f *zzFunc, in zzInput, printed *os.File) (out zzOutcome) {
	defer func() {
		out.Text, out.Soft, out.Panic = zzPlaces.Replace(out.Text), zzPlaces.Replace(out.Soft), zzPlaces.Replace(out.Panic)
		if check := strings.Join(out.Check, "\n"); zzPlaces.Replace(check) != check {
			out.Check = nil // it would hold for this place alone
		}
	}()
	var args []reflect.Value
	made := func() (ok bool) {
		defer func() { ok = recover() == nil }()
		args = in.make()
		return true
	}()
	if !made {
		return zzOutcome{Class: string(zzSkipped)}
	}
	fv := reflect.ValueOf(f.f)
	before := make([]string, len(args))
	for i, a := range args {
		before[i] = zzForm(a, t, false)
	}
	out.Input = in.src + strings.Join(before, "|")
	zzCalls.Reset()
	zzPrinted(printed)
	var res []reflect.Value
	began := time.Now()
	out.Class = string(zzReturned)
	func() {
		defer func() {
			if p := recover(); p != nil {
				_, out.Fault = p.(runtime.Error)
				out.Class, out.Panic = string(zzPanicked), fmt.Sprint(p)
			}
		}()
		res = zzCall(fv, args)
	}()
	out.Micros = int64(time.Since(began) / time.Microsecond)
	if out.Class == string(zzPanicked) {
		out.Soft, out.Text = "panics", "panics: "+out.Panic
		return out
	}
	var strong, soft []string
	for _, r := range res {
		strong, soft = append(strong, zzForm(r, t, false)), append(soft, zzForm(r, t, true))
		if r.Type() == zzErrorType && !r.IsNil() {
			out.Class = string(zzFailed)
		}
	}
	for i, a := range args {
		after := zzForm(a, t, false)
		if after != before[i] {
			what := "; argument " + strconv.Itoa(i+1) + " is then "
			if f.method && i == 0 {
				what = "; the receiver is then "
			} else if f.method {
				what = "; argument " + strconv.Itoa(i) + " is then "
			}
			strong, soft = append(strong, what+after), append(soft, what+zzForm(a, t, true))
		}
	}
	if zzCalls.Len() > 0 {
		strong, soft = append(strong, "; the function that was given is"+zzCalls.String()), append(soft, zzCalls.String())
	}
	if said := zzPrinted(printed); said != "" {
		strong, soft = append(strong, "; prints "+strconv.Quote(said)), append(soft, said)
	}
	out.Soft, out.Text = strings.Join(soft, ", "), strings.Replace(strings.Join(strong, ", "), ", ; ", "; ", -1)
	out.Text = strings.TrimPrefix(out.Text, "; ")
	if !in.form {
		out.Check = zzCheck(t, f, in, res)
	}
	return out
}

// zzPrinted is what was printed since the last time.
func zzPrinted(f *os.File) string {
	if f == nil {
		return ""
	}
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return ""
	}
	b := make([]byte, 4000)
	n, _ := f.ReadAt(b, 0)
	f.Truncate(0)
	f.Seek(0, io.SeekStart)
	return string(b[:n])
}

// zzCheck writes what a call returned as statements of a test.
func zzCheck(t *zzTable, f *zzFunc, in zzInput, res []reflect.Value) []string {
	call := in.call
	if call == "" {
		call = in.src
	}
	out := append([]string{}, in.prep...)
	if len(res) == 0 {
		return append(out, call)
	}
	var checks, names []string
	fails := 0
	for _, r := range res {
		if r.Type() == zzErrorType {
			fails++
		}
	}
	for i, r := range res {
		err := "err"
		if fails > 1 {
			err += strconv.Itoa(i + 1)
		}
		name := "got"
		if len(res) > 1 {
			name += strconv.Itoa(i + 1)
		}
		check := ""
		switch {
		case r.Type() == zzErrorType && r.IsNil():
			name, check = err, "if "+err+" != nil {\n\tt.Errorf(\"error %v, want none\", "+err+")\n}"
		case r.Type() == zzErrorType:
			name, check = err, "if "+err+" == nil {\n\tt.Error(\"no error\")\n}"
			least := ""
			for known, e := range t.errs {
				if e != nil && errors.Is(r.Interface().(error), e) && (least == "" || known < least) {
					least, check = known, "if !errors.Is("+err+", "+known+") {\n\tt.Errorf(\"got %v, want "+known+"\", "+err+")\n}"
				}
			}
		case r.Kind() == reflect.Float64 && (math.IsNaN(r.Float()) || math.IsInf(r.Float(), 0)):
			is := "math.IsNaN(float64(" + name + "))"
			if x := r.Float(); !math.IsNaN(x) {
				is = fmt.Sprintf("math.IsInf(float64(%s), %+d)", name, map[bool]int{true: 1, false: -1}[x > 0])
			}
			check = "if !" + is + " {\n\tt.Errorf(\"got %v\", " + name + ")\n}"
		case r.Type().Name() != "" && t.altered[zzTypeKey(r.Type())] != nil:
			check = zzCheckFields(name, r, t.altered[zzTypeKey(r.Type())])
		case zzHoldsAltered(r.Type(), t, 0):
		default:
			if want, ok := zzSource(r); ok && (r.Kind() == reflect.String || r.Kind() <= reflect.Float64 && r.Kind() != reflect.Uintptr && r.Kind() != reflect.Invalid) {
				check = "if want := " + want + "; " + name + " != want {\n\tt.Errorf(\"got %v, want %v\", " + name + ", want)\n}"
			} else if ok {
				check = "if want := (" + want + "); !reflect.DeepEqual(" + name + ", want) {\n\tt.Errorf(\"got %#v, want %#v\", " + name + ", want)\n}"
			}
		}
		if check == "" {
			name = "_"
		} else {
			checks = append(checks, check)
		}
		names = append(names, name)
	}
	assign := " := "
	if len(checks) == 0 {
		assign = " = "
	}
	return append(append(out, strings.Join(names, ", ")+assign+call), checks...)
}

// zzHoldsAltered says whether values of a type have in them what the change declares otherwise,
// so that no literal holds for both sides.
func zzHoldsAltered(of reflect.Type, t *zzTable, deep int) bool {
	if _, ok := t.altered[zzTypeKey(of)]; ok && of.Name() != "" || deep > zzFormDeep {
		return true
	}
	switch of.Kind() {
	case reflect.Map:
		return zzHoldsAltered(of.Key(), t, deep+1) || zzHoldsAltered(of.Elem(), t, deep+1)
	case reflect.Slice, reflect.Array:
		return zzHoldsAltered(of.Elem(), t, deep+1)
	case reflect.Struct:
		for i := 0; i < of.NumField(); i++ {
			if zzHoldsAltered(of.Field(i).Type, t, deep+1) {
				return true
			}
		}
	}
	return false
}

// zzCheckFields writes what fields of a structure are.
func zzCheckFields(name string, v reflect.Value, fields []string) string {
	var checks []string
	for _, field := range fields {
		if want, ok := zzSource(v.FieldByName(field)); ok {
			got := name + "." + field
			checks = append(checks, "if want := ("+want+"); !reflect.DeepEqual("+got+", want) {\n\tt.Errorf(\"got %#v, want %#v\", "+got+", want)\n}")
		}
	}
	return strings.Join(checks, "\n")
}

// zzSource is a value as Go writes it, where it can.
func zzSource(v reflect.Value) (string, bool) {
	t := v.Type()
	wrap := func(s string) string {
		if t.PkgPath() == "" && (t.Kind() == reflect.String || t.Kind() == reflect.Bool || t.Kind() == reflect.Int) {
			return s
		}
		return zzName(t) + "(" + s + ")"
	}
	if t.PkgPath() != "" && t.PkgPath() != zzPkgPath() && t.PkgPath() != "time" || t == zzTimeType {
		return "", false
	}
	switch v.Kind() {
	case reflect.Bool:
		return wrap(strconv.FormatBool(v.Bool())), true
	case reflect.String:
		return wrap(strconv.Quote(v.String())), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return wrap(strconv.FormatInt(v.Int(), 10)), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return wrap(strconv.FormatUint(v.Uint(), 10)), true
	case reflect.Float32, reflect.Float64:
		x := v.Float()
		if x == 0 {
			x = math.Abs(x) // what Go writes has no sign of zero, and == does not see it
		}
		return wrap(strconv.FormatFloat(x, 'g', -1, 64)), !math.IsNaN(x) && !math.IsInf(x, 0)
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			return zzName(t) + "(nil)", true
		}
		if v.Len() > 12 {
			return "", false
		}
	case reflect.Struct:
	default:
		return "", false
	}
	var parts []string
	switch v.Kind() {
	case reflect.Slice:
		for i := 0; i < v.Len(); i++ {
			s, ok := zzSource(v.Index(i))
			if !ok {
				return "", false
			}
			parts = append(parts, s)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			k, ok1 := zzSource(it.Key())
			e, ok2 := zzSource(it.Value())
			if !ok1 || !ok2 {
				return "", false
			}
			parts = append(parts, k+": "+e)
		}
		sort.Strings(parts)
	default:
		for i := 0; i < v.NumField(); i++ {
			if v.Field(i).Kind() == reflect.Ptr || v.Field(i).Kind() == reflect.Interface || v.Field(i).Kind() == reflect.Func {
				if v.Field(i).IsNil() {
					continue
				}
				return "", false
			}
			s, ok := zzSource(v.Field(i))
			if !ok {
				return "", false
			}
			parts = append(parts, t.Field(i).Name+": "+s)
		}
	}
	return zzName(t) + "{" + strings.Join(parts, ", ") + "}", true
}

// --- processes

// The calls are made in processes of their own, so that one that hangs or ends is seen.
// zzCallsVar says which: "" all, else "limit;function:input,function:input", both by
// their places; zzTimeVar how long all may take before functions that they have not come to are
// left out, empty: as long as they like; zzFromVar
// makes a process one of those, and says where it begins and what it leaves out.
const (
	zzCallsVar  = "CALLS"
	zzTimeVar   = "CALLS_TIME"
	zzFromVar   = "CALLS_FROM"
	zzRecording = "record" // in zzCallsVar: tests run, and what they call is recorded
)

// A zzRecord is a line about a call.
type zzRecord struct {
	F, I   int // the input -1: inputs are made
	Begins bool
	Made   int    // inputs of the function
	Call   string // class and hashes
	Src    string
	Given  bool
	Taken  bool
	Test   string
	Dims   []int
	Detail *zzOutcome
}

// A zzAnswer is what is known of a function, or of one of its inputs.
type zzAnswer struct {
	Name     string
	Makeable bool
	Late     bool   `json:",omitempty"` // there was no time to begin with it
	Ended    bool   `json:",omitempty"` // making its inputs ends the process, or does not return
	Calls    string // of all inputs, nineteen characters each; empty: the answer is about one
	Given    []int  // indexes of inputs that stand in the tree
	Taken    []int  // of those that were recorded
	Index    int
	Src      string
	Detail   *zzOutcome `json:",omitempty"`
	Stable   bool
	Code     string `json:",omitempty"` // a recorded input, and the test that called
	Base     bool   `json:",omitempty"`
	Test     string `json:",omitempty"`
}

func zzMain(t *testing.T, table zzTable) {
	if from := os.Getenv(zzFromVar); from != "" {
		zzChild(&table, from, os.Getenv(zzCallsVar))
		return
	}
	fmt.Println()
	if which := os.Getenv(zzCallsVar); which != "" {
		zzSome(&table, which)
		return
	}
	most, _ := time.ParseDuration(os.Getenv(zzTimeVar)) // empty: none
	first, second := zzPass(&table, "", zzLimit, most/2), zzPass(&table, "", zzLimit, most/2)
	for i := range table.funcs {
		a := zzMerged(first.calls[i], second.calls[i])
		a.Name, a.Late, a.Ended = table.funcs[i].name, first.late[i] || second.late[i], first.ended[i] || second.ended[i]
		a.Makeable = a.Makeable || first.made[i] > 0
		zzPrint(a)
	}
}

// zzMerged is what two passes say of a function. A recorded input that differs from itself is
// skipped: it may hold what no other process has. Where many do, it is the function.
func zzMerged(first, second []zzRecord) zzAnswer {
	a := zzAnswer{Makeable: len(first) > 0}
	var calls []string
	taken, unsteady, at := 0, 0, 0
	for j, r := range first {
		call, hung, skipped := r.Call, string(zzHung), string(zzSkipped)
		if j >= len(second) {
			call = skipped
		} else if again := second[j].Call; again != call {
			switch {
			case call == hung || again == hung: // it takes about as long as it may
				call = skipped
			case call != skipped && again != skipped:
				if call = string(zzUnstable); r.Taken {
					call, at = skipped, j
					unsteady++
				}
			}
		}
		calls = append(calls, (call + strings.Repeat(".", 19))[:19])
		if r.Given {
			a.Given = append(a.Given, j)
		}
		if r.Taken {
			taken++
			a.Taken = append(a.Taken, j)
		}
	}
	if unsteady > 1 && unsteady*100 > taken {
		calls[at] = string(zzUnstable) + calls[at][1:]
	}
	a.Calls = strings.Join(calls, "")
	return a
}

func zzPrint(a zzAnswer) {
	b, _ := json.Marshal(a)
	fmt.Println("calls: " + string(b))
}

// zzSome makes some calls, each twice in processes of their own: once more when a clock of
// whole seconds has moved on, for which a few wait together.
func zzSome(table *zzTable, which string) {
	parts := strings.SplitN(which, ";", 2)
	limit, _ := time.ParseDuration(parts[0])
	for list := strings.Split(parts[1], ","); len(list) > 0; {
		few := list
		if len(few) > 8 {
			few = few[:8]
		}
		list = list[len(few):]
		var passes []zzPassed
		for _, one := range few {
			passes = append(passes, zzPass(table, one, limit, 0))
		}
		time.Sleep(1100 * time.Millisecond)
		for n, one := range few {
			zzSaySome(table, passes[n], zzPass(table, one, limit, 0))
		}
	}
}

func zzSaySome(table *zzTable, one, two zzPassed) {
	first, second := one.calls, two.calls
	for i := range table.funcs {
		for j, r := range first[i] {
			if r.Detail == nil {
				continue
			}
			a := zzAnswer{Name: table.funcs[i].name, Makeable: true, Index: r.I, Src: r.Src, Detail: r.Detail, Test: r.Test}
			a.Stable = j < len(second[i]) && second[i][j].Detail != nil && second[i][j].Call == r.Call && second[i][j].Detail.Text == r.Detail.Text
			if r.Given {
				a.Given = []int{r.I}
			}
			zzPrint(a)
		}
	}
}

// A zzPassed is what came of calls, by the places of functions.
type zzPassed struct {
	calls       map[int][]zzRecord
	made        map[int]int  // inputs
	late, ended map[int]bool // not begun for lack of time; the process ended, or hung, while inputs were made
	until       time.Time    // when no other function is begun; zero: never
}

// over says whether there is no time for another function.
func (p *zzPassed) over() bool { return !p.until.IsZero() && time.Now().After(p.until) }

// zzLate, as the input of a record, says that its function was not begun for lack of time.
const zzLate = -2

// zzPass makes calls once, beginning again behind each that ends its process. No function is
// begun after most; zero: there is no such time.
func zzPass(table *zzTable, which string, limit, most time.Duration) zzPassed {
	p := zzPassed{calls: map[int][]zzRecord{}, made: map[int]int{}, late: map[int]bool{}, ended: map[int]bool{}}
	if most > 0 {
		p.until = time.Now().Add(most)
	}
	out := p.calls
	f, i, skips := 0, 0, ""
	hangs := map[int]int{}
	for f < len(table.funcs) {
		if p.over() {
			for ; f < len(table.funcs); f++ {
				p.late[f] = p.made[f] == 0 && len(out[f]) == 0
			}
			break
		}
		last, how := zzProcess(table, which, limit, fmt.Sprintf("%d:%d:%s", f, i, skips), p)
		if last == nil {
			break
		}
		if last.I == zzLate {
			f = last.F
			continue
		}
		if last.I < 0 {
			p.ended[last.F] = true
			f, i = last.F+1, 0
			continue
		}
		rec := *last
		rec.Begins, rec.Call = false, how
		if which != "" {
			rec.Detail = &zzOutcome{Class: how, Text: map[string]string{string(zzHung): "does not return", string(zzEnded): "ends the process"}[how]}
		}
		out[rec.F] = append(out[rec.F], rec)
		f, i = rec.F, rec.I+1
		if rec.Taken { // what it waits for is in no other process, and for the others neither
			skips += zzAllTaken(f) + ","
		} else if hangs[f]++; hangs[f] >= zzHangs || hangs[f] >= zzHangsAll && !zzCameBack(out[f]) {
			f, i = f+1, 0
		}
		if key := zzLargest(rec.F, rec.Dims); key != "" { // what is as large in the same place hangs as well
			skips += key + ","
		}
	}
	return p
}

// zzCameBack says whether one of some calls came back.
func zzCameBack(calls []zzRecord) bool {
	for _, r := range calls {
		if !strings.HasPrefix(r.Call, string(zzHung)) && !strings.HasPrefix(r.Call, string(zzEnded)) && !strings.HasPrefix(r.Call, string(zzSkipped)) {
			return true
		}
	}
	return false
}

// zzLargest names the largest argument of an input, and its place; empty: it has none.
func zzLargest(f int, dims []int) string {
	if len(dims) == 0 {
		return ""
	}
	most := 0
	for k := range dims {
		if dims[k] > dims[most] {
			most = k
		}
	}
	return fmt.Sprintf("%d.%d.%d", f, most, dims[most])
}

// zzProcess runs the calls in a process until it ends. It returns the call in which it
// did, and how; nil where it came to the end.
func zzProcess(table *zzTable, which string, limit time.Duration, from string, p zzPassed) (*zzRecord, string) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, ""
	}
	defer r.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^"+zzTestName+"$", "-test.timeout=0")
	cmd.Env = append(os.Environ(), zzFromVar+"="+from, zzTimeVar+"=")
	if which != "" {
		cmd.Env = append(cmd.Env, zzCallsVar+"=;"+which)
	}
	cmd.ExtraFiles = []*os.File{w}
	said := &zzTail{}
	cmd.Stderr, cmd.Stdout = said, nil
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, ""
	}
	w.Close()
	lines := make(chan string)
	go func() {
		s := bufio.NewScanner(r)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			lines <- s.Text()
		}
		close(lines)
	}()
	var last, late *zzRecord
	how := string(zzEnded)
	timer := time.NewTimer(limit + zzPause)
	for open := true; open; {
		select {
		case line, ok := <-lines:
			if open = ok; !ok {
				break
			}
			rec := zzRecord{}
			if json.Unmarshal([]byte(line), &rec) != nil || late != nil {
				break
			}
			timer.Stop()
			switch {
			case rec.Begins && rec.I >= 0:
				last = &rec
				timer.Reset(limit)
				continue
			case rec.Begins && p.over():
				late = &zzRecord{F: rec.F, I: zzLate}
				cmd.Process.Kill()
			case rec.Begins:
				last = &rec
			case rec.I < 0:
				p.made[rec.F], last = rec.Made, nil
			default:
				p.calls[rec.F], last = append(p.calls[rec.F], rec), nil
			}
			timer.Reset(limit + zzPause)
		case <-timer.C:
			how = string(zzHung)
			cmd.Process.Kill()
			timer.Reset(time.Minute)
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	if late != nil {
		return late, how
	}
	if strings.Contains(string(said.b), "all goroutines are asleep") {
		how = string(zzHung)
	}
	return last, how
}

// A zzTail keeps the beginning of what a process says.
type zzTail struct{ b []byte }

func (t *zzTail) Write(p []byte) (int, error) {
	if len(t.b) < 4096 {
		t.b = append(t.b, p...)
	}
	return len(p), nil
}

// zzChild makes the calls, each reported before and after.
func zzChild(table *zzTable, from, which string) {
	pipe := os.NewFile(3, "calls")
	defer pipe.Close()
	dir, err := os.MkdirTemp("", "calls")
	if zzPlaced(dir); err != nil || os.Chdir(dir) != nil {
		return
	}
	defer os.RemoveAll(dir)
	printed, err := os.CreateTemp("", "printed")
	if err != nil {
		return
	}
	os.Stdout = printed
	enc := json.NewEncoder(pipe)
	parts := strings.SplitN(from, ":", 3)
	first, _ := strconv.Atoi(parts[0])
	at, _ := strconv.Atoi(parts[1])
	skips := strings.Split(parts[2], ",")
	only := ""
	if which != "" {
		only = strings.SplitN(which, ";", 2)[1]
	}
	for i := first; i < len(table.funcs); i++ {
		f := &table.funcs[i]
		wanted := -1
		if only != "" {
			one := strings.SplitN(only, ":", 2)
			if one[0] != strconv.Itoa(i) {
				continue
			}
			wanted, _ = strconv.Atoi(one[1])
		}
		enc.Encode(zzRecord{F: i, I: -1, Begins: true})
		inputs, began := zzInputs(table, f), time.Now()
		enc.Encode(zzRecord{F: i, I: -1, Made: len(inputs)})
		for j, in := range inputs {
			if i == first && j < at || wanted >= 0 && j != wanted {
				continue
			}
			rec := zzRecord{F: i, I: j, Given: in.given, Taken: in.taken}
			if zzSkips(skips, i, in) || wanted < 0 && time.Since(began) > zzTime {
				rec.Call = string(zzSkipped)
				enc.Encode(rec)
				continue
			}
			rec.Begins, rec.Dims = true, in.at
			if wanted >= 0 {
				if in.taken && zzTries(in) { // of all it would take longer than to call them
					in.src, in.form = zzRecordedCall(f, reflect.TypeOf(f.f), in.make())
				}
				rec.Src, rec.Test = in.src, in.test
			}
			enc.Encode(rec)
			o := zzRun(table, f, in, printed)
			if key := zzLargest(i, in.at); wanted < 0 && key != "" && o.Micros > int64(zzSlow/time.Microsecond) {
				skips = append(skips, key) // what is as large would use up the time of the others
			}
			rec.Begins, rec.Dims = false, nil
			rec.Call = o.Class
			if o.Class != string(zzSkipped) {
				rec.Call += zzHash(o.Input) + zzHash(o.Class+o.Soft) + zzHash(o.Class+o.Text)
			}
			if wanted >= 0 {
				if len(o.Text) > 2000 {
					o.Text = o.Text[:2000] + "…"
				}
				rec.Detail = &o
			}
			enc.Encode(rec)
		}
	}
}

func zzSkips(skips []string, f int, in zzInput) bool {
	keys := []string{}
	for i, n := range in.at {
		keys = append(keys, fmt.Sprintf("%d.%d.%d", f, i, n))
	}
	if in.taken {
		keys = append(keys, zzAllTaken(f))
	}
	for _, key := range keys {
		for _, s := range skips {
			if s == key {
				return true
			}
		}
	}
	return false
}

// zzAllTaken names the recorded inputs of a function.
func zzAllTaken(f int) string { return strconv.Itoa(f) + ".taken" }
