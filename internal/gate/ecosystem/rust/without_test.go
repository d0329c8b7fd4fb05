package rust

import (
	"slices"
	"strings"
	"testing"
)

// TestWithoutTests holds which tests are left out of a source for the lines of errors, and where it is none.
func TestWithoutTests(t *testing.T) {
	t.Parallel()
	const src = `use ini::pair;

fn helper() -> &'static str { "}" }

#[test]
fn pairs() {
    assert_eq!(pair("{").unwrap(), helper());
}

mod errors {
    /// Says what is wrong.
    #[test]
    #[should_panic]
    fn no_pair() {
        pair("a").unwrap();
    }
}
`
	for _, tt := range []struct {
		lines []int
		want  []string // the tests; nil: it is left out as a whole
	}{
		{[]int{7}, []string{"pairs"}},
		{[]int{15, 15}, []string{"no_pair"}},
		{[]int{12, 6}, []string{"pairs", "no_pair"}},
		{[]int{3}, nil},
		{[]int{7, 1}, nil},
		{nil, nil},
	} {
		rest, tests, ok := withoutTests([]byte(src), tt.lines, false)
		if ok != (tt.want != nil) {
			t.Errorf("lines %v: %v", tt.lines, ok)
		}
		if !ok {
			continue
		}
		if !slices.Equal(tests, tt.want) || strings.Count(string(rest), "\n") != strings.Count(src, "\n") || len(rest) != len(src) {
			t.Errorf("lines %v: %v\n%s", tt.lines, tests, rest)
		}
		for _, name := range []string{"pairs", "no_pair"} {
			if strings.Contains(string(rest), "fn "+name) == slices.Contains(tests, name) {
				t.Errorf("lines %v: %s in\n%s", tt.lines, name, rest)
			}
		}
	}
}

// TestComplaint holds at which places the compiler says that something is wrong.
func TestComplaint(t *testing.T) {
	t.Parallel()
	const output = "warning: unused import: `a`\n --> tests/api.rs:1:5\n  |\n" +
		"error[E0308]: mismatched types\n  --> tests/api.rs:10:40\n   |\n10 |     a(b)\n   | ---\n" +
		"error: expected one of `,`\nor `)`\n --> src/lib.rs:3:4\n\n" +
		"error: could not compile `ini` (test \"api\") due to 1 previous error\n\nwarning: x\n  --> tests/b.rs:2:2\n"
	var got []string
	for _, m := range complaint.FindAllStringSubmatch(output, -1) {
		got = append(got, m[1]+":"+m[2])
	}
	if want := []string{"tests/api.rs:10", "src/lib.rs:3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
