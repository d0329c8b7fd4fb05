package python

import (
	"fmt"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// forward is a module that is the one at its new place: both have one name for what patches
// it, and one state. A package has its own modules below it, and so takes over the names
// alone. How much of its path is the name of a module is known when it is imported.
func forward(m ecosystem.Moved) []byte {
	if path.Ext(m.Old) != ".py" || path.Ext(m.New) != ".py" {
		return nil
	}
	dotted := func(name string) string {
		return strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(name, ".py"), "/__init__"), "/", ".")
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
