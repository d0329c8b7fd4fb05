package classes

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestTestBodies holds which tests a source has and where, in three languages.
func TestTestBodies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, src, test, text string }{
		{"a_test.go", "package a\n\nfunc TestA(t *testing.T) {\n\tx()\n}\n", "TestA", "func TestA(t *testing.T) {\n\tx()\n}"},
		{"test_a.py", "import a\n\nclass A:\n    def test_a(self):\n        x()\n\n    def test_b(self): y()\n", "A::test_a[1]", "    def test_a(self):\n        x()"},
		{"a.test.js", "test('one', () => {\n  x()\n})\n\ndescribe('g', () => {\n  it('two', () => { y() })\n  it('three', () => {\n    z()\n  })\n})\n", "g" + results.NameSep + "three", "  it('three', () => {\n    z()\n  })\n"},
	} {
		got := TestBodies(tt.name, []byte(tt.src)).Of(tt.test)
		if got.Text != tt.text || got.Line == 0 {
			t.Errorf("%s: %q in line %d, want %q", tt.name, got.Text, got.Line, tt.text)
		}
	}
}
