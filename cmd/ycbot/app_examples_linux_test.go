package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// examples are the documents that docs/operate.md has in blocks of YAML under a heading.
func examples(t *testing.T, heading string) []string {
	t.Helper()
	var out []string
	for _, block := range docstest.Blocks(t, operating, heading, "yaml") {
		out = append(out, strings.Split(block, "\n---\n")...)
	}
	return out
}

// strict reads a document into a type that has all fields that may stand there.
func strict(t *testing.T, text string, into any) {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// understood reports whether ycbot has this command with these flags, and returns the
// values of those that are given.
func understood(t *testing.T, args []string) map[string]string {
	t.Helper()
	if len(args) < 2 || args[0] != "app" {
		t.Fatalf("command %q", args)
	}
	cmd, rest, err := appCommand(&program{}).Find(args[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err != nil || cmd.Name() != args[1] || len(cmd.Flags().Args()) > 0 {
		t.Fatalf("command %q: %v", args, err)
	}
	values := map[string]string{}
	for _, name := range []string{"drain", "addr"} {
		if f := cmd.Flags().Lookup(name); f != nil {
			values[name] = f.Value.String()
		}
	}
	return values
}

// variables are those that the table of settings names.
func variables(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?m)^\\| (`[A-Z_`, ]+) \\|").FindAllStringSubmatch(string(text), -1) {
		out = append(out, strings.Split(strings.ReplaceAll(m[1], "`", ""), ", ")...)
	}
	return out
}

type composeService struct {
	Image       string
	Restart     string
	Command     []string
	Environment map[string]string
	EnvFile     string `yaml:"env_file"`
	Secrets     []string
	Volumes     []string
	SecurityOpt []string `yaml:"security_opt"`
	StopGrace   string   `yaml:"stop_grace_period"`
	Ports       []string
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Deploy      struct{ Replicas int }
	Healthcheck struct {
		Test     []string
		Interval string
	}
}

type composeFile struct {
	Shared   yaml.Node `yaml:"x-ycbot"`
	Services map[string]composeService
	Secrets  map[string]struct{ File string }
	Volumes  map[string]struct{}
}

// The Compose files are such, their commands are ycbot's, their variables are settings, and
// what they name is there. What works on runs has the seccomp profile and more time to end
// than its jobs.
func TestComposeExamples(t *testing.T) {
	t.Parallel()
	files := examples(t, "Compose")
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	known := variables(t)
	for _, text := range files {
		var f composeFile
		strict(t, text, &f)
		for name, s := range f.Services {
			for _, v := range s.Volumes {
				volume, _, _ := strings.Cut(v, ":")
				if _, ok := f.Volumes[volume]; !ok {
					t.Errorf("%s: there is no volume %s", name, volume)
				}
			}
			for on, d := range s.DependsOn {
				if of, ok := f.Services[on]; !ok || d.Condition != "service_healthy" || len(of.Healthcheck.Test) == 0 {
					t.Errorf("%s waits for %s: %s", name, on, d.Condition)
				}
			}
			if s.Restart == "" {
				t.Errorf("%s is not started again when it ends", name)
			}
			if s.Image != "ycbot" {
				continue
			}
			for _, secret := range s.Secrets {
				if _, ok := f.Secrets[secret]; !ok {
					t.Errorf("%s: there is no secret %s", name, secret)
				}
			}
			for variable := range s.Environment {
				if !slices.Contains(known, variable) {
					t.Errorf("%s: %s is no setting", name, variable)
				}
			}
			works(t, name, s)
		}
	}
}

