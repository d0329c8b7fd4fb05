package action

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v4"
)

// A releaser is the part of .goreleaser.yaml that action/install.sh relies on.
type releaser struct {
	Builds []struct {
		Goos, Goarch []string
		Ldflags      []string
	}
	Archives []struct {
		ID           string
		Formats      []string
		NameTemplate string `yaml:"name_template"`
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string
	}
	Dockers []struct{ Dockerfile string } `yaml:"dockers_v2"`
}

func readReleaser(t *testing.T) releaser {
	t.Helper()
	data, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r releaser
	if err := yaml.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// programName is what a release calls the program of a machine.
func (r releaser) programName(t *testing.T, goos, goarch string) string {
	t.Helper()
	for _, a := range r.Archives {
		if !slices.Contains(a.Formats, "binary") {
			continue
		}
		var b strings.Builder
		tmpl, err := template.New("name").Parse(a.NameTemplate)
		if err == nil {
			err = tmpl.Execute(&b, map[string]string{"Os": goos, "Arch": goarch})
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	t.Fatal("no archive of a release is the program as it is")
	return ""
}

func program(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// On every machine that there are releases for, the Action finds the program of the release
// under the name that the release gives it, and its checksum in the release's list.
func TestInstallFindsRelease(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	r := readReleaser(t)
	script, err := filepath.Abs("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	uname := map[string]string{"linux": "Linux", "darwin": "Darwin", "amd64": "x86_64", "arm64": "arm64"}
	if len(r.Builds) != 1 || len(r.Builds[0].Goos) != 2 || len(r.Builds[0].Goarch) != 2 {
		t.Fatalf("builds %+v", r.Builds)
	}
	for _, goos := range r.Builds[0].Goos {
		for _, goarch := range r.Builds[0].Goarch {
			t.Run(goos+"-"+goarch, func(t *testing.T) {
				t.Parallel()
				served, bin, temp := t.TempDir(), t.TempDir(), t.TempDir()
				text := "the program for " + goos + " " + goarch
				name := r.programName(t, goos, goarch)
				for file, data := range map[string]string{name: text, r.Checksum.NameTemplate: fmt.Sprintf("%x  other\n%x  %s\n", sha256.Sum256(nil), sha256.Sum256([]byte(text)), name)} {
					if err := os.WriteFile(filepath.Join(served, file), []byte(data), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				program(t, bin, "uname", `case $1 in -m) echo `+uname[goarch]+`;; *) echo `+uname[goos]+`;; esac`)
				program(t, bin, "curl", `while [[ $# -gt 1 ]]; do [[ $1 == -o ]] && to=$2; shift; done
[[ $1 == https://github.com/ycbot/ycbot/releases/download/v1.2.3/* ]] && cp "`+served+`/${1##*/}" "$to"`)
				program(t, bin, "go", "exit 1") // it is not built
				cmd := exec.CommandContext(t.Context(), "bash", script)
				cmd.Env = []string{
					"PATH=" + bin + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "output"),
					"GITHUB_ACTION_PATH=/runner/_actions/ycbot/ycbot/v1.2.3",
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				got, err := os.ReadFile(filepath.Join(temp, "ycbot-bin", "ycbot"))
				if err != nil || string(got) != text {
					t.Errorf("it found %q, %v", got, err)
				}
			})
		}
	}
	if r.Checksum.Algorithm != "sha256" {
		t.Errorf("checksums by %s", r.Checksum.Algorithm)
	}
}

// The number of a release stands in the program, and so in every report; its image is made of
// the same as the one that is built from source.
func TestReleaseBuild(t *testing.T) {
	t.Parallel()
	r := readReleaser(t)
	if flags := strings.Join(r.Builds[0].Ldflags, " "); !strings.Contains(flags, "-X main.release=v{{ .Version }}") {
		t.Errorf("the version is not set: %s", flags)
	}
	source, err := os.ReadFile("../cmd/ycbot/version.go")
	if err != nil || !strings.Contains(string(source), "\nvar release string\n") {
		t.Errorf("the program has no variable for it: %v", err)
	}
	stage := func(file string) string {
		data, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		_, last, _ := strings.Cut(string(data), "FROM debian")
		var lines []string
		for line := range strings.Lines(last) {
			if !strings.HasPrefix(line, "COPY ") && !strings.HasPrefix(line, "ARG ") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	if len(r.Dockers) != 1 || stage("Dockerfile") != stage(r.Dockers[0].Dockerfile) {
		t.Errorf("the images differ:\n%s\n%s", stage("Dockerfile"), stage(r.Dockers[0].Dockerfile))
	}
}
