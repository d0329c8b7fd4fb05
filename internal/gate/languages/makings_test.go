package languages

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestMakings holds which commands of a project can make what its sources need.
func TestMakings(t *testing.T) {
	t.Parallel()
	const file = ".github/workflows/ci.yml"
	golang := Named("Go")
	for name, tt := range map[string]struct {
		steps, makefile, source string
		want                    string
	}{
		"a target":                  {steps: "- run: make generate\n    - run: go test ./...", want: "make generate"},
		"several":                   {steps: "- run: make tools\n    - run: |\n        make lint\n        buf generate\n        ./gen.sh fast\n    - run: make test", want: "make tools; buf generate; ./gen.sh fast"},
		"after the tests":           {steps: "- run: go test ./...\n    - run: make site", want: ""},
		"of a job without tests":    {steps: "- run: make generate\n    - run: echo done", want: ""},
		"a program of another":      {steps: "- run: go install example.com/mockgen@v1\n    - run: go generate ./...\n    - run: gotestsum", want: "go install example.com/mockgen@v1; go generate ./..."},
		"what lies outside":         {steps: "- run: sudo apt-get install x\n    - run: docker compose up -d\n    - run: curl -o a b\n    - run: make docker-image\n    - run: make release\n    - run: go vet ./...\n    - run: go test ./...", want: ""},
		"with an expression":        {steps: "- run: make ${{ matrix.x }}\n    - run: go test ./...", want: ""},
		"a server":                  {steps: "- run: go run ./cmd/server &\n    - run: ./gen.sh\n    - run: go test ./...", want: "./gen.sh"},
		"another folder":            {steps: "- {run: make generate, working-directory: web}\n    - run: go test ./...", want: ""},
		"a script that is not here": {steps: "- run: ./other.sh\n    - run: bash other.sh\n    - run: go test ./...", want: ""},
		"what the tests need":       {makefile: "test: lint tables\n\tgo test ./...\nlint:\n\tgo vet\ntables:\n\tgo run ./tables\n", want: "make tables; go run ./tables"},
		"what the tests run first":  {makefile: "test:\n\t@go generate ./...\n\tgo test ./...\n", want: "go generate ./..."},
		"usual names":               {makefile: "mocks:\n\tmockery\nrun:\n\tgo run .\nclean:\n\trm -r x\n", want: "make mocks"},
		"a comment":                 {source: "package m\n\n//go:generate stringer -type X\n", want: "go generate ./..."},
		"no comment":                {source: "package m\n\n// go:generate stringer -type X\n", want: ""},
		"once":                      {steps: "- run: make mocks\n    - run: make test", makefile: "mocks:\n\tmockery\ntest: mocks\n\tgo test ./...\n", want: "make mocks; mockery"},
		"not too many":              {makefile: "test: a b c d e f g h i j\n" + strings.Join(strings.Fields("a: b: c: d: e: f: g: h: i: j:"), "\n") + "\n", want: "make a; make b; make c; make d; make e; make f; make g; make h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"go.mod": "module m\n", "gen.sh": "", "a.go": "package m\n"}
			if tt.steps != "" {
				files[file] = "jobs:\n  test:\n    steps:\n    " + tt.steps + "\n"
			}
			if tt.makefile != "" {
				files["Makefile"] = tt.makefile
			}
			if tt.source != "" {
				files["a.go"] = tt.source
			}
			s := trees.Survey(t, files, t.Output())
			var got []string
			for _, m := range Makings(s, ecosystem.Project{Eco: golang, Dir: "."}) {
				got = append(got, m.Text)
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("got  %q\nwant %q", strings.Join(got, "; "), tt.want)
			}
		})
	}
}
