package gate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func elixirLanguage() language {
	const runs = "f = System.fetch_env!(\"COUNTS\") <> \"/runs\"\n    n = case File.read(f) do\n      {:ok, s} -> String.to_integer(s)\n      _ -> 0\n    end\n    File.write!(f, Integer.to_string(n + 1))\n"
	return language{
		name: "mix", noticed: 2, fresh: "\ndefmodule Calc.New do\n  def fresh, do: 1\nend\n", tools: []string{"mix"}, src: "lib/calc.ex", test: "test/calc_test.exs",
		files: map[string]string{
			"mix.exs":              "defmodule Calc.MixProject do\n  use Mix.Project\n\n  def project, do: [app: :calc, version: \"0.1.0\"]\nend\n",
			"test/test_helper.exs": "ExUnit.start()\n",
		},
		source: func(add, abs bool, turn string) string {
			return fmt.Sprintf("defmodule Calc do\n  def turn, do: %s\n\n  def add(a, b) do\n    a %s b\n  end\n\n  def abs_of(a) do\n    if a < 0, do: %s, else: a\n  end\nend\n",
				turn, either(add, "+", "-"), either(abs, "-a", "a"))
		},
		tests: func(names ...string) string {
			return "defmodule CalcTest do\n  use ExUnit.Case\n\n" + each(names, map[string]string{
				"add":   "  test \"add\" do\n    IO.puts(\"noise\")\n    assert Calc.add(2, 3) == 5\n  end\n\n",
				"abs":   "  describe \"group of\" do\n    test \"abs / of -1\" do\n      assert Calc.abs_of(-1) == 1\n    end\n  end\n\n",
				"again": "  test \"again\" do\n    assert Calc.add(1, 1) == 2\n  end\n\n",
				"fresh": "  test \"fresh\" do\n    assert Calc.New.fresh() == 1\n  end\n\n",
				"flaky": "  test \"flaky\" do\n    " + runs + "    refute n + 1 == Calc.turn()\n  end\n\n",
			}) + "end\n"
		},
	}
}

// mavenRepo is where Debian has plugins and libraries for Maven.
const mavenRepo = "/usr/share/maven-repo"

// mavenLanguage takes everything from Debian's packages: its Maven names their
// versions of plugins by itself. Tests run in Maven's own process, because its Surefire
// notices the end of another one only when it next writes to it, 10 s later.
func mavenLanguage() language {
	const runs = "java.nio.file.Path f = java.nio.file.Path.of(System.getenv(\"COUNTS\"), \"runs\"); int n = java.nio.file.Files.exists(f) ? Integer.parseInt(java.nio.file.Files.readString(f)) : 0; java.nio.file.Files.writeString(f, \"\" + (n + 1)); "
	return language{
		name: "maven", noticed: 1, tools: []string{"mvn", "javac"}, src: "src/main/java/m/Calc.java", test: "src/test/java/m/CalcTest.java",
		lacks: func(tools *Toolchains) string {
			if mvn, err := filepath.EvalSymlinks(tools.LookPath("mvn")); err != nil || !strings.HasPrefix(mvn, "/usr/share/maven/") {
				return "the system's own Maven"
			}
			for _, name := range []string{"org/apache/maven/plugins/maven-resources-plugin", "org/apache/maven/plugins/maven-compiler-plugin", "org/apache/maven/plugins/maven-surefire-plugin", "junit/junit/4.x"} {
				if _, err := os.Stat(filepath.Join(mavenRepo, name)); err != nil {
					return filepath.Join(mavenRepo, name)
				}
			}
			return ""
		},
		files: map[string]string{
			".mvn/maven.config": "--settings=.mvn/settings.xml\n",
			".mvn/jvm.config":   "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC\n", // as starting is most of the work
			".mvn/settings.xml": "<settings><mirrors><mirror><id>system</id><mirrorOf>*</mirrorOf><url>file://" + mavenRepo + "</url></mirror></mirrors></settings>\n",
			"pom.xml": `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>m</groupId>
  <artifactId>m</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
    <forkCount>0</forkCount>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.x</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
</project>
`,
		},
		// what is added stands behind the class, in its file
		fresh: "\nclass New {\n  static int fresh() {\n    return 1;\n  }\n}\n",
		source: func(add, abs bool, turn string) string {
			return fmt.Sprintf("package m;\n\npublic class Calc {\n  static final int TURN = Integer.parseInt(\"%s\");\n\n  static int add(int a, int b) {\n    return a %s b;\n  }\n\n  static int abs(int a) {\n    return a < 0 ? %s : a;\n  }\n}\n",
				turn, either(add, "+", "-"), either(abs, "-a", "a"))
		},
		tests: func(names ...string) string {
			return "package m;\n\nimport static org.junit.Assert.*;\n\nimport org.junit.Test;\n\npublic class CalcTest {\n" + each(names, map[string]string{
				"add":   "  @Test public void add() { System.out.println(\"noise\"); assertEquals(5, Calc.add(2, 3)); }\n",
				"abs":   "  @Test public void abs() { assertEquals(1, Calc.abs(-1)); }\n",
				"again": "  @Test public void again() { assertEquals(2, Calc.add(1, 1)); }\n",
				"fresh": "  @Test public void fresh() { assertEquals(1, New.fresh()); }\n",
				"flaky": "  @Test public void flaky() throws Exception { " + runs + "assertNotEquals(Calc.TURN, n + 1); }\n",
			}) + "}\n"
		},
	}
}

