package ecosystem

// cargoOrigins reads a Cargo.toml
// (https://doc.rust-lang.org/cargo/reference/specifying-dependencies.html).
func cargoOrigins(src []byte) origins {
	doc, _ := parseTOML(src)
	out := origins{own: doc.table("package").text("name"), of: map[string]string{}, replaced: map[string]string{}}
	from := func(t tomlDoc, name string) string {
		spec := t.table(name)
		if of := spec.text("package"); of != "" && of != name {
			return of
		}
		return spec.text("path") + spec.text("git")
	}
	for _, of := range []tomlDoc{doc, doc.table("workspace")} {
		for _, key := range []string{"dependencies", "dev-dependencies", "build-dependencies"} {
			for _, name := range of.table(key).keys() {
				out.add(name, from(of.table(key), name))
			}
		}
	}
	for _, registry := range doc.table("patch").keys() {
		for _, name := range doc.table("patch", registry).keys() {
			out.replaced[name] = from(doc.table("patch", registry), name)
		}
	}
	return out
}
