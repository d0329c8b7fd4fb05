package php

import (
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// A test that must fail is planted where its runner finds it and under the name by which
// that reports it.
func TestPlant(t *testing.T) {
	t.Parallel()
	trees.Plant(t, New(), map[string]string{
		"tests/CalcTest.php":  "<?php\nclass CalcTest extends TestCase { function testAdd() {} }\n",
		"tests/functions.php": "<?php\nfunction testAdd() {}\n",
	}, []trees.Planting{
		{Command: phpunitCommand(".", "phpunit"), Passing: "tests/CalcTest.php", At: "tests/QzCalcTest.php", Pkg: "tests/QzCalcTest.php", Has: "function testQz()", Run: " ./tests/QzCalcTest.php"},
		{Command: phpunitCommand(".", "phpunit"), Passing: "tests/functions.php"},
	})
}
