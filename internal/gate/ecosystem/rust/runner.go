package rust

import (
	"path"

	"github.com/ycbot/ycbot/internal/pattern"
)

// runner is the program by which Cargo starts what it has built, tests too
// (https://doc.rust-lang.org/cargo/reference/config.html#targettriplerunner).
var runner = pattern.New(`(?m)^\s*(?:[\w."'()=,\s-]+\.)?runner\s*=\s*(?:\[\s*)?["']([^"'\s]*/[^"'\s]+)`)

// RunnersIn are the files of a project by which a file of Cargo's settings has programs started; none
// where it is no such file.
func RunnersIn(name string, src []byte) []string {
	dir, base := path.Split(name)
	if path.Base(dir) != ".cargo" || base != "config" && base != "config.toml" {
		return nil
	}
	var out []string
	for _, m := range runner.FindAllStringSubmatch(string(src), -1) {
		out = append(out, path.Join(path.Dir(path.Clean(dir)), m[1]))
	}
	return out
}