func works(t *testing.T, name string, s composeService) {
	t.Helper()
	values := understood(t, s.Command)
	if len(s.Ports) > 0 && !strings.HasSuffix(s.Ports[0], ":"+strings.TrimPrefix(values["addr"], "0.0.0.0:")) {
		t.Errorf("%s: ports %q, but it listens on %q", name, s.Ports, values["addr"])
	}
	if slices.Contains(s.Command, "--no-work") {
		return
	}
	grace, err := time.ParseDuration(s.StopGrace)
	drain, err2 := time.ParseDuration(values["drain"])
	if errors.Join(err, err2) != nil || grace <= drain {
		t.Errorf("%s: %s to end, and %s for its jobs", name, s.StopGrace, values["drain"])
	}
	if len(s.SecurityOpt) == 0 {
		t.Errorf("%s: no security_opt", name)
	}
	for _, o := range s.SecurityOpt {
		if file, ok := strings.CutPrefix(o, "seccomp="); ok {
			if _, err := os.Stat("../../" + file); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

type kubeProbe struct {
	HTTPGet struct {
		Path string
		Port int
	} `yaml:"httpGet"`
}

type kubeContainer struct {
	Name, Image string
	Args        []string
	EnvFrom     []struct {
		SecretRef struct{ Name string } `yaml:"secretRef"`
	} `yaml:"envFrom"`
	Ports []struct {
		ContainerPort int `yaml:"containerPort"`
	}
	LivenessProbe   *kubeProbe `yaml:"livenessProbe"`
	ReadinessProbe  *kubeProbe `yaml:"readinessProbe"`
	Resources       struct{ Requests, Limits map[string]string }
	SecurityContext struct {
		RunAsNonRoot             bool  `yaml:"runAsNonRoot"`
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		SeccompProfile           struct {
			Type             string
			LocalhostProfile string `yaml:"localhostProfile"`
		} `yaml:"seccompProfile"`
	} `yaml:"securityContext"`
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

type kubeObject struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct {
		Name   string
		Labels map[string]string
	}
	Spec struct {
		Replicas int
		Selector yaml.Node
		Ports    []struct {
			Port       int
			TargetPort int `yaml:"targetPort"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []kubeContainer
				Volumes    []struct {
					Name     string
					EmptyDir struct {
						SizeLimit string `yaml:"sizeLimit"`
					} `yaml:"emptyDir"`
				}
			}
		}
	}
}

// The Kubernetes objects have fields that there are, commands of ycbot's, and fit together:
// selectors with labels, ports with the address that is listened on, mounts with volumes,
// and probes with what a server answers.
func TestKubernetesExamples(t *testing.T) {
	t.Parallel()
	ports, labels := map[string]int{}, map[string]bool{}
	var services []kubeObject
	for _, text := range examples(t, "Kubernetes") {
		var o kubeObject
		strict(t, text, &o)
		switch o.APIVersion + " " + o.Kind {
		case "v1 Service":
			services = append(services, o)
			continue
		case "apps/v1 Deployment":
		default:
			t.Fatalf("%s %s", o.APIVersion, o.Kind)
		}
		var selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		if err := o.Spec.Selector.Decode(&selector); err != nil || selector.MatchLabels["app"] != o.Spec.Template.Metadata.Labels["app"] || o.Spec.Replicas < 1 {
			t.Errorf("%s selects %v of %v, %v", o.Metadata.Name, selector, o.Spec.Template.Metadata.Labels, err)
		}
		labels[selector.MatchLabels["app"]] = true
		for _, c := range o.Spec.Template.Spec.Containers {
			ports[selector.MatchLabels["app"]] = kubeServes(t, c)
			for _, m := range c.VolumeMounts {
				if m.MountPath != "/data" || !slices.ContainsFunc(o.Spec.Template.Spec.Volumes, func(v struct {
					Name     string
					EmptyDir struct {
						SizeLimit string `yaml:"sizeLimit"`
					} `yaml:"emptyDir"`
				},
				) bool {
					return v.Name == m.Name
				}) {
					t.Errorf("%s: mount %v", c.Name, m)
				}
			}
			drain, err := time.ParseDuration(understood(t, c.Args)["drain"])
			if worker := c.Args[1] == "work"; worker && (err != nil || time.Duration(o.Spec.Template.Spec.Grace)*time.Second <= drain) {
				t.Errorf("%s: %d s to end, and %v for its jobs", c.Name, o.Spec.Template.Spec.Grace, drain)
			}
		}
	}
	for _, s := range services {
		var selector map[string]string
		if err := s.Spec.Selector.Decode(&selector); err != nil || !labels[selector["app"]] || s.Spec.Ports[0].TargetPort != ports[selector["app"]] {
			t.Errorf("service %s selects %v and leads to %v: %v", s.Metadata.Name, selector, s.Spec.Ports, err)
		}
	}
	if len(services) != 1 || len(labels) != 2 {
		t.Errorf("%d services, %v", len(services), labels)
	}
}

// kubeServes returns the port of a container; 0 where it has none.
func kubeServes(t *testing.T, c kubeContainer) int {
	t.Helper()
	values := understood(t, c.Args)
	if !c.SecurityContext.RunAsNonRoot || c.Image != "ycbot" || c.EnvFrom[0].SecretRef.Name == "" {
		t.Errorf("container %+v", c)
	}
	if p := c.SecurityContext.SeccompProfile; p.Type != "" {
		if _, err := os.Stat("../../docs/" + p.LocalhostProfile); err != nil || p.Type != "Localhost" {
			t.Errorf("seccomp profile %v: %v", p, err)
		}
	}
	if len(c.Ports) == 0 {
		return 0
	}
	port := c.Ports[0].ContainerPort
	if !strings.HasSuffix(values["addr"], ":8080") || port != 8080 {
		t.Errorf("port %d, listens on %s", port, values["addr"])
	}
	handler := app.Operations{Ready: func(context.Context) error { return nil }}.Handler()
	for _, p := range []*kubeProbe{c.LivenessProbe, c.ReadinessProbe} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, p.HTTPGet.Path, nil))
		if w.Code != http.StatusOK || p.HTTPGet.Port != port {
			t.Errorf("probe %+v is answered with %d", p.HTTPGet, w.Code)
		}
	}
	return port
}

// The Dockerfile copies what there is, starts what it copied, by a number that is not
// root's, and its data are the user's.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields("FROM WORKDIR COPY RUN USER ENV VOLUME HEALTHCHECK ENTRYPOINT CMD")
	stages, program := []string{}, ""
	var last string
	for _, line := range strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		last = line
		switch words[0] {
		case "FROM":
			if strings.Contains(line, ":latest") || !strings.Contains(words[1], ":") {
				t.Errorf("%s: a base without a version", line)
			}
			stages = append(stages, words[len(words)-1])
		case "COPY":
			from := words[1 : len(words)-1]
			if stage, ok := strings.CutPrefix(from[0], "--from="); ok {
				program = words[len(words)-1]
				if !slices.Contains(stages, stage) {
					t.Errorf("%s: no stage %s", line, stage)
				}
				continue
			}
			for _, name := range from {
				if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
					t.Error(err)
				}
			}
		case "RUN":
			if strings.Contains(line, "apt-get install") && (!strings.Contains(line, "--no-install-recommends") || !strings.Contains(line, "rm -rf /var/lib/apt/lists")) {
				t.Errorf("%s: leaves what is not needed", line)
			}
		case "USER":
			if !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(words[1]) {
				t.Errorf("%s: Kubernetes' runAsNonRoot wants a number", line)
			}
		case "ENTRYPOINT":
			if words[1] != `["`+program+`"]` {
				t.Errorf("%s, but the program is %s", line, program)
			}
		}
		if !slices.Contains(known, words[0]) {
			t.Errorf("%s: no instruction", line)
		}
	}
	if last != `CMD ["--help"]` || len(stages) != 2 {
		t.Errorf("it ends in %s, stages %q", last, stages)
	}
}

// The backup of a running server's file, by the commands of docs/operate.md, is whole, and so
// is what a run produced; no one else can read it. Where there is no database it is an error.
func TestBackup(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("sqlite3 is not installed")
	}
	dir := t.TempDir()
	open := func(name string) *store.DB {
		db, err := store.Open(t.Context(), store.Options{Path: name, Now: time.Now})
		if err == nil {
			err = queue.Migrate(t.Context(), db)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db, run := open(filepath.Join(dir, "data/ycbot.db")), t.TempDir()
	write(t, filepath.Join(run, "report.json"), strings.Repeat("{}", 1000))
	if err := errors.Join(db.Record(t.Context(), "key", "value"), db.Import(t.Context(), "r", run)); err != nil {
		t.Fatal(err)
	}
	blocks := docstest.Blocks(t, operating, "Backup, upgrade, size", "sh")
	if len(blocks) != 1 {
		t.Fatalf("the documentation has %d ways to back up, want one", len(blocks))
	}
	backUp := func(dir string) error {
		cmd := exec.CommandContext(t.Context(), "bash", "-ec", blocks[0])
		cmd.Dir = dir
		return cmd.Run()
	}
	if err := backUp(dir); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "backup/ycbot.db")
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("the copy: %v, %v", info, err)
	}
	if err := backUp(t.TempDir()); err == nil {
		t.Error("where there is no database there is no error")
	}
	restored := open(copied)
	if value, ok, err := restored.Lookup(t.Context(), "key"); value != "value" || !ok || err != nil {
		t.Errorf("the backup has %q, %v", value, err)
	}
	if body, err := restored.File(t.Context(), "r", "report.json"); err != nil || len(body) != 2000 {
		t.Errorf("of the run %d bytes, %v", len(body), err)
	}
}
