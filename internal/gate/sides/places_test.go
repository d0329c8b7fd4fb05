package sides

import (
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestMovedWhole holds when a test that moves with its sources is still the base's: nothing that
// was beside it stays, and no source is new that could be used in its place.
func TestMovedWhole(t *testing.T) {
	t.Parallel()
	moved := func(from, to string) change.File { return change.File{Path: to, OldPath: from, Status: change.Renamed} }
	test := moved("a/test/x.test.js", "b/test/x.test.js")
	for _, tt := range []struct {
		name  string
		base  []string
		files []change.File
		want  bool
	}{
		{"all of a folder", []string{"a/src/x.js", "a/test/x.test.js"}, []change.File{moved("a/src/x.js", "b/src/x.js"), test}, true},
		{"and a manifest is edited", []string{"a/src/x.js", "a/test/x.test.js", "package.json"}, []change.File{moved("a/src/x.js", "b/src/x.js"), test, {Path: "package.json", Status: change.Modified}}, true},
		{"a source stays", []string{"a/src/x.js", "a/src/y.js", "a/test/x.test.js"}, []change.File{moved("a/src/x.js", "b/src/x.js"), test}, false},
		{"a source moves elsewhere", []string{"a/src/x.js", "a/src/y.js", "a/test/x.test.js"}, []change.File{moved("a/src/x.js", "b/src/x.js"), moved("a/src/y.js", "c/y.js"), test}, false},
		{"a source is new", []string{"a/src/x.js", "a/test/x.test.js"}, []change.File{moved("a/src/x.js", "b/src/x.js"), test, {Path: "lib/x.js", Status: change.Added}}, false},
	} {
		r := &Reader{Change: change.Change{Files: tt.files}, Plans: map[results.Side]*Plan{results.Base: {Files: tt.base}}}
		if got := r.movedWhole(test); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// TestMovedTo holds where a folder is that moves, with files that are called otherwise, too; what stays
// in part is where it was.
func TestMovedTo(t *testing.T) {
	t.Parallel()
	moved := func(from, to string) change.File { return change.File{Path: to, OldPath: from, Status: change.Renamed} }
	for _, tt := range []struct {
		files []change.File
		head  []string
		want  string
	}{
		{[]change.File{moved("util/a.go", "text/a.go")}, []string{"text/a.go"}, "text"},
		{[]change.File{moved("util/util.go", "text/text.go"), moved("util/util_test.go", "text/text_test.go")}, []string{"text/text.go", "text/text_test.go"}, "text"},
		{[]change.File{moved("util/util.go", "text/text.go")}, []string{"text/text.go", "util/b.go"}, "util"},
		{[]change.File{moved("util/in/a.go", "text/b.go")}, []string{"text/b.go"}, "util"},
	} {
		r := &Reader{Change: change.Change{Files: tt.files}, Plans: map[results.Side]*Plan{results.Head: {Files: tt.head}}}
		if got := r.MovedTo("util"); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.files, got, tt.want)
		}
	}
}
