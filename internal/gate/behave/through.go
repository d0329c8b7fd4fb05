package behave

import "slices"

// Bounds of the functions that are called for what they call.
const (
	maxThrough = 6 // of a package
	maxEach    = 2 // for one changed function
)

// through are the functions nearest to changed ones that call them, that are as they were
// themselves, and that a test calls: what a changed function gets from them is not made by
// anyone. Those of functions that cannot be called on both sides come first.
func through(was, now *side, changed []Function, gone []string) []Function {
	taken := map[string]bool{}
	from := map[string]*Function{} // by the name without a receiver
	names := slices.Clone(gone)
	for i, f := range changed {
		taken[f.Name], from[f.plain] = true, &changed[i]
		names = append(names, f.plain)
	}
	var out []Function
	for _, name := range names {
		n := 0
		for _, by := range callers(now, name)[1:] {
			for _, at := range now.names {
				f, old := now.funcs[at], was.funcs[at]
				if f.decl.Name.Name != by || taken[at] || old == nil || old.text != f.text || old.sign != f.sign || f.decl.Body == nil ||
					at == "main" || at == "init" || f.decl.Type.TypeParams != nil || generic(f.decl) || !tested(now, by) || !tested(was, by) {
					continue
				}
				if n++; n > maxEach || len(out) == maxThrough || len(changed)+len(out) >= MaxFunctions {
					break
				}
				g := function(was, now, f, old)
				g.Through, taken[at] = name, true
				if of := from[name]; of != nil {
					g.Through, g.Panics, g.Awaited = of.Name, g.Panics || of.Panics, g.Awaited || of.Awaited
					g.Tested = slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.Tested, of.Tested))))
					g.Touched = slices.Compact(slices.Sorted(slices.Values(slices.Concat(g.Touched, of.Touched))))
					g.words = of.words.and(g.words)
				}
				out = append(out, g)
			}
		}
	}
	return out
}

// tested says whether a test of a side mentions a function.
func tested(s *side, name string) bool {
	for _, t := range s.tests {
		if t.mentions[name] {
			return true
		}
	}
	return false
}

// callers are the names of functions of a side through which a function is reached.
func callers(s *side, name string) []string {
	out := []string{name}
	for i := 0; i < len(out) && len(out) < 200; i++ {
		for _, at := range s.names {
			f := s.funcs[at]
			if n := f.decl.Name.Name; f.mentions[out[i]] && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}
