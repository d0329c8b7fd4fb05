package rust

import "github.com/ycbot/ycbot/internal/gate/ecosystem"

// cargoOrigins reads a Cargo.toml
// (https://doc.rust-lang.org/cargo/reference/specifying-dependencies.html).
func cargoOrigins(src []byte) ecosystem.Origins {
	doc, _ := ecosystem.ParseTOML(src)
	out := ecosystem.Origins{Own: doc.Table("package").Text("name"), Of: map[string]string{}, Replaced: map[string]string{}}
	from := func(t ecosystem.TOML, name string) string {
		spec := t.Table(name)
		if of := spec.Text("package"); of != "" && of != name {
			return of
		}
		return spec.Text("path") + spec.Text("git")
	}
	for _, of := range []ecosystem.TOML{doc, doc.Table("workspace")} {
		for _, key := range []string{"dependencies", "dev-dependencies", "build-dependencies"} {
			for _, name := range of.Table(key).Keys() {
				out.Add(name, from(of.Table(key), name))
			}
		}
	}
	for _, registry := range doc.Table("patch").Keys() {
		for _, name := range doc.Table("patch", registry).Keys() {
			out.Replaced[name] = from(doc.Table("patch", registry), name)
		}
	}
	return out
}
