package node

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// A test that must fail is planted where its runner finds it and under the name by which
// that reports it.
func TestPlant(t *testing.T) {
	t.Parallel()
	var vitest ecosystem.Command
	for _, r := range nodeRunners() {
		if r.words[0] == "vitest" {
			vitest = r.command(ecosystem.Command{Unit: "."}, nodeCall{runner: "vitest"}, nil)
		}
	}
	trees.Plant(t, New(), map[string]string{
		"test/calc.test.ts":   "import { test } from \"vitest\";\n",
		"test/calc.test-d.ts": "import { test } from \"vitest\";\n",
	}, []trees.Planting{
		{Command: vitest, Passing: "test/calc.test.ts", At: "test/qzcalc.test.ts", Pkg: "test/qzcalc.test.ts", Has: "qzExpect(1).toBe(2)", Run: "./test/qzcalc.test.ts"},
		{Command: vitest, Passing: "test/calc.test-d.ts", At: "test/qzcalc.test-d.ts", Pkg: "test/qzcalc.test-d.ts", Has: "const qzValue: string = 1", Run: "./test/qzcalc.test-d.ts"},
	})
}
