package gate

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestMavenGoesOn holds that a test which fails in one module on both sides keeps no test of the modules
// from running that depend on it.
func TestMavenGoesOn(t *testing.T) {
	t.Parallel()
	variants.Only(t) // Maven takes half a minute of a processor
	tools := &Toolchains{Go: &GoToolchain{}, Env: []string{"PATH=" + systemPath(), "HOME=" + os.Getenv("HOME")}}
	l := mavenLanguage()
	for _, tool := range l.tools {
		if !tools.Has(tool) {
			t.Skipf("%s is needed", tool)
		}
	}
	if what := l.lacks(tools); what != "" {
		t.Skipf("%s is needed", what)
	}
	module := func(name, needs string) []byte {
		if needs != "" {
			needs = "<dependencies><dependency><groupId>m</groupId><artifactId>" + needs + "</artifactId><version>1</version></dependency></dependencies>"
		}
		return []byte("<project><modelVersion>4.0.0</modelVersion><parent><groupId>m</groupId><artifactId>m</artifactId><version>1</version></parent><artifactId>" + name + "</artifactId>" + needs + "</project>\n")
	}
	class := func(head, body string) []byte {
		return []byte("package m;\n\npublic class " + head + " {\n" + body + "}\n")
	}
	base := map[string][]byte{
		"pom.xml":                            []byte(strings.Replace(l.files["pom.xml"], "  <properties>", "  <packaging>pom</packaging>\n  <modules><module>core</module><module>web</module></modules>\n  <properties>", 1)),
		"core/pom.xml":                       module("core", ""),
		"core/src/main/java/m/Core.java":     class("Core", "  public static int one() { return 1; }\n"),
		"core/src/test/java/m/ZoneTest.java": class("ZoneTest", "  @org.junit.Test public void zone() { org.junit.Assert.assertEquals(1, 2); }\n  @org.junit.Test public void one() { org.junit.Assert.assertEquals(1, Core.one()); }\n"),
		"web/pom.xml":                        module("web", "core"),
		"web/src/main/java/m/Web.java":       class("Web", "  public static int total(int n) { return n + n * Core.one(); }\n"),
		"web/src/test/java/m/WebTest.java":   class("WebTest", "  @org.junit.Test public void total() { org.junit.Assert.assertEquals(6, Web.total(3)); }\n"),
	}
	for name, text := range l.files {
		if strings.HasPrefix(name, ".mvn/") {
			base[name] = []byte(text)
		}
	}
	s := &scenario{input: map[string][]string{"until": {"first"}}, base: base, head: maps.Clone(base)}
	s.head["web/src/main/java/m/Web.java"] = class("Web", "  public static int total(int n) { return n * n * Core.one(); }\n")
	const want = "verdict: FAIL\nreason: 1 test passes on base and fails with the change\nregressed: m.WebTest total\npre-existing: m.ZoneTest zone\nfail-to-pass: no_tests\n"
	if got := facts(judge(t, tools, s)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
