package repository

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// An Index is a copy of the user's index in a view, on which git is run beside the user's
// files. No object is looked for in the user's store, where git would touch the ones it
// finds.
type Index struct {
	r       *Repository
	v       *View
	objects string
}

// Index copies the user's index into v; objects that git makes go into the folder objects,
// "": it makes none. The copy keeps the modification time: git knows by it which entries
// may have been changed in the moment the index was written.
func (r *Repository) Index(v *View, objects string) (*Index, error) {
	shared, err := fs.Glob(os.DirFS(r.GitDir), "sharedindex.*")
	if err != nil {
		return nil, err
	}
	for _, name := range append(shared, "index") {
		if err := folder.CopyIfThere(filepath.Join(r.GitDir, name), filepath.Join(v.Dir, name)); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"attributes", "exclude", "sparse-checkout"} {
		dir := r.CommonDir
		if name == "sparse-checkout" {
			dir = r.GitDir // each worktree has its own
		}
		if err := folder.CopyIfThere(filepath.Join(dir, "info", name), filepath.Join(v.Dir, "info", name)); err != nil {
			return nil, err
		}
	}
	return &Index{r: r, v: v, objects: objects}, nil
}

// Call is a git command on the index and the user's files.
func (x *Index) Call(args ...string) git.Call {
	settings := []string{"-c", "core.bare=false", "-c", "core.fileMode=" + strconv.FormatBool(!x.r.nomode)}
	if x.r.crlf != "" {
		settings = append(settings, "-c", "core.autocrlf="+x.r.crlf, "-c", "core.safecrlf=false")
	}
	if x.r.sparse {
		settings = append(settings, "-c", "core.sparseCheckout=true")
	}
	env := []string{"GIT_WORK_TREE=" + x.r.Root}
	if x.objects != "" {
		env = append(env, "GIT_OBJECT_DIRECTORY="+x.objects)
	}
	return git.Call{Dir: x.r.Root, GitDir: x.v.Dir, Env: env, Args: append(settings, args...)}
}
