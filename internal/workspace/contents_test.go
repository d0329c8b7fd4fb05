package workspace

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pointerOf(path, content string) (Pointer, string) {
	p := Pointer{Path: path, OID: fmt.Sprintf("%x", sha256.Sum256([]byte(content))), Size: int64(len(content))}
	return p, fmt.Sprintf("%soid sha256:%s\nsize %d\n", pointerHead, p.OID, p.Size)
}

// Trees have the contents that the mirror keeps: they count as unchanged, are put back
// where a command changed them, come with what is laid over a tree, and go into copies.
func TestContents(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	old, oldText := pointerOf("big.bin", "the first content\n")
	lost, lostText := pointerOf("sub/lost.bin", "nowhere to be found\n")
	same, sameText := pointerOf("same.bin", strings.Repeat("x", len(oldText)+1)) // as long as its pointer
	dir := newRepo(t)
	write(t, dir, map[string]string{
		".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.txt": "a\n",
		"big.bin": oldText, "sub/lost.bin": lostText, "same.bin": sameText,
	})
	first := commit(t, dir, "first")
	next, nextText := pointerOf("big.bin", "the second, which is longer\n")
	write(t, dir, map[string]string{"big.bin": nextText})
	second := commit(t, dir, "second")
	_, m, _ := imported(t, dir)

	got := must[[]Pointer](t)(m.Pointers(ctx, first))
	if diff := cmp.Diff([]Pointer{old, same, lost}, got); diff != "" {
		t.Fatalf("pointers (-want +got):\n%s", diff)
	}
	for content, p := range map[string]Pointer{"the first content\n": old, "the second, which is longer\n": next, strings.Repeat("x", int(same.Size)): same} {
		if err := m.KeepContent(p, strings.NewReader(content[:len(content)-1]+"?")); err == nil || m.HasContent(p) {
			t.Errorf("another content than the pointer's is kept: %v", err)
		}
		if err := m.KeepContent(p, strings.NewReader(content+"more")); err == nil || m.HasContent(p) {
			t.Errorf("a longer content than the pointer's is kept: %v", err)
		}
		if err := m.KeepContent(p, strings.NewReader(content)); err != nil || !m.HasContent(p) {
			t.Fatal(err)
		}
	}

	plain := worktree(t, m, "plain", first)
	if text := read(t, plain.Dir, "big.bin"); text != oldText {
		t.Errorf("where contents are not used: %q", text)
	}
	m.UseContents()
	tree := worktree(t, m, "tree", first)
	if text := read(t, tree.Dir, "big.bin"); text != "the first content\n" {
		t.Errorf("%q", text)
	}
	tree.PointersStay("its server is gone")
	if want := `files under Git LFS are pointers without their content: "sub/lost.bin" (its server is gone)`; len(tree.Notes) != 1 || tree.Notes[0] != want {
		t.Errorf("%q, want %q", tree.Notes, want)
	}
	if out := user(t, tree.Dir, "status", "--porcelain"); out != "" {
		t.Errorf("git takes the files for changed:\n%s", out)
	}
	settled(t, tree)

	for _, name := range []string{"big.bin", "same.bin"} {
		write(t, tree.Dir, map[string]string{name: oldText})
	}
	if diff := cmp.Diff([]string{"big.bin", "same.bin"}, must[[]string](t)(tree.Restore(ctx))); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	if text := read(t, tree.Dir, "big.bin"); text != "the first content\n" {
		t.Errorf("put back: %q", text)
	}
	settled(t, tree)

	copied := must[*Tree](t)(tree.Copy(ctx, filepath.Join(filepath.Dir(tree.Dir), "copied")))
	settled(t, copied)
	if err := copied.Overlay(ctx, second, []string{"big.bin"}); err != nil {
		t.Fatal(err)
	}
	if text := read(t, copied.Dir, "big.bin"); text != "the second, which is longer\n" {
		t.Errorf("laid over: %q", text)
	}
	settled(t, copied)
	if err := copied.Reset(ctx, tree); err != nil {
		t.Fatal(err)
	}
	if text := read(t, copied.Dir, "big.bin"); text != "the first content\n" {
		t.Errorf("reset: %q", text)
	}
}

// A text that only looks like a pointer, or that no attribute names, is a file as any other,
// and a link in the place of one is not followed.
func TestNoContents(t *testing.T) {
	t.Parallel()
	for what, text := range map[string]string{
		"another version": "version https://example.org/spec/v1\noid sha256:" + strings.Repeat("0", 64) + "\nsize 1\n",
		"a path":          pointerHead + "oid sha256:../" + strings.Repeat("0", 61) + "\nsize 1\n",
		"upper case":      pointerHead + "oid sha256:" + strings.Repeat("A", 64) + "\nsize 1\n",
		"no size":         pointerHead + "oid sha256:" + strings.Repeat("0", 64) + "\n",
		"negative":        pointerHead + "oid sha256:" + strings.Repeat("0", 64) + "\nsize -1\n",
		"huge":            pointerHead + "oid sha256:" + strings.Repeat("0", 64) + "\nsize 9999999999999999999\n",
		"another address": strings.Replace(pointerHead, ".", "x", 1) + "oid sha256:" + strings.Repeat("0", 64) + "\nsize 1\n",
		"more lines":      pointerHead + "oid sha256:" + strings.Repeat("0", 64) + "\nsize 1\nx\n",
	} {
		if p, ok := parsePointer("f", []byte(text)); ok {
			t.Errorf("%s: %+v", what, p)
		}
	}
	_, text := pointerOf("big.bin", "content\n")
	dir := newRepo(t)
	write(t, dir, map[string]string{"big.bin": text})
	symlink(t, "big.bin", filepath.Join(dir, "link.bin"))
	first := commit(t, dir, "first")
	_, m, _ := imported(t, dir)
	if got := must[[]Pointer](t)(m.Pointers(t.Context(), first)); len(got) > 0 {
		t.Errorf("without attributes: %+v", got)
	}
	m.UseContents()
	tree := worktree(t, m, "tree", first)
	if read(t, tree.Dir, "big.bin") != text || len(tree.Notes) > 0 {
		t.Errorf("%q", tree.Notes)
	}
	if _, err := os.Readlink(filepath.Join(tree.Dir, "link.bin")); err != nil {
		t.Error(err)
	}
}
