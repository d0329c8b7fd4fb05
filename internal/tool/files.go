package tool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Trees are what the file tools read: the pristine files of both sides, not the
// copies that commands work on. No path, link or device leads out of them.
type Trees struct {
	Head  *os.Root
	Base  *os.Root // nil: there is none to read
	Spill *os.Root // the run's folder of full outputs; nil: handles lead nowhere

	// Hidden reports whether a rule of a kind, such as Read, keeps back a path below the
	// root that a tool comes across; nil: none does. Files whose name alone gives them away
	// are kept back always.
	Hidden func(rule, path string) bool
	// Permit says why a call that leads through a symbolic link is refused for what is
	// behind it, nil to let it go on; real gives the path behind links. nil: no call is refused.
	Permit func(t Tool, args json.RawMessage, real func(string) string) *Denied

	// HeadDir and BaseDir are where commands see the two sides; a path below one
	// of them is understood as the same file of that side. May be empty.
	HeadDir, BaseDir string
}

// The sides of a change as arguments name them.
const (
	sideHead = "head"
	sideBase = "base"
)

// A place is a file or folder of one side, by its path inside it.
type place struct {
	root *os.Root
	name string // clean, slash-separated, "." for the root
	real string // the path behind symbolic links
	hide func(rule, path string) bool
}

// paths are the paths of a file below a place: as it was asked for, and behind links. Below a
// place none is followed.
func (p place) paths(name string) []string {
	if p.real == p.name {
		return []string{name}
	}
	return []string{name, path.Join(p.real, relative(p.name, name))}
}

// kept says why a file below a place is not read.
func (p place) kept(name string) string {
	for _, n := range p.paths(name) {
		why := Private(n)
		if why == "" && p.hide != nil && p.hide("Read", n) {
			why = "a rule of the permission file keeps it back"
		}
		switch {
		case why != "" && n != name:
			return "it points to a file that is private (" + why + ")"
		case why != "":
			return why
		}
	}
	return ""
}

// hidden reports whether a rule of a kind keeps back what lies below a place.
func (p place) hidden(rule, name string) bool {
	return p.hide != nil && slices.ContainsFunc(p.paths(name), func(n string) bool { return p.hide(rule, n) })
}

// behind has a tool ask about what its paths lead to through symbolic links, as it is asked
// about the paths themselves before it runs.
func (t Trees) behind(tl Tool) Tool {
	run := tl.Run
	tl.Run = func(ctx context.Context, args json.RawMessage) (Result, error) {
		var in struct{ Side string }
		_ = json.Unmarshal(args, &in) // what does not fit is the tool's to say
		linked := tl.About == nil
		real := func(p string) string {
			at, err := t.place(p, in.Side)
			if err != nil { // the tool says so
				return p
			}
			linked = linked || at.real != at.name
			return at.real
		}
		if !linked {
			tl.About(args, real)
		}
		if linked && t.Permit != nil {
			if d := t.Permit(tl, args, real); d != nil {
				return Result{Denied: d}, nil
			}
		}
		return run(ctx, args)
	}
	return tl
}

// place understands a path that a model gave.
func (t Trees) place(p, side string) (place, error) {
	switch side {
	case "":
		side = sideHead
	case sideHead, sideBase:
	default:
		return place{}, Badf("side %q: it is head or base", side)
	}
	if strings.ContainsRune(p, 0) {
		return place{}, Badf("path %q has a NUL in it", p)
	}
	if path.IsAbs(p) {
		rest, of, ok := t.below(p)
		if !ok {
			return place{}, Badf("%s is outside of the project; paths are relative to its root", show(p))
		}
		if p = rest; of != "" {
			side = of
		}
	}
	name := path.Clean(p)
	if name == ".." || strings.HasPrefix(name, "../") {
		return place{}, Badf("%s is outside of the project", show(p))
	}
	root := t.Head
	if side == sideBase {
		root = t.Base
	}
	if root == nil {
		return place{}, Badf("there is no %s tree to read", side)
	}
	return place{root, name, resolved(root, name), t.Hidden}, nil
}

