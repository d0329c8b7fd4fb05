package action

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
		if !slices.Contains(a.Formats, "gz") {
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
		return b.String() + ".gz"
	}
	t.Fatal("no archive of a release is the program alone")
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
				path := filepath.Join(t.TempDir(), "_actions", "ycbot", "ycbot", strings.Repeat("a", 40))
				if err := os.MkdirAll(filepath.Join(path, "action"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(path, "action", "release"), []byte("v1.2.3\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				plain := "the program for " + goos + " " + goarch
				var packed bytes.Buffer
				w := gzip.NewWriter(&packed)
				if _, err := w.Write([]byte(plain)); err != nil || w.Close() != nil {
					t.Fatal(err)
				}
				text := packed.String()
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
				cmd := exec.CommandContext(t.Context(), "bash", script, "find")
				cmd.Env = []string{
					"PATH=" + bin + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "output"),
					"GITHUB_ACTION_PATH=" + path,
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				got, err := os.ReadFile(filepath.Join(temp, "ycbot-bin", regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(path, "-"), "ycbot"))
				if err != nil || string(got) != plain {
					t.Errorf("it found %q, %v", got, err)
				}
			})
		}
	}
	if r.Checksum.Algorithm != "sha256" {
		t.Errorf("checksums by %s", r.Checksum.Algorithm)
	}
}

// The step says what it does before it waits for anything: with a release server that
// answers only when the line was read.
func TestInstallSpeaksFirst(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	path, temp := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(path, "action"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "action", "release"), []byte("v1.2.3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-read
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	cmd := exec.CommandContext(t.Context(), "bash", "install.sh", "find")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + filepath.Join(temp, "output"), "GITHUB_ACTION_PATH=" + path,
		"YCBOT_RELEASES=" + server.URL, "YCBOT_RELEASES_PROTO==http",
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	close(read)
	if err != nil || !strings.Contains(line, "of release v1.2.3") {
		t.Errorf("it said %q, %v", line, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// The number of a release stands in the program, and so in every report; its image is made of
// the same as the one that is built from source.
func TestReleaseBuild(t *testing.T) {
	t.Parallel()
	r := readReleaser(t)
	// Between releases the Action is built from its source.
	named, err := os.ReadFile("release")
	if err != nil || len(named) > 0 && !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?\n?$`).Match(named) {
		t.Errorf("action/release is %q, %v: want the tag of the release that is made of this commit, or nothing", named, err)
	}
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