// toxLanguage is tox as the configuration calls it: its environment is made by
// setup, with what virtualenv brings along.
func toxLanguage() language {
	l := unittestLanguage()
	l.name, l.tools, l.command, l.all = "tox", []string{"python3", "tox"}, true, false
	l.input = map[string][]string{"setup": {"tox -q --notest"}, "test": {"tox -q"}}
	l.files = map[string]string{
		".gitignore": ".tox\n",
		"tox.ini":    "[tox]\nskipsdist = true\nskip_missing_interpreters = true\nenvlist = py3\n\n[testenv]\nskip_install = true\npassenv = COUNTS\ncommands = python -m unittest discover -s tests -t .\n",
	}
	l.files["tests/__init__.py"] = ""
	return l
}

// noxLanguage is nox as the configuration calls it, with the python that is there.
func noxLanguage() language {
	l := toxLanguage()
	l.name, l.tools, l.input = "nox", []string{"python3", "nox"}, map[string][]string{"test": {"nox"}}
	l.files = map[string]string{
		"noxfile.py":        "import nox\n\n\n@nox.session(venv_backend=\"none\")\ndef tests(session):\n    session.run(\"python3\", \"-m\", \"unittest\", \"discover\", \"-s\", \"tests\", \"-t\", \".\")\n",
		"tests/__init__.py": "",
	}
	return l
}

// poetryLanguage has its environment made by poetry, from a lockfile without packages.
func poetryLanguage() language {
	l := unittestLanguage()
	l.name, l.tools, l.all = "poetry", []string{"python3", "poetry"}, false
	l.lacks = func(tools *Toolchains) string { // the lockfile is that of this version
		cmd := exec.CommandContext(context.Background(), tools.LookPath("poetry"), "--version")
		cmd.Env = tools.Env
		if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "version 1.") {
			return "poetry 1"
		}
		return ""
	}
	l.files = map[string]string{
		"pyproject.toml": "[tool.poetry]\nname = \"calc\"\nversion = \"1.0.0\"\ndescription = \"\"\nauthors = []\n\n[tool.poetry.dependencies]\npython = \">=3.8\"\n",
		"poetry.lock":    "package = []\n\n[metadata]\nlock-version = \"2.0\"\npython-versions = \">=3.8\"\ncontent-hash = \"dedbcc8ad01960ccbef8502c70bda77771c2826a438e1e94ef27a36c71acd91a\"\n",
	}
	return l
}
