package results

import (
	"slices"
	"strings"
	"testing"
)

// TestMessagesOfSignatures: what compilers and interpreters say where a test calls something as it
// was before, each as it is printed.
func TestMessagesOfSignatures(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"./a_test.go:5:45: not enough arguments in call to m.Double\n\thave (number)\n\twant (int, int)":                                                                     "m.Double",
		"./a_test.go:5:56: too few values in struct literal of type P":                                                                                                       "P",
		"./a_test.go:5:71: cannot use Double(2) (value of type string) as int value in variable declaration":                                                                 "Double",
		"./a_test.go:5:45: invalid operation: m.Double(2) == 4 (mismatched types string and untyped int)":                                                                    "Double",
		"./a_test.go:5:9: multiple-value Mul(2, 3) (value of type (int, error)) in single-value context":                                                                     "Mul",
		"./a_test.go:5:9: m.Put(2) (no value) used as value":                                                                                                                 "m.Put",
		"TypeError: add() missing 1 required positional argument: 'b'":                                                                                                       "add",
		"error[E0061]: this function takes 2 arguments but 1 argument was supplied\nnote: function defined here\n --> a.rs:3:4\n  |\n3 | fn double(a: i32, b: i32) -> i32 {": "double",
		"a.c:2:25: error: too few arguments to function ‘add’":                                                                                                               "add",
		"a.cc:3:40: error: too few arguments to function ‘int ns::add(int, int)’":                                                                                            "add",
		"a.cc:3:26: error: no matching function for call to ‘P::go()’":                                                                                                       "go",
		"a.cc:3:26: error: no matching member function for call to 'go'":                                                                                                     "go",
		"A.java:3: error: constructor R in record R cannot be applied to given types;":                                                                                       "R",
		"A.java:3: error: method add in class P cannot be applied to given types;":                                                                                           "add",
		"A.java:3: error: no suitable method found for add(int)":                                                                                                             "add",
		"error CS7036: There is no argument given that corresponds to the required parameter 'b' of 'Calc.Add(int, int)'":                                                    "Add",
		"error CS1501: No overload for method 'Add' takes 1 arguments":                                                                                                       "Add",
		"-e:1:in `double': wrong number of arguments (given 1, expected 2) (ArgumentError)":                                                                                  "double",
		"a.rb:3:in 'Calc#kw': missing keyword: :a (ArgumentError)":                                                                                                           "kw",
		"ArgumentError: wrong number of arguments (given 1, expected 2)\n    /x/calc.rb:1:in 'Calc#double'":                                                                  "double",
		"Too few arguments to function App\\A::m(), 0 passed in a.php on line 1 and exactly 1 expected":                                                                      "m",
		"a_test.go:12:15: in call to Add, cannot infer T (declared at a.go:3:10)":                                                                                            "Add",
		"a_test.go:7: got 6 in place of 4":                                                                                                                                   "",
	} {
		if got := strings.Join(slices.Concat(OtherSignature.FindStringSubmatch(message), []string{""})[1:], ""); got != want {
			t.Errorf("%q names %q, want %q", message, got, want)
		}
	}
	for message, want := range map[string]string{
		"error[E0063]: missing field `b` in initializer of `P`":             "b",
		"error[E0063]: missing fields `b` and `c` in initializer of `P`":    "b",
		"error[E0027]: pattern does not mention field `b`":                  "b",
		"error[E0004]: non-exhaustive patterns: `&Kind::Round` not covered": "Round",
		"a.swift:3:9: error: missing argument for parameter 'b' in call":    "b",
		"./a_test.go:5: mock does not implement Store (missing method Get)": "Get",
		"missing fields in the form":                                        "",
	} {
		if got := strings.Join(slices.Concat(Unmet.FindStringSubmatch(message), []string{""})[1:], ""); got != want {
			t.Errorf("%q names %q, want %q", message, got, want)
		}
	}
}
