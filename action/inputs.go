package action

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Inputs are the inputs of action.yml. Empty means that the workflow does not say.
type Inputs struct {
	Token            string
	Model            string
	Provider         string
	BaseURL          string
	APIKey           string
	FailOn           string // auto, fail, partial, never
	Agents           []string
	AgentsDir        string
	Task             string
	Timeout          time.Duration
	MaxTokens        int
	MaxCostUSD       float64
	Sandbox          string
	Network          string
	Comment          string // sticky, new, off
	Check            *bool
	Config           string
	WorkingDirectory string
	ArtifactName     string
	Upload           bool   // the run directory becomes an artifact
	Publish          string // a finished run directory that is posted; nothing is run
}

// ReadInputs reads INPUT_* variables. A composite action maps its inputs itself,
// so names may have "_" where the input has "-". All that is wrong is said at once.
func ReadInputs(getenv func(string) string) (Inputs, error) {
	r := reader{getenv: getenv}
	in := Inputs{
		Token: r.text("github-token"), Model: r.text("model"), Provider: r.text("provider"), BaseURL: r.text("base-url"), APIKey: r.text("api-key"),
		FailOn: r.oneOf("fail-on", "auto", "fail", "partial", "never"), Agents: r.list("agents"), AgentsDir: r.text("agents-dir"), Task: r.text("task"),
		Timeout: r.duration("timeout"), MaxTokens: r.integer("max-tokens"), MaxCostUSD: r.number("max-cost-usd"),
		Sandbox: r.oneOf("sandbox", "auto", "full", "strong", "basic", "none"), Network: r.oneOf("network", "none", "setup", "full"),
		Comment: r.comment(), Check: r.boolean("check"), Config: r.file("config"), WorkingDirectory: r.part("working-directory"),
		ArtifactName: r.artifact(), Publish: r.text("publish"),
	}
	upload := r.boolean("upload-artifact")
	in.Upload = upload == nil || *upload
	return in, errors.Join(r.wrong...)
}

type reader struct {
	getenv func(string) string
	wrong  []error
}

func (r *reader) text(name string) string {
	upper := strings.ToUpper(name)
	for _, variable := range []string{"INPUT_" + upper, "INPUT_" + strings.ReplaceAll(upper, "-", "_")} {
		if v := strings.TrimSpace(r.getenv(variable)); v != "" {
			return v
		}
	}
	return ""
}

// part is a part of the repository.
func (r *reader) part(name string) string {
	v := r.text(name)
	if v != "" && !filepath.IsLocal(v) {
		r.bad(name, v, "a part of the repository, such as a folder, by its path from the top")
	}
	return v
}

// file is one of the repository.
func (r *reader) file(name string) string {
	v := r.text(name)
	if v == "" {
		return ""
	}
	if !filepath.IsLocal(v) {
		r.bad(name, v, "a file of the repository, by its path from the top")
		return ""
	}
	return filepath.ToSlash(filepath.Clean(v))
}

// artifact is a name that actions/upload-artifact takes. It looks at it when the run is over, and
// the evidence is lost then.
func (r *reader) artifact() string {
	v := r.text("artifact-name")
	if strings.ContainsAny(v, "\":<>|*?\r\n\\/") {
		r.bad("artifact-name", v, "a name without \" : < > | * ? \\ and /")
	}
	return v
}

func (r *reader) bad(name, value, want string) {
	r.wrong = append(r.wrong, fmt.Errorf("input %s: %q: want %s", name, value, want))
}

func (r *reader) oneOf(name string, words ...string) string {
	v := strings.ToLower(r.text(name))
	if v != "" && !slices.Contains(words, v) {
		r.bad(name, v, "one of "+strings.Join(words, ", "))
	}
	return v
}

func (r *reader) list(name string) []string {
	return strings.FieldsFunc(r.text(name), func(c rune) bool { return c == ',' || c == '\n' || c == ' ' })
}

func (r *reader) duration(name string) time.Duration {
	v := r.text(name)
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		r.bad(name, v, "a length of time such as 20m")
	}
	return d
}

func (r *reader) integer(name string) int {
	v := r.text(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n <= 0 {
		r.bad(name, v, "a number above zero")
	}
	return n
}

func (r *reader) number(name string) float64 {
	v := r.text(name)
	if v == "" {
		return 0
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || !(n > 0 && n <= 1e6) { // NaN is neither
		r.bad(name, v, "a number above zero")
	}
	return n
}

func (r *reader) boolean(name string) *bool {
	v := strings.ToLower(r.text(name))
	if v == "" {
		return nil
	}
	yes := v == "true"
	if !yes && v != "false" {
		r.bad(name, v, "true or false")
		return nil // as if it were left out: a check that cannot be read is completed, and says why
	}
	return &yes
}

// comment takes true and false too, as workflows write them.
func (r *reader) comment() string {
	switch v := strings.ToLower(r.text("comment")); v {
	case "", "sticky", "new", "off":
		return v
	case "true":
		return "sticky"
	case "false":
		return "off"
	default:
		r.bad("comment", v, "sticky, new or off")
		return ""
	}
}
