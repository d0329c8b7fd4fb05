package preparation

import "testing"

// TestComplains holds what of a list of packages says that one does not compile.
func TestComplains(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"# m/rates\nrates/rates.go:8:14: undefined: table\n":                                             true,
		"b.go:3:8: no required module provides package m/pb; to add it:\n\tgo get m/pb":                  true,
		"a.go:5:12: pattern dist: no matching files found":                                               true,
		"# m/c\nc/c.go:4:2: warning: #warning \"careful\" [-Wcpp]\n    4 | #warning\n      |  ^~~~~~~\n": false,
		"# m/c\nc/c.c: In function 'f':\nc/c.c:9:2: warning: unused\nc/c.go:2:1: note: declared here\n":  false,
		"# m/c\nc/c.go:4:2: warning: careful\nc/c.go:9:1: undefined: x\n":                                true,
		"go: downloading example.com/x v1.0.0\n":                                                         false,
		"":                                                                                               false,
	} {
		if got := complains(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}
