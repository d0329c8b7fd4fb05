package workflows

import (
	"fmt"
	"testing"
)

// TestJobs holds what a step has of its job and of its workflow.
func TestJobs(t *testing.T) {
	t.Parallel()
	const text = `
env: {A: 1, B: 2}
defaults: {run: {working-directory: web, shell: bash}}
jobs:
  two:
    env: {B: 3}
    defaults: {run: {working-directory: api}}
    services: {db: {image: "postgres:16", ports: [5432]}}
    steps:
      - uses: actions/checkout@v4
      - {run: make, working-directory: x, env: {C: 4}}
      - {run: make check, shell: sh}
  one: {steps: [{run: go test}]}
`
	want := `[{ci.yml one map[A:1 B:2] map[] [{go test web bash map[]  map[]}] map[]} ` +
		`{ci.yml two map[A:1 B:3] map[db:{postgres:16 map[] [5432]}] [{ api bash map[] actions/checkout@v4 map[]} {make x bash map[C:4]  map[]} {make check api sh map[]  map[]}] map[]}]`
	if got := fmt.Sprint(Jobs("ci.yml", []byte(text), nil)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for _, bad := range []string{"", "jobs: [", "jobs: {a: 1}", "- a"} {
		if got := Jobs("x", []byte(bad), nil); got != nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   any
		text string
		ok   bool
	}{{nil, "", false}, {true, "true", true}, {2, "2", true}, {"", "", true}, {"${{ x }}", "", false}, {"a\nb", "", false}} {
		if text, ok := Plain(tt.in); ok != tt.ok || ok && text != tt.text {
			t.Errorf("%v: %q %v", tt.in, text, ok)
		}
	}
}
