package languages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// TestAsks holds what tools say whose version is too old, as they were seen to, and what asks for one.
func TestAsks(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	for name, says := range map[string]string{
		"rustc": "rustc 1.95.0 (59807616e 2026-04-14)", "elixir": "Erlang/OTP 25 [erts-13.1.5]\n\nElixir 1.14.0 (compiled with Erlang/OTP 24)",
		"cmake": "cmake version 3.25.1", "meson": "1.0.1", "node": "v20.20.2", "python3": "Python 3.11.2", "ruby": "ruby 3.1.2p20 (2022-04-12)",
		"dotnet": "8.0.100", "php": "PHP 8.2.7 (cli) (built: Jun  9 2023 19:37:27) (NTS)", "javac": "javac 17",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\ncat <<'.'\n"+says+"\n.\n"), 0o755); err != nil { //nolint:gosec // it is a program
			t.Fatal(err)
		}
	}
	tools := &ecosystem.Toolchains{Env: []string{"PATH=" + bin + ":/usr/bin:/bin"}}
	for _, c := range []struct{ file, base, head, output, want string }{
		{"Cargo.toml", "[package]\n", "[package]\nrust-version = \"1.99\"\n", "error: rustc 1.95.0 is not supported by the following package:", "the change asks for Rust 1.99 (Cargo.toml), and 1.95.0 is on this machine"},
		{"mix.exs", "elixir: \"~> 1.12\",\n", "elixir: \"~> 1.17\",\n", "** (Mix) You're trying to run :shop on Elixir v1.14.0 but", "the change asks for Elixir 1.17 (mix.exs), and 1.14.0 is on this machine"},
		{"CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\n", "cmake_minimum_required(VERSION 3.30...3.31)\n", "  CMake 3.30 or higher is required.  You are running version 3.25.1", "the change asks for CMake 3.30 (CMakeLists.txt), and 3.25.1 is on this machine"},
		{"meson.build", "project('shop', 'c')\n", "project('shop', 'c', meson_version: '>=1.6')\n", "meson.build:1:0: ERROR: Meson version is 1.0.1 but project requires >=1.6", "the change asks for Meson 1.6 (meson.build), and 1.0.1 is on this machine"},
		{"package.json", `{}`, `{"engines": {"node": ">=24"}}`, "npm error code EBADENGINE", "the change asks for Node.js 24 (package.json), and 20.20.2 is on this machine"},
		{"pyproject.toml", "requires-python = \">=3.9\"\n", "requires-python = \">=3.13\"\n", "E   SyntaxError: invalid syntax", "the change asks for Python 3.13 (pyproject.toml), and 3.11.2 is on this machine"},
		{"setup.py", "setup()", "setup(python_requires=\">=3.13\")", "ERROR: Package 'x' requires a different Python: 3.11.2 not in '>=3.13'", "the change asks for Python 3.13 (setup.py), and 3.11.2 is on this machine"},
		{"Gemfile", "", "ruby \"~> 3.4\"\n", "Your Ruby version is 3.1.2, but your Gemfile specified ~> 3.4", "the change asks for Ruby 3.4 (Gemfile), and 3.1.2 is on this machine"},
		{"src/Shop.csproj", "<TargetFramework>net8.0</TargetFramework>", "<TargetFrameworks>netstandard2.0;net8.0;net10.0</TargetFrameworks>", "error NETSDK1045: The current .NET SDK does not support targeting .NET 10.0.", "the change asks for .NET 10.0 (src/Shop.csproj), and 8.0.100 is on this machine"},
		{"global.json", `{"sdk": {"version": "8.0.100"}}`, `{"sdk": {"version": "9.0.100"}}`, "A compatible .NET SDK was not found.\n\nRequested SDK version: 9.0.100\nglobal.json file: /x/global.json", "the change asks for .NET 9.0.100 (global.json), and 8.0.100 is on this machine"},
		{"composer.json", `{"require": {"php": ">=8.1"}}`, `{"require": {"php": ">=8.3"}, "config": {"platform": {"php": "8.1.0"}}}`, "- Root composer.json requires php >=8.3 but your php version (8.2.7) does not satisfy that requirement.", "the change asks for PHP 8.3 (composer.json), and 8.2.7 is on this machine"},
		{"pom.xml", "<maven.compiler.release>17</maven.compiler.release>", "<maven.compiler.release>21</maven.compiler.release>", "[ERROR] Fatal error compiling: error: release version 21 not supported", "the change asks for Java 21 (pom.xml), and 17 is on this machine"},
		{"build.gradle.kts", "", "java { toolchain { languageVersion = JavaLanguageVersion.of(21) } }", "> Cannot find a Java installation on your machine matching this tasks requirements", "the change asks for Java 21 (build.gradle.kts), and 17 is on this machine"},
		{"build.gradle", "sourceCompatibility = 1.8\n", "sourceCompatibility = '21'\n", "error: invalid source release: 21", "the change asks for Java 21 (build.gradle), and 17 is on this machine"},
		// What is here already, what the base asks for too, what is commented out, and another message excuse nothing.
		{"CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\n", "cmake_minimum_required(VERSION 3.20)\n", "CMake 3.30 or higher is required", ""},
		{"CMakeLists.txt", "cmake_minimum_required(VERSION 3.30)\n", "cmake_minimum_required(VERSION 3.30)\n", "CMake 3.30 or higher is required", ""},
		{"CMakeLists.txt", "cmake_minimum_required(VERSION 3.30)\n", "cmake_minimum_required(VERSION 3.31)\n", "CMake 3.31 or higher is required", ""},
		{"CMakeLists.txt", "", "# cmake_minimum_required(VERSION 3.30)\n", "CMake 3.30 or higher is required", ""},
		{"pom.xml", "<release>8</release>", "<release>11</release>", "error: release version 11 not supported", ""},
		{"Cargo.toml", "", "rust-version = \"1.99\"\n", "error[E0425]: cannot find value `x` in this scope", ""},
	} {
		in := func(text string) *ecosystem.Survey {
			return ecosystem.NewSurvey(func(string) ([]byte, error) { return []byte(text), nil }, []string{c.file}, tools, t.Logf)
		}
		var got []string
		for _, e := range All() {
			if why := ecosystem.NewerThanHere(e.Asks, []string{c.file}, in(c.base), in(c.head), c.output); why != "" {
				got = append(got, why)
			}
		}
		if said := strings.Join(got, "; "); said != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.file, c.output, said, c.want)
		}
	}
}
