package python

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// forward is a module that is the one at its new place: both have one name for what patches
// it, and one state. A package has its own modules below it, and so takes over the names
// alone. How much of its path is the name of a module is known when it is imported.
func forward(m ecosystem.Moved) []byte {
	if path.Ext(m.Old) != ".py" || path.Ext(m.New) != ".py" {
		return nil
	}
	lead := `import importlib, os, sys

def _forward(was, now):
    was, now = was.split("."), now.split(".")
    root = len(was) - len(__name__.split("."))
    if root < 0 or was[:root] != now[:root]:
        raise ImportError("no module named " + __name__, name=__name__)
    return importlib.import_module(".".join(now[root:]))

`
	call := fmt.Sprintf("_forward(%q, %q)", dotted(m.Old), dotted(m.New))
	if path.Base(m.Old) == "__init__.py" {
		return []byte(lead + "globals().update({k: v for k, v in vars(" + call + ").items() if k[:2] != \"__\" or k in (\"__all__\", \"__version__\")})\n")
	}
	return fmt.Appendf(nil, `%sif __name__ == "__main__":
    import runpy
    runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), %q), run_name="__main__")
else:
    sys.modules[__name__] = %s
`, lead, m.Way(), call)
}

// dotted is the name of a module by its path in the repository.
func dotted(name string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(name, ".py"), "/__init__"), "/", ".")
}

var pythonOffered = pattern.New(`(?m)^(?:(?:async\s+)?def|class)\s+(\w+)|^([A-Za-z_]\w*)\s*(?::[^=\n]+)?=[^=]`)

// offers are the names that a module defines at its top.
func offers(src []byte) []string {
	var out []string
	for _, m := range pythonOffered.FindAllSubmatch(src, -1) {
		if name := string(m[1]) + string(m[2]); !strings.HasPrefix(name, "__") {
			out = append(out, name)
		}
	}
	return out
}

// forwardNames is a module that has names of others when they are asked for, as both can
// import each other (https://peps.python.org/pep-0562/).
func forwardNames(s ecosystem.Scattered) []byte {
	if path.Ext(s.Old) != ".py" || bytes.Contains(s.Rest, []byte("def __getattr__")) {
		return nil
	}
	var to []string
	for _, name := range sorted.Keys(s.To, strings.Compare) {
		to = append(to, fmt.Sprintf("%q: %q", name, dotted(s.To[name])))
	}
	return fmt.Appendf(bytes.Clone(s.Rest), `

def __getattr__(name, _was=%q, _to={%s}):
    import importlib

    was, now = _was.split("."), _to.get(name, "").split(".")
    root = len(was) - len(__name__.split("."))
    if name not in _to or root < 0 or was[:root] != now[:root]:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(".".join(now[root:])), name)
`, dotted(s.Old), strings.Join(to, ", "))
}
