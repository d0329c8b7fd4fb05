package native

import "testing"

// TestCompilesWhole holds which recipes compile a source without an object that is called so.
func TestCompilesWhole(t *testing.T) {
	t.Parallel()
	for makefile, want := range map[string]bool{
		"test:\n\t@$(CC) -o t t.c calc.c\n\t./t\n":                                          true,
		"SRC = calc.c util.c\nALL := $(SRC) main.c\ntest:\n\tgcc $(ALL) -o t\n":             true,
		"t: t.c src/calc.c\n\t$(CC) $^ -o $@\n":                                             true,
		"t:\n\tclang \\\n  src/*.c -o t\n":                                                  true,
		"calc.o: calc.c\n\t$(CC) -c calc.c\n":                                               false,
		"SRC = main.c\nifdef CALC\nSRC += calc.c\nendif\nt: $(SRC)\n\t$(CC) $(SRC) -o $@\n": false,
		"lint:\n\tcppcheck calc.c\n":                                                        false,
		"t:\n\t$(CC) xcalc.c -o t\n":                                                        false,
	} {
		if got := CompilesWhole(makefile, "calc.c"); got != want {
			t.Errorf("%q: %v", makefile, got)
		}
	}
}
