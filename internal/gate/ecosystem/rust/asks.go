package rust

import (
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// asks are the tools of which a Cargo.toml asks for a version
// (https://doc.rust-lang.org/cargo/reference/rust-version.html).
func asks() []ecosystem.Asking {
	return []ecosystem.Asking{{
		Tool: "Rust", Program: "rustc", In: ecosystem.Named("Cargo.toml"),
		Version: ecosystem.WrittenAs(pattern.New(`(?m)^\s*rust-version\s*=\s*["']([^"']+)`)),
		Refuses: pattern.New(`rustc [\d.]+ is not supported by|requires rustc [\d.]+`),
	}}
}
