package java

import (
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// A test that must fail is planted where its runner finds it and under the name by which
// that reports it.
func TestPlant(t *testing.T) {
	t.Parallel()
	maven := javaTests(".", "mvn test", mavenStatus(""), "x", "JUnit XML of Maven", func(class string) string { return " -Dtest=" + class })
	trees.Plant(t, New(), map[string]string{
		"src/test/java/m/CalcTest.java":       "package m;\nimport org.junit.Test;\npublic class CalcTest { CalcTest() {} @Test public void adds() {} }\n",
		"src/test/java/m/TestCalc.java":       "package m;\nimport org.junit.jupiter.api.Test;\nclass TestCalc { @Test void adds() {} }\n",
		"src/test/java/m/Strange.java":        "package m;\nclass Strange { }\n",
		"target/src/test/java/m/OldTest.java": "package m;\nimport org.junit.Test;\npublic class OldTest { }\n",
	}, []trees.Planting{
		{Command: maven, Passing: "m.CalcTest", At: "src/test/java/m/QzCalcTest.java", Pkg: "m.QzCalcTest", Has: "class QzCalcTest { QzCalcTest() {}", Run: "-Dtest=m.QzCalcTest "},
		{Command: maven, Passing: "m.TestCalc", At: "src/test/java/m/TestQzCalc.java", Pkg: "m.TestQzCalc", Has: "jupiter.api.Assertions.assertEquals(1, 2)", Run: "-Dtest=m.TestQzCalc "},
		{Command: maven, Passing: "m.Strange"},
		{Command: maven, Passing: "m.OldTest"},
	})
}
