package python

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestDiscoveries holds where tests for unittest are looked for.
func TestDiscoveries(t *testing.T) {
	t.Parallel()
	const test = "import unittest\n"
	many := map[string]string{}
	for i := range maxDiscoveries + 2 {
		many[fmt.Sprintf("f%02d/test_a.py", i)] = test
	}
	for name, tt := range map[string]struct {
		files map[string]string
		want  string // what is run beside is behind a bar, and what is named behind another one
	}{
		"tests":               {map[string]string{"tests/test_a.py": test}, "discover -s tests -p 'test*.py' | |"},
		"beside tests":        {map[string]string{"tests/test_a.py": test, "checks/test_b.py": test}, "discover -s tests -p 'test*.py' | checks/test_b.py discover -s checks -p '*test*.py' |"},
		"below tests":         {map[string]string{"tests/test_a.py": test, "tests/unit/test_b.py": test}, "discover -s tests -p 'test*.py' | tests/unit/test_b.py discover -s tests/unit -p '*test*.py' |"},
		"a package below":     {map[string]string{"tests/test_a.py": test, "tests/unit/test_b.py": test, "tests/unit/__init__.py": ""}, "discover -s tests -p 'test*.py' | |"},
		"packages":            {map[string]string{"tests/test_a.py": test, "tests/__init__.py": "", "shop/__init__.py": "", "shop/test_b.py": test}, "discover -s tests -t . -p 'test*.py' | shop/test_b.py discover -p '*test*.py' |"},
		"no tests beside":     {map[string]string{"tests/test_a.py": test, "tools/test_server.py": "import http\n"}, "discover -s tests -p 'test*.py' | |"},
		"folders alone":       {map[string]string{"a/test_a.py": test, "b/test_b.py": test}, "discover -s a -p '*test*.py'; discover -s b -p '*test*.py' | |"},
		"more than are run":   {many, ""},
		"what is not sources": {map[string]string{"tests/test_a.py": test, "vendor/test_b.py": test}, "discover -s tests -p 'test*.py' | |"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var notes strings.Builder
			args, beside, unread := discoveries(trees.Survey(t, tt.files, &notes), ".", nil)
			if name == "more than are run" {
				if len(args) != maxDiscoveries || strings.Join(unread, " ") != "f32 f33" {
					t.Errorf("%d calls, %v", len(args), unread)
				}
				return
			}
			var calls, more []string
			for _, a := range args {
				calls = append(calls, strings.Join(a, " "))
			}
			for _, b := range beside {
				more = append(more, b.file+" "+strings.Join(b.args, " "))
			}
			got := strings.Join(calls, "; ") + " | " + strings.Join(more, "; ")
			got = strings.TrimRight(got, " ")
			if got = strings.TrimSpace(got + " | " + strings.Join(unread, " ")); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}
