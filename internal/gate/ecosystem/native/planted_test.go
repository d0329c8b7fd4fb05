package native

import "testing"

// TestFailingMain: a program of tests ends as a failure behind its own main; one whose main is of no
// known form is left alone.
func TestFailingMain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, src, want string }{
		{"t.c", "int main(void) {\n\treturn f();\n}\n", "static int qz(void) {\n\treturn f();\n}\n\nint main(void) { (void)qz(); return 1; }\n"},
		{"t.c", "#include <assert.h>\nint main(int argc, char *argv[]) { assert(f()); }\n", "#include <assert.h>\nstatic int qz(int argc, char *argv[]) { assert(f()); }\n\nint main(int argc, char *argv[]) { (void)qz(argc, argv); assert(0 && \"qz\"); return 0; }\n"},
		{"t.cc", "int main() { return f(); }\n", "static int qz() { return f(); }\n\nint main() { (void)qz(); return 1; }\n"},
		{"t.cc", "int main() { f(); }\n", ""},
		{"t.c", "int main(int) { return 0; }\n", ""},
		{"t.c", "#ifdef A\nint main(void) { return 0; }\n#else\nint main(void) { return 1; }\n#endif\n", ""},
		{"t.c", "TEST(a, b) {}\n", ""},
	} {
		if got := failingMain(tt.file, tt.src, "qz"); got != tt.want {
			t.Errorf("%s: %q becomes %q, want %q", tt.file, tt.src, got, tt.want)
		}
	}
}
