package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// suitePackages is of how many packages the project of row 2 consists; each has a test
// that takes a second and a half.
const suitePackages = 10

// suiteProject is a change to the sources of one package, and to the tests of so many.
func suiteProject(tests, round int) (base, head map[string]string) {
	source := func(name, extra string) string {
		return fmt.Sprintf("// Package %s adds.\npackage %s\n\n// Add returns a plus b.\nfunc Add(a, b int) int { return a + b }\n%s", name, name, extra)
	}
	test := func(name, extra string) string {
		return fmt.Sprintf("package %s\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestAdd(t *testing.T) {\n\ttime.Sleep(1500 * time.Millisecond)\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n%s}\n", name, extra)
	}
	base, head = map[string]string{"go.mod": "module example.com/suite\n\ngo 1.24\n"}, map[string]string{}
	for n := range suitePackages {
		name := fmt.Sprintf("p%d", n)
		base[name+"/add.go"], base[name+"/add_test.go"] = source(name, ""), test(name, "")
		if n < tests {
			head[name+"/add_test.go"] = test(name, fmt.Sprintf("\tif Add(%d, 1) != %d {\n\t\tt.Error(\"wrong\")\n\t}\n", round, round+1))
		}
	}
	head["p0/add.go"] = source("p0", fmt.Sprintf("\n// Twice returns %d times a, halved.\nfunc Twice(a int) int { return a * %d / %d }\n", 4*round, 4*round, 2*round))
	return base, head
}

// suites are the changes of rows 2 and 2b, by how many packages they touch the tests of.
func suites() []int { return []int{0, suitePackages / 10, suitePackages} }

// A pushed is what ycbot took for new heads, as often as a shell that runs the head's suite
// once, in each round.
type pushed struct {
	wall, cpu []float64
	shell     time.Duration // in the last round
	last      ran
}

// push measures a change to the tests of some packages, with a new head each round and a base
// that is known. Where only one file changes from one head to the next, each run is given the
// one before, as that after a push is.
func (l *lab) push(ctx context.Context, name string, tests int, oneFile bool, args ...string) (p pushed, err error) {
	base, head := suiteProject(tests, 1)
	repo, err := l.repository(ctx, fmt.Sprint(name, tests), base, head)
	if err != nil {
		return p, err
	}
	for i := range l.rounds + 1 {
		_, head := suiteProject(tests, i+2)
		for name, text := range head {
			if oneFile && name != "p0/add.go" {
				continue
			}
			if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
				return p, err
			}
		}
		if _, err := l.command(ctx, repo, "git", "commit", "-qam", fmt.Sprint("round ", i)); err != nil {
			return p, err
		}
		began, burnt := time.Now(), childrenCPU()
		for _, argv := range []string{"go mod download", "go build ./...", "go test -count=1 -json ./..."} {
			if _, err := l.command(ctx, repo, strings.Fields(argv)...); err != nil {
				return p, err
			}
		}
		burnt = childrenCPU() - burnt
		p.shell = time.Since(began)
		all := append([]string{"--no-model"}, args...)
		if oneFile && i > 0 {
			all = append(all, "--previous", p.last.dir)
		}
		if p.last, err = l.run(ctx, repo, all...); err != nil {
			return p, err
		}
		if i > 0 { // the first fills the caches, and makes the base known
			p.wall, p.cpu = append(p.wall, float64(p.last.wall)/float64(p.shell)), append(p.cpu, float64(p.last.cpu)/float64(burnt))
		}
	}
	return p, nil
}

// childrenCPU is the processor time of all programs that were started here and have ended.
func childrenCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) // nothing but a wrong argument makes it fail
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// how says how a row of these was measured.
func (p pushed) how(what string) (string, error) {
	shares, err := p.last.shares()
	return fmt.Sprintf("%s; a new head each round; the shell runs download, build and tests once, with a warm build cache; in the last round it took %.1f s, of the gate %s", what, p.shell.Seconds(), shares), err
}

// touched says what a change is to.
func touched(tests int) string {
	return fmt.Sprintf("%d packages whose tests take 1.5 s each, of which the change touches %d", suitePackages, tests)
}

// firstVerdict compares the time to the first verdict of a gate that knows the base with a
// shell that runs the head's suite once. t is the share of the suite whose tests the
// change touches.
func firstVerdict(ctx context.Context, l *lab) ([]figure, error) {
	var out []figure
	for _, tests := range suites() {
		p, err := l.push(ctx, "suite", tests, false, "--until", "first")
		if err != nil {
			return nil, err
		}
		how, err := p.how(touched(tests))
		if err != nil {
			return nil, err
		}
		t := float64(tests) / suitePackages
		m, goal := median(p.wall), 1.15+2.2*t
		out = append(out, figure{
			"2", fmt.Sprintf("first verdict against the head's own suite, base known, t = %g", t), fmt.Sprintf("≤ %.2f ×", goal), fmt.Sprintf("%.2f ×", m), m <= goal, how,
		})
	}
	return out, nil
}

// wholeGate compares the whole of such a gate, with all that follows the first verdict.
func wholeGate(ctx context.Context, l *lab) ([]figure, error) {
	var out []figure
	for _, tests := range suites() {
		p, err := l.push(ctx, "whole", tests, false)
		if err != nil {
			return nil, err
		}
		how, err := p.how(touched(tests))
		if err != nil {
			return nil, err
		}
		wall, cpu := median(p.wall), median(p.cpu)
		out = append(out, figure{
			"2b", fmt.Sprintf("whole gate with probes, mutants and checks against the head's own suite, base known, t = %g", float64(tests)/suitePackages),
			"≤ 3 × of both times", fmt.Sprintf("%.1f × processor, %.1f × wall", cpu, wall), cpu <= 3 && wall <= 3, how,
		})
	}
	return out, nil
}

// secondPush compares the first verdict on a head that differs from the one before in a file.
func secondPush(ctx context.Context, l *lab) ([]figure, error) {
	const tests = suitePackages / 10
	p, err := l.push(ctx, "again", tests, true, "--until", "first")
	if err != nil {
		return nil, err
	}
	how, err := p.how(touched(tests) + "; each head after the first differs from the one before in a source file, and its run is given the run of that")
	if err != nil {
		return nil, err
	}
	m := median(p.wall)
	return []figure{{"2c", "second push that changes one file, first verdict", "≤ 0.30 ×", fmt.Sprintf("%.2f ×", m), m <= 0.3, how}}, nil
}
