package python

import (
	_ "embed" // of the driver
	"io/fs"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

//go:embed behave.py
var pyBehave string

func pythonBehaviour() *ecosystem.Behaviour {
	return &ecosystem.Behaviour{
		ByFile: true,
		Plan: func(base, head fs.FS, at ecosystem.Calling) (behave.Planned, bool) {
			var files []string
			for _, f := range at.Files {
				if strings.HasSuffix(f, ".py") && !isPythonTest(f) && !steersPython(f) {
					files = append(files, f)
				}
			}
			at.Files = files
			return ecosystem.PlanScript(behave.Script{
				Driver: pyBehave, Comment: "#",
				Call: `main(json.loads(base64.b64decode("DATA")))`,
			}, base, head, at, isPythonTest, pyDefines)
		},
		File: func(test string) string { return "zz_" + strings.ToLower(test) + ".py" },
		Calls: func(c ecosystem.Command, _, test, which string) ecosystem.Command {
			text := pythonOf(c.Text) + " zz_" + strings.ToLower(test) + ".py"
			if which != "" {
				text = "CALLS=" + ecosystem.Quoted(which) + " " + text
			}
			c = c.Reporting(text, "export PYTHONDONTWRITEBYTECODE=1")
			c.Results = nil
			return c
		},
	}
}

var (
	pyDefines = pattern.New(`(?m)^\s*(?:async\s+)?(?:def|class)\s+(\w+)`)
	pyRunner  = pattern.New(`^(.*?)(\S*python[\d.]*(?: -[^m\s]\S*)*)? ?(?:-m )?(?:pytest|py\.test|unittest)\b`)
)

// pythonOf is how a test command starts Python: with its variables, in the environment
// that it has.
func pythonOf(text string) string {
	m := pyRunner.FindStringSubmatch(text)
	switch {
	case m == nil:
		return "python3"
	case m[2] != "":
		return m[1] + m[2]
	case strings.Contains(m[1], " run"):
		return strings.TrimSpace(m[1]) + " python"
	}
	// The program pytest says in its first line which Python it is for.
	return strings.TrimSpace(m[1] + ` "$(p=$(command -p sed -n '1s/^#! *\(.*python[0-9.]*\)$/\1/p' "$(command -v pytest)"); echo "${p:-python3}")"`)
}
