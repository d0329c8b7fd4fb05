package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/textproto"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/test/releases"
)

//go:embed testdata/*.txtar
var seededFiles embed.FS

// A Case is one change of which it is known whether it is good.
type Case struct {
	Name  string // such as "paging/bad"
	Group Group
	Bad   bool
	Kind  string // of a seeded one, what it is about, such as "server"
	Wrong string // of a bad one, what is wrong with it; no model sees it
	Title string // subject of its commit
	Task  string // what it says that it does

	project string   // name of the repository
	digest  string   // of everything that the case is made of
	needs   []string // programs
	script  string   // of a seeded one, a scripted verifier that tries the right thing
	fill    func(ctx context.Context, r releases.Repo) error
}

// A Group is a source of cases. The strings are stored: do not change them.
type Group string

// Where cases come from.
const (
	Seeded  Group = "seeded"  // made for this purpose, in testdata
	Release Group = "release" // what people released, forward: good
	Undone  Group = "undone"  // a release taken back together with its tests: bad
)

// kinds are what seeded changes are about. "unseen" is what a study of past changes
// has: a change without its tests, of which the bad attempt lacks a part.
var kinds = []string{"server", "page", "concurrency", "migration", "feature", "unseen", "refactoring", "configuration", "command line"}

// A seed is a file of testdata: one repository and two attempts at the same
// change, under the same title and with the same tests.
type seed struct {
	name               string
	title, task, wrong string
	kind               string
	isNew              bool // the change adds or fixes something: the proof need not pass at base
	files              []txtar.File
	digest             string
}

// seeds reads the made changes of a file system, in the order of their names.
func seeds(fsys fs.FS) ([]seed, error) {
	names, err := fs.Glob(fsys, "testdata/*.txtar")
	if err != nil {
		return nil, err
	}
	var out []seed
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		s, err := parseSeed(strings.TrimSuffix(path.Base(name), ".txtar"), data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// parseSeed reads an archive whose comment is a header of the form of mail.
func parseSeed(name string, data []byte) (seed, error) {
	ar := txtar.Parse(data)
	s := seed{name: name, files: ar.Files, digest: digest(data)}
	head, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(append(bytes.TrimSpace(ar.Comment), "\n\n"...)))).ReadMIMEHeader()
	if err != nil {
		return s, fmt.Errorf("header: %w", err)
	}
	for key := range head {
		if !slices.Contains([]string{"Title", "Task", "Wrong", "Kind", "New"}, key) {
			return s, fmt.Errorf("header %s: want Title, Task, Wrong, Kind and New", key)
		}
	}
	s.title, s.task, s.wrong, s.kind, s.isNew = head.Get("Title"), head.Get("Task"), head.Get("Wrong"), head.Get("Kind"), head.Get("New") == "yes"
	if s.title == "" || s.task == "" || s.wrong == "" {
		return s, fmt.Errorf("header: want Title, Task and Wrong")
	}
	if !slices.Contains(kinds, s.kind) {
		return s, fmt.Errorf("header Kind: want one of %s", strings.Join(kinds, ", "))
	}
	have := map[string]bool{}
	for _, f := range ar.Files {
		layer, rest, _ := strings.Cut(f.Name, "/")
		if !slices.Contains([]string{"base", "change", "good", "bad", "proof", "probe"}, layer) || !filepath.IsLocal(rest) {
			return s, fmt.Errorf("file %s: want it below base/, change/, good/, bad/, proof/ or probe/", f.Name)
		}
		have[layer] = true
	}
	if !have["base"] || !have["good"] || !have["bad"] || !have["proof"] {
		return s, fmt.Errorf("want files below base/, good/, bad/ and proof/")
	}
	return s, nil
}

// write lays the files of layers over each other into dir.
func (s seed) write(dir string, layers ...string) error {
	for _, layer := range layers {
		for _, f := range s.files {
			name, ok := strings.CutPrefix(f.Name, layer+"/")
			if !ok {
				continue
			}
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, f.Data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// cases are both attempts.
func (s seed) cases() []Case {
	var out []Case
	for _, attempt := range []string{"good", "bad"} {
		c := Case{
			Name: s.name + "/" + attempt, Group: Seeded, Kind: s.kind, Bad: attempt == "bad", Title: s.title, Task: s.task, project: s.name, digest: s.digest,
			needs: s.needs(), script: s.script(),
			fill: func(ctx context.Context, r releases.Repo) error {
				return commits(ctx, r, "as it was", s.title, func() error { return s.write(r.Dir, "base") }, func() error { return s.write(r.Dir, "base", "change", attempt) })
			},
		}
		if c.Bad {
			c.Wrong = s.wrong
		}
		out = append(out, c)
	}
	return out
}

func seededCases() ([]Case, error) {
	all, err := seeds(seededFiles)
	if err != nil {
		return nil, err
	}
	var out []Case
	for _, s := range all {
		out = append(out, s.cases()...)
	}
	return out, nil
}

// releaseCases are the pairs of the release study: each release as it was made,
// and those of which it is known what they brought also taken back.
func releaseCases(download func(ctx context.Context, module, version string) (releases.Files, error)) []Case {
	var out []Case
	for _, p := range releases.Pairs() {
		project := path.Base(p.Module)
		if prefix, _, ok := strings.Cut(p.Module, "/v"); ok {
			project = path.Base(prefix)
		}
		both := func(ctx context.Context) (from, to releases.Files, err error) {
			if from, err = download(ctx, p.Module, p.From); err == nil {
				to, err = download(ctx, p.Module, p.To)
			}
			return from, to, err
		}
		id := digest(fmt.Append(nil, p))
		out = append(out, Case{
			Name: project + "@" + p.To + "/release", Group: Release, Title: "release " + p.To, Task: "Release " + p.To + " of " + p.Module + ".",
			project: project, digest: id,
			fill: func(ctx context.Context, r releases.Repo) error {
				from, to, err := both(ctx)
				if err != nil {
					return err
				}
				return commits(ctx, r, "release "+p.From, "release "+p.To, func() error { return r.Fill(from) }, func() error { return r.Fill(to) })
			},
		})
		if p.Lost == "" {
			continue
		}
		out = append(out, Case{
			Name: project + "@" + p.To + "/undone", Group: Undone, Bad: true, Wrong: "lost: " + p.Lost, Title: "simplify",
			Task: "A refactoring, with its tests. Nothing that callers can see changes.", project: project, digest: id,
			fill: func(ctx context.Context, r releases.Repo) error {
				from, to, err := both(ctx)
				if err != nil {
					return err
				}
				return commits(ctx, r, "release "+p.To, "simplify", func() error { return r.Fill(to) }, func() error { return r.PutBack(from, to) })
			},
		})
	}
	return out
}

// commits makes the two commits of a case.
func commits(ctx context.Context, r releases.Repo, before, after string, base, head func() error) error {
	if _, err := r.Commit(ctx, "before", before, base); err != nil {
		return err
	}
	_, err := r.Commit(ctx, "after", after, head)
	return err
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16]
}

// choose keeps the cases whose names contain one of the comma-separated words, all of them for none.
func choose(all []Case, words string) []Case {
	wanted := strings.FieldsFunc(words, func(r rune) bool { return r == ',' })
	if len(wanted) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Case) bool {
		return !slices.ContainsFunc(wanted, func(w string) bool { return strings.Contains(c.Name, w) })
	})
}
