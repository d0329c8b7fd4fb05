package rust

import (
	"slices"
	"testing"
)

// TestRunnersIn holds which files Cargo's settings start programs by.
func TestRunnersIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{".cargo/config.toml", "[target.x86_64-unknown-linux-gnu]\nrunner = \"tools/run.sh\"\n", []string{"tools/run.sh"}},
		{"a/.cargo/config", "[target.'cfg(all(unix))']\nrunner = ['./run', '-v']\n", []string{"a/run"}},
		{".cargo/config.toml", "target.x86_64-unknown-linux-gnu.runner = \"ci/run.sh\"\n", []string{"ci/run.sh"}},
		{".cargo/config.toml", "[target.wasm32-wasi]\nrunner = \"wasmtime\"\n", nil},
		{"config.toml", "runner = \"tools/run.sh\"\n", nil},
	} {
		if got := RunnersIn(tt.name, []byte(tt.src)); !slices.Equal(got, tt.want) {
			t.Errorf("%s %q: %v", tt.name, tt.src, got)
		}
	}
}
