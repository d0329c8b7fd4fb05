package languages

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestLeft holds which calls of CI systems are named as such that cannot be made here.
func TestLeft(t *testing.T) {
	t.Parallel()
	golang := &ecosystem.Ecosystem{Name: "Go", Programs: []string{"go"}, IsTest: func(name string) bool { return strings.HasSuffix(name, "_test.go") }}
	for name, tt := range map[string]struct {
		steps, file, text string // of the job, and one file more
		want              string
	}{
		"another shell":              {steps: "- {shell: python, run: 'subprocess.run([\"go\", \"test\"])'}", want: "what its tests do in a step of .github/workflows/ci.yml, whose shell is python"},
		"another shell, no variable": {steps: "- {shell: pwsh, run: go test ./...}"},
		"another shell, a variable":  {steps: "- {shell: pwsh, run: go test ./..., env: {SHOP: 1}}", want: "what its tests do in a step of .github/workflows/ci.yml, whose shell is pwsh"},
		"an expression":              {steps: "- {run: go test ./..., env: {SHOP: \"${{ inputs.shop }}\"}}", want: "what its tests do by SHOP, which .github/workflows/ci.yml sets by an expression, for \"go test ./...\""},
		"a secret":                   {steps: "- {run: go test ./..., env: {SHOP: \"${{ secrets.shop }}\"}}"},
		"which nothing names":        {steps: "- {run: go test ./..., env: {COLOUR: \"${{ inputs.shop }}\"}}"},
		"an expression in a call":    {steps: "- run: \"go test ${{ inputs.flags }} ./...\"", want: "what its tests do as .github/workflows/ci.yml calls them, by what is not known here: \"go test ${{ inputs.flags }} ./...\""},
		"where reports go":           {steps: "- run: \"go test -coverprofile=${{ runner.temp }}/c ./...\""},
		"of the shell":               {steps: "- run: SHOP=$MODE go test ./...", want: "what its tests do as .github/workflows/ci.yml calls them, by what is not known here: \"SHOP=$MODE go test ./...\""},
		"a script that deploys":      {steps: "- run: ./ci/all.sh", file: "ci/all.sh", text: "docker compose up -d\nSHOP=1 go test ./...\n", want: "what its tests do as .github/workflows/ci.yml calls \"./ci/all.sh\", which needs more than is here"},
		"deploys":                    {steps: "- run: ./ci/all.sh", file: "ci/all.sh", text: "docker push x\n"},
		"mage":                       {file: "magefile.go", text: "//go:build mage\n\nsh.RunWith(env, \"go\", \"test\", \"./...\")\n", want: "what its tests do as magefile.go has mage run them"},
		"mage without variables":     {file: "magefile.go", text: "//go:build mage\n\nsh.Run(\"go\", \"test\", \"./...\")\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n    " + tt.steps + "\n", "a_test.go": "SHOP", "a.go": ""}
			if tt.file != "" {
				files[tt.file] = tt.text
			}
			var notes strings.Builder
			_, left := given(trees.Survey(t, files, &notes), ecosystem.Project{Dir: ".", Eco: golang})
			if got := strings.Join(left, "; "); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}
