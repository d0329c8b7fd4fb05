package python

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// djangoTest is what a file of tests has that are run with the settings of a project of Django
// (https://docs.djangoproject.com/en/stable/topics/testing/overview/).
var djangoTest = pattern.New(`(?m)^\s*(?:from|import)\s+(?:django\.test|rest_framework\.test)\b`)

// isDjango says whether a folder has a manage.py of Django and, in it, tests for that.
func isDjango(s *ecosystem.Survey, dir string) bool {
	return s.Has(dir, "manage.py") && bytes.Contains(s.Read(dir, "manage.py"), []byte("django")) && slices.ContainsFunc(s.Below(dir), func(name string) bool {
		return isPythonTest(name) && !ecosystem.IgnoredDir(path.Dir(name)) && djangoTest.Match(s.Read(dir, name))
	})
}

// requirementsAround are the files of requirements above a folder, named from there, of the nearest
// folder that has one.
func requirementsAround(s *ecosystem.Survey, dir string) []string {
	for up, way := dir, ""; up != "."; {
		up, way = path.Dir(up), way+"../"
		var out []string
		for _, f := range s.Files {
			if path.Dir(f) == up && isForTests(path.Base(f)) {
				out = append(out, way+path.Base(f))
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// djangoCommand has manage.py run the tests with our result class of unittest, where the project has
// no runner of its own that takes another one.
func djangoCommand(c ecosystem.Command, env, python string) ecosystem.Command {
	text := env + " " + python + " manage.py test --noinput"
	build := func(c ecosystem.Command, labels []string) ecosystem.Command {
		more := strings.Join(append([]string{""}, labels...), " ")
		c = c.Reporting(`RESULTS="$RESULTS" `+env+" "+python+` -c "$UNITTEST" manage.py test --noinput`+more, "export PYTHONDONTWRITEBYTECODE=1", "UNITTEST="+ecosystem.Quoted(pyUnittest))
		c.Text = text + more
		return c
	}
	plain := c.Reporting(text, "export PYTHONDONTWRITEBYTECODE=1")
	c.Plain = &plain
	c = build(c, nil)
	c.Results = &ecosystem.Results{
		Name: "results of manage.py test", Collect: results.Documented(results.ParseUnittest),
		Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
			var labels []string
			for _, f := range p.Packages {
				name := strings.TrimPrefix(f, c.Unit+"/")
				if path.Ext(name) != ".py" {
					return c, false
				}
				labels = append(labels, ecosystem.Quoted(strings.ReplaceAll(strings.TrimSuffix(name, ".py"), "/", ".")))
			}
			if len(labels) == 0 {
				return c, false
			}
			if p.Only != "" {
				labels = append(labels, "-k", ecosystem.Quoted(p.Only))
			}
			return build(c, labels), true
		},
	}
	c.Results.PlantedBy(ecosystem.Copied(plantedUnittest))
	return c
}
