// Package known keeps what the tests of bases said from one run to the next, so that they do
// not have to run for each change.
package known

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/sorted"
)

// BaseResults keeps what tests of bases said from one run to the next. What is
// kept decides alone only that nothing has to be looked at: whatever is said of a
// test by name rests on a run of it at the base in the same log.
type BaseResults interface {
	// Load returns what was saved under key, nil for nothing.
	Load(ctx context.Context, key string) ([]byte, error)
	Save(ctx context.Context, key string, data []byte) error
}

// Cached says that the tests of the base were not run, because their results
// were known.
type Cached struct {
	When  time.Time     `json:"when"`  // they ran
	Saved time.Duration `json:"saved"` // how long they took then
	Key   string        `json:"key"`
	Tests int           `json:"tests"`
}

// A Record is a saved suite: of all tests of some commands, and of single
// packages of others.
type Record struct {
	When  time.Time     `json:"when"`
	Took  time.Duration `json:"took"`
	Whole []string      `json:"whole"` // commands all of whose tests are there, as wholly names them
	Cases []Case        `json:"cases"`
	Left  []string      `json:"left,omitempty"` // files that tests leave behind that count as one
}

// Wholly names a command in a record.
func Wholly(c ecosystem.Command) string { return c.Unit + " " + cmp.Or(c.Whole, c.Text) }

func (k *Record) has(id results.ID) bool {
	return slices.ContainsFunc(k.Cases, func(c Case) bool { return c.ID == id })
}

// A Case is one test of a record.
type Case struct {
	ID   results.ID   `json:"id"`
	Test results.Test `json:"test"`
}

// baseAge is how old results may be that are used: dependencies that no lockfile
// pins, certificates and the calendar move without a change of the base.
const Age = 7 * 24 * time.Hour

// Unknown is what of a test command at the base has to be run, because nothing is
// known of it; without words where that is nothing.
func (k *Record) Unknown(c ecosystem.Command) ecosystem.Command {
	if k == nil {
		return c
	}
	if slices.Contains(k.Whole, Wholly(c)) {
		return ecosystem.Command{}
	}
	if c.Whole == "" {
		return c
	}
	left := slices.DeleteFunc(slices.Clone(c.Packages), func(p string) bool { return k.has(results.ID{Unit: c.Unit, Package: p}) })
	if len(left) == 0 {
		return ecosystem.Command{}
	}
	return languages.PackagesOf(c.Eco).Only(c, left)
}

// ResultFiles is a folder of BaseResults.
type ResultFiles struct {
	Dir string
	Now func() time.Time
}

// maxResults bounds how many results are kept: the oldest go.
const maxResults = 30

// Load implements [BaseResults].
func (f ResultFiles) Load(_ context.Context, key string) ([]byte, error) {
	name := filepath.Join(f.Dir, key+".json")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && f.Now().Sub(info.ModTime()) > Age {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// Save implements [BaseResults].
func (f ResultFiles) Save(_ context.Context, key string, data []byte) error {
	if err := folder.WriteWhole(filepath.Join(f.Dir, key+".json"), data); err != nil {
		return err
	}
	return f.trim()
}

// trim removes what is too old or too much. Others may do so at the same time.
func (f ResultFiles) trim() error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && e.Name() != runs.FlakeName {
			files = append(files, info)
		}
	}
	sorted.By(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for i, info := range files {
		if i < maxResults && f.Now().Sub(info.ModTime()) <= Age {
			continue
		}
		if err := os.Remove(filepath.Join(f.Dir, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
