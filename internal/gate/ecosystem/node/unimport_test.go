package node

import (
	"testing"
)

// TestUnimport holds how the import of a name that is not there is taken out of a file of tests.
func TestUnimport(t *testing.T) {
	t.Parallel()
	output := "SyntaxError: The requested module '../calc.js' does not provide an export named 'half'"
	for _, tt := range []struct {
		src, want   string
		cannotBeCut bool
	}{
		{"import { double, half } from '../calc.js'\n", "import { double } from '../calc.js'\n", false},
		{"import calc, { half as h, double } from '../calc.js'\n", "import calc, { double } from '../calc.js'\n", false},
		{"import {\n  half,\n} from '../calc.js'\n", "import { \n\n } from '../calc.js'\n", false},
		{"import * as calc from '../calc.js'\n", "", true},
	} {
		got, names := unimportNode([]byte(tt.src), output)
		ok := len(names) > 0
		if ok == tt.cannotBeCut || ok && string(got) != tt.want {
			t.Errorf("%q is %q (%v), want %q", tt.src, got, ok, tt.want)
		}
	}
}
