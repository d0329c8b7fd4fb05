package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// same runs the scripts of cmd/ycbot with two programs, an older ycbot and what these
// sources make, and compares what people see of it: reports, consoles and exit codes.
// A difference is an error, unless intended.txt says why it is there. Of the scripts
// only those run whose name the pattern matches.
func same(ctx context.Context, l *lab, older, pattern string) error {
	allowed, err := parseIntended(intendedFile)
	if err != nil {
		return fmt.Errorf("test/perf/intended.txt: %w", err)
	}
	scripts := filepath.Join(l.dir, "scripts.test")
	if _, err := l.command(ctx, root, "go", "test", "-c", "-o", scripts, "./cmd/ycbot"); err != nil {
		return err
	}
	var said [2]map[string]string
	for i, program := range []string{older, l.binary} {
		if program, err = filepath.Abs(program); err != nil {
			return err
		}
		l.logf("scripts with %s", program)
		failed := ""
		said[i], failed, err = l.scripts(ctx, scripts, program, pattern, filepath.Join(l.dir, fmt.Sprint("scripts-", i)))
		if err != nil {
			return err
		}
		// A program that is not of these sources may lack what scripts are about, which is
		// in their consoles.
		if failed != "" && i == 1 && l.built {
			return fmt.Errorf("scripts fail with these sources, so that there is nothing to compare with:\n%s", failed)
		}
	}
	return compare(said[0], said[1], allowed).write(os.Stdout)
}

// scripts runs them with a program and returns what people see of it, and the lines
// that say which scripts failed.
func (l *lab) scripts(ctx context.Context, test, program, pattern, dir string) (map[string]string, string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(ctx, test, "-test.v", "-test.run=^TestScript$/"+pattern, "-test.timeout=30m", "-program="+program, "-keep="+dir)
	cmd.Dir, cmd.Env = filepath.Join(root, "cmd", "ycbot"), l.env
	out, err := cmd.CombinedOutput()
	failed := failures(out)
	if err != nil && failed == "" || bytes.Contains(out, []byte("\npanic: ")) {
		return nil, "", fmt.Errorf("%s: %w\n%s", test, err, out[max(0, len(out)-4000):])
	}
	said, err := seen(dir, string(out))
	if err == nil && len(said) == 0 {
		err = errors.New("no script ran")
	}
	return said, failed, err
}

func failures(out []byte) string {
	var lines strings.Builder
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "    --- FAIL: TestScript/") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// A comparison of what two programs let people see.
type comparison struct {
	reports, consoles int
	same, intended    int
	unexplained       []difference
	needless          int // rows of intended.txt that nothing was explained by
}

// A difference is one place where texts differ, and the texts that do so.
type difference struct {
	change
	names []string
}

// compare explains what it can by what is allowed.
func compare(before, after map[string]string, allowed []intended) comparison {
	var c comparison
	used := map[int]bool{}
	all := map[string]string{}
	maps.Copy(all, before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasSuffix(name, "/"+console) {
			c.consoles++
		} else {
			c.reports++
		}
		found := changes(before, after, name)
		fails := failing.MatchString(before[script(name)+"/"+console])
		explained := 0
		for _, ch := range found {
			if i := slices.IndexFunc(allowed, func(a intended) bool { return a.explains(name, ch, fails) }); i >= 0 {
				used[i] = true
				explained++
				continue
			}
			c.add(name, ch)
		}
		switch {
		case len(found) == 0:
			c.same++
		case explained == len(found):
			c.intended++
		}
	}
	c.needless = len(allowed) - len(used)
	return c
}

var failing = regexp.MustCompile(`(?m)^FAIL:`)

// script is whose text it is.
func script(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}

// changes are the differences between the texts of one name. That one of them is not
// there is one.
func changes(before, after map[string]string, name string) []change {
	was, had := before[name]
	is, has := after[name]
	switch {
	case !had:
		return []change{{after: []string{there}}}
	case !has:
		return []change{{before: []string{there}}}
	}
	return differences(was, is)
}

const there = "(is there)"

func (c *comparison) add(name string, ch change) {
	for i, d := range c.unexplained {
		if d.equal(ch) {
			if !slices.Contains(d.names, name) {
				c.unexplained[i].names = append(d.names, name)
			}
			return
		}
	}
	c.unexplained = append(c.unexplained, difference{ch, []string{name}})
}

// write says what is not explained in the form of intended.txt, so that the
// reason can be added there.
func (c comparison) write(w io.Writer) error {
	names := map[string]bool{}
	for _, d := range c.unexplained {
		fmt.Fprintf(w, "== %s\nWHY?\n%s\n", strings.Join(d.names, " "), d.change)
		for _, name := range d.names {
			names[name] = true
		}
	}
	if c.needless > 0 {
		fmt.Fprintf(w, "%d changes of intended.txt did not come up\n", c.needless)
	}
	_, err := fmt.Fprintf(w, "%d reports and %d consoles: %d are the same, %d differ by intent, %d unexplained\n", c.reports, c.consoles, c.same, c.intended, len(names))
	if len(names) > 0 {
		err = errors.New("the programs do not report the same")
	}
	return err
}
