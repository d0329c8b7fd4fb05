package native

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What finds, builds and judges tests in a Makefile.am is the base's, within its conditions;
// all else is the head's.
func TestMergeAutomake(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct{ base, head, want string }{
		"nothing of the tests differs": {
			"TESTS = a b\nlib_LIBRARIES = x\n", "TESTS = a \\\n  b\nlib_LIBRARIES = x y\n", "",
		},
		"failures are expected": {
			"lib_LIBRARIES = x\nTESTS = a b\n", "lib_LIBRARIES = x y\nTESTS = a b\nXFAIL_TESTS = \\\n  b\n",
			"lib_LIBRARIES = x y\n\nTESTS = a b\n",
		},
		"another program starts them": {
			"TESTS = a\n", "TESTS = a\nSH_LOG_COMPILER = true\nAM_TESTS_ENVIRONMENT = exit 0;\nbin_PROGRAMS = p\n",
			"bin_PROGRAMS = p\n\nTESTS = a\n",
		},
		"a rule and conditions": {
			"if X\nTESTS = a\nelse\nTESTS = b\nendif\ncheck-local:\n\t./run\nEXTRA_DIST = e\n",
			"check-local:\n\ttrue\nEXTRA_DIST = e f\n",
			"EXTRA_DIST = e f\n\nif X\nTESTS = a\nendif\nif X\nelse\nTESTS = b\nendif\ncheck-local:\n\t./run\n",
		},
	} {
		want := tt.want
		if want == "" {
			want = tt.head
		}
		got, err := mergeAutomake([]byte(tt.base), []byte(tt.head))
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", what, err, diff)
		}
	}
}
