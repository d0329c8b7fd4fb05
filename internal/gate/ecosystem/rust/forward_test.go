package rust_test

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/rust"
)

func TestForward(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, now, has, parent, leads string }{
		{"src/vat.rs", "src/money/vat.rs", "src/lib.rs", "src/lib.rs", "pub mod vat {\n    pub use crate::money::vat::*;"},
		{"src/vat/mod.rs", "src/tax.rs", "src/lib.rs", "src/lib.rs", "pub mod vat {\n    pub use crate::tax::*;"},
		{"a/src/x/vat.rs", "a/src/vat.rs", "a/src/x.rs", "a/src/x.rs", "pub mod vat {\n    pub use crate::vat::*;"},
		{"a/src/x/vat.rs", "a/src/vat.rs", "a/src/x/mod.rs", "a/src/x/mod.rs", "pub mod vat {\n    pub use crate::vat::*;"},
		{"src/x/vat.rs", "src/vat.rs", "src/lib.rs", "", ""}, // x is gone, too
		{"a/src/vat.rs", "b/src/vat.rs", "a/src/lib.rs", "", ""},
		{"src/lib.rs", "src/old.rs", "src/lib.rs", "", ""},
		{"tests/vat.rs", "tests/tax.rs", "src/lib.rs", "", ""},
	} {
		parent, text, ok := rust.Forward(tt.old, tt.now, func(name string) bool { return name == tt.has })
		if ok != (tt.parent != "") || ok && (parent != tt.parent || !strings.Contains(text, tt.leads)) {
			t.Errorf("%s to %s: %q %q %v", tt.old, tt.now, parent, text, ok)
		}
	}
}
