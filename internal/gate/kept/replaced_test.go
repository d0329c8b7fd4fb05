package kept

import "testing"

// TestOneValueApart holds which names are those of one test with another value.
func TestOneValueApart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		was, is string
		want    bool
	}{
		{"test_rows[999-50-500]", "test_rows[999-50-499]", true},
		{"TestHalf/5_is_3", "TestHalf/5_is_2", true},
		{"999 less 50 % is 500", "999 less 50 % is 499", true},
		{"test_found[tea-True]", "test_found[tea-None]", true},
		{"test_rows[999-50-500]", "test_rows[998-50-499]", false},
		{"test_rows[999-50-500]", "test_rows[999-50]", false},
		{"test_rows[tea-500]", "test_rows[milk-500]", false},
		{"CartTest.test_total", "OrderTest.test_total", false},
		{"test_rows[1]", "test_rows[1]", false},
	} {
		if got := oneValueApart(tt.was, tt.is); got != tt.want {
			t.Errorf("%s and %s: %v", tt.was, tt.is, got)
		}
	}
}
