package golang_test

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem/golang"
)

func TestRedirect(t *testing.T) {
	t.Parallel()
	moved := map[string]golang.MovedPackage{
		"m/libs/money": {Path: "m/internal/money", Was: "money", Is: "money"},
		"m/libs/tax":   {Path: "m/internal/duty", Was: "tax", Is: "duty"},
	}
	for _, tt := range []struct {
		what, src, want string
		inside          golang.MovedPackage
	}{
		{"the same name", "package a\n\nimport \"m/libs/money\"\n", "package a\n\nimport \"m/internal/money\"\n", golang.MovedPackage{}},
		{"another name", "package a\n\nimport \"m/libs/tax\"\n", "package a\n\nimport tax \"m/internal/duty\"\n", golang.MovedPackage{}},
		{"a name of its own", "package a\n\nimport (\n\tx \"m/libs/tax\"\n\t_ \"m/libs/money\"\n)\n", "package a\n\nimport (\n\tx \"m/internal/duty\"\n\t_ \"m/internal/money\"\n)\n", golang.MovedPackage{}},
		{"below it", "package a\n\nimport \"m/libs/money/eur\"\n", "package a\n\nimport \"m/libs/money/eur\"\n", golang.MovedPackage{}},
		{"inside", "package tax\n", "package duty\n", moved["m/libs/tax"]},
		{"beside", "package tax_test\n\nimport \"m/libs/tax\"\n", "package duty_test\n\nimport tax \"m/internal/duty\"\n", moved["m/libs/tax"]},
		{"no Go", "package\n", "package\n", golang.MovedPackage{}},
	} {
		if got := string(golang.Redirect([]byte(tt.src), moved, tt.inside)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
	if got := golang.ClauseName([]byte("// Doc.\npackage tax_test\n\nimport (")); got != "tax" {
		t.Errorf("%q", got)
	}
}
