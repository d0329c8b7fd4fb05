package python

import (
	"testing"
)

// TestUnimport holds how the import of a name that is not there is taken out of a file of tests.
func TestUnimport(t *testing.T) {
	t.Parallel()
	gone := "ModuleNotFoundError: No module named 'shop.coupons'"
	python := "ImportError: cannot import name 'half' from 'calc.core' (/x/calc/core.py)"
	for _, tt := range []struct {
		output      string
		src, want   string
		cannotBeCut bool
	}{
		{python, "from calc.core import double, half\n\nhalf(1)\n", "from calc.core import double\n\nhalf(1)\n", false},
		{python, "from calc.core import half, double\n", "from calc.core import double\n", false},
		{python, "from calc.core import half as h\n", "pass\n", false},
		{python, "if x:\n    from .core import half\n", "if x:\n    pass\n", false},
		{python, "from calc.core import (\n    double,  # of it\n    half,\n)\n", "from calc.core import (double\n\n\n)\n", false},
		{python, "from calc.core import (\n    half,\n)\nx = 1\n", "pass\n\n\nx = 1\n", false},
		{python, "from other import half\n", "", true},
		{python, "from calc.core import halfway\n", "", true},
		{gone, "import os\nfrom shop.coupons import apply, Code as C\n\napply(1)\n", "import os\npass\n\napply(1)\n", false},
		{gone, "try:\n    from .coupons import (\n        apply,\n    )\nfinally:\n    import shop.coupons as c\n", "try:\n    pass\n\n\nfinally:\n    pass\n", false},
		{gone, "from shop.coupons import *\n", "", true},
		{gone, "from shop import coupons\nfrom shop.coupons_old import apply\n", "", true},
		{"ImportError: no module", "from calc.core import half\n", "", true},
	} {
		got, names := unimportPython([]byte(tt.src), tt.output)
		ok := len(names) > 0
		if ok == tt.cannotBeCut || ok && string(got) != tt.want {
			t.Errorf("%q is %q (%v), want %q", tt.src, got, ok, tt.want)
		}
	}
}
