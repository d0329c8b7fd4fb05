package python

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/node"
)

// TestUnimport holds how the import of a name that is not there is taken out of a file of tests.
func TestUnimport(t *testing.T) {
	t.Parallel()
	python := "ImportError: cannot import name 'half' from 'calc.core' (/x/calc/core.py)"
	node := "SyntaxError: The requested module '../calc.js' does not provide an export named 'half'"
	for _, tt := range []struct {
		by          func([]byte, string) ([]byte, bool)
		output      string
		src, want   string
		cannotBeCut bool
	}{
		{unimportPython, python, "from calc.core import double, half\n\nhalf(1)\n", "from calc.core import double\n\nhalf(1)\n", false},
		{unimportPython, python, "from calc.core import half, double\n", "from calc.core import double\n", false},
		{unimportPython, python, "from calc.core import half as h\n", "pass\n", false},
		{unimportPython, python, "if x:\n    from .core import half\n", "if x:\n    pass\n", false},
		{unimportPython, python, "from calc.core import (\n    double,  # of it\n    half,\n)\n", "from calc.core import (double\n\n\n)\n", false},
		{unimportPython, python, "from calc.core import (\n    half,\n)\nx = 1\n", "pass\n\n\nx = 1\n", false},
		{unimportPython, python, "from other import half\n", "", true},
		{unimportPython, python, "from calc.core import halfway\n", "", true},
		{unimportPython, "ImportError: no module", "from calc.core import half\n", "", true},
		{node.unimportNode, node, "import { double, half } from '../calc.js'\n", "import { double } from '../calc.js'\n", false},
		{node.unimportNode, node, "import calc, { half as h, double } from '../calc.js'\n", "import calc, { double } from '../calc.js'\n", false},
		{node.unimportNode, node, "import {\n  half,\n} from '../calc.js'\n", "import { \n\n } from '../calc.js'\n", false},
		{node.unimportNode, node, "import * as calc from '../calc.js'\n", "", true},
	} {
		got, ok := tt.by([]byte(tt.src), tt.output)
		if ok == tt.cannotBeCut || ok && string(got) != tt.want {
			t.Errorf("%q is %q (%v), want %q", tt.src, got, ok, tt.want)
		}
	}
}