// below says which side an absolute path belongs to.
func (t Trees) below(p string) (rest, side string, ok bool) {
	p = path.Clean(p)
	for _, d := range []struct{ dir, side string }{{t.BaseDir, sideBase}, {t.HeadDir, sideHead}} {
		if d.dir == "" {
			continue
		}
		if rest, err := filepath.Rel(d.dir, p); err == nil && filepath.IsLocal(rest) {
			return filepath.ToSlash(rest), d.side, true
		}
	}
	return "", "", false
}

// open opens a regular file that may be read.
func (p place) open() (*os.File, error) {
	if why := p.kept(p.name); why != "" {
		return nil, Badf("%s is not read: %s", show(p.name), why)
	}
	return openRegular(p.root, p.name)
}

// resolved is the path behind symbolic links, the path itself where they lead
// nowhere or out. The trees are read-only, so it still holds when it is opened.
func resolved(root *os.Root, name string) string {
	full, err := filepath.EvalSymlinks(filepath.Join(root.Name(), name))
	if err != nil {
		return name
	}
	top, err := filepath.EvalSymlinks(root.Name())
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(top, full)
	if err != nil || !filepath.IsLocal(rel) {
		return name
	}
	return filepath.ToSlash(rel)
}

// openRegular opens without waiting for the writer of a named pipe.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fileError(name, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fileError(name, err)
	case info.IsDir():
		err = Badf("%s is a folder; list_dir lists it", show(name))
	case !info.Mode().IsRegular():
		err = Badf("%s is no regular file but a %s", show(name), kind(info.Mode()))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// fileError words why a path cannot be used: the model's mistake or a trick of
// the change's, but no fault of ours.
func fileError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Badf("%s does not exist", show(name))
	case strings.Contains(err.Error(), "escapes"):
		return Badf("%s leads out of the project through a symbolic link and is not followed", show(name))
	case errors.Is(err, syscall.ELOOP):
		return Badf("%s is a symbolic link that leads to itself", show(name))
	case errors.Is(err, syscall.ENOTDIR):
		return Badf("%s: a part of the path is no folder", show(name))
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, fs.ErrInvalid):
		return Badf("%s cannot be read: %v", show(name), errors.Unwrap(err))
	}
	return err
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m.IsDir():
		return "folder"
	}
	return "special file"
}

// show quotes a path for a sentence, with hidden characters visible.
func show(name string) string { return "“" + inline(name) + "”" }

// inline is a file name on one line.
func inline(name string) string {
	return strings.NewReplacer("\n", "<U+000A>", "\r", "<U+000D>", "\t", "<U+0009>").Replace(evidence.Visible(name))
}

// Private says why a file is not read, from its name alone: .env files but
// their examples, files with keys, and data files called credentials or secret. Source
// code and texts may be called so.
func Private(name string) string {
	base := strings.ToLower(path.Base(name))
	switch {
	case strings.HasPrefix(base, ".env") && !example.MatchString(base):
		return "environment files may hold secrets"
	case keyFile.MatchString(base):
		return "it is named like a key"
	case strings.Contains(base, "credentials") || strings.Contains(base, "secret"):
		if !sourceFile.MatchString(base) && !example.MatchString(base) {
			return "it is named like a store of secrets"
		}
	}
	return ""
}

// sources are the endings of source code and of texts. Those of an ecosystem are among them.
const sources = "go|py|pyi|js|jsx|mjs|cjs|ts|tsx|mts|cts|vue|svelte|java|kt|kts|scala|groovy|rs|rb|php|cs|fs|vb|c|cc|cpp|cxx|h|hh|hpp|m|mm|swift|dart|ex|exs|erl|hs|ml|clj|lua|pl|pm|r|jl|zig|nim|sh|bash|zsh|ps1|bat|sql|graphql|proto|tf|html|css|scss|md|mdx|rst|adoc|snap|golden|txtar"

var (
	example    = pattern.New(`\.(example|sample|template|tmpl|dist)(\.|$)`)
	keyFile    = pattern.New(`^(\.netrc|\.pypirc|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|jks|keystore))$`)
	sourceFile = pattern.New(`\.(` + sources + `)$`)
)
