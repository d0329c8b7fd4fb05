package python

import (
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// asks are the tools of which the settings of a project ask for a version
// (https://packaging.python.org/en/latest/specifications/core-metadata/#requires-python).
func asks() []ecosystem.Asking {
	return []ecosystem.Asking{{
		Tool: "Python", Program: "python3", In: ecosystem.Named("pyproject.toml", "setup.py", "setup.cfg", "Pipfile"),
		Version: ecosystem.WrittenAs(pattern.New(`(?m)^\s*(?:requires-python|python|python_version)\s*=\s*["']([^"']+)|^[^#\n]*\bpython_requires\s*=\s*["']?([^"'\n]+)`)),
		Refuses: pattern.New(`SyntaxError: |requires a different Python: |No interpreter found for |is not supported by the project|does not satisfy Python|incompatible with the project's Python requirement|` +
			`cannot import name '\w+' from '(?:typing|types|warnings|copy|dataclasses|datetime|enum|functools|itertools|pathlib|asyncio|inspect)'|` +
			`No module named '(?:tomllib|zoneinfo|graphlib|compression|annotationlib)`),
	}}
}
