package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A pointer that is read is one that git-lfs writes, and its content has a place of its own.
func FuzzPointer(f *testing.F) {
	const oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	for _, text := range []string{pointerHead + "oid sha256:" + oid + "\nsize 12345\n", pointerHead + "ext-0-x sha256:" + oid + "\noid sha256:" + oid + "\nsize 0\n", pointerHead + "oid sha256:../../x\nsize 1\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := parsePointer("a", []byte(text))
		if !ok {
			return
		}
		if !filepath.IsLocal(ContentPath(p.OID)) || filepath.Dir(filepath.Dir(filepath.Dir(ContentPath(p.OID)))) != filepath.Join("lfs", "objects") || p.Size < 0 {
			t.Errorf("%q: %+v", text, p)
		}
		plain := fmt.Sprintf("%soid sha256:%s\nsize %d\n", pointerHead, p.OID, p.Size)
		if again, ok := parsePointer("a", []byte(plain)); !ok || again != p {
			t.Errorf("%q: %+v, and written again %+v", text, p, again)
		}
		if !strings.HasPrefix(text, pointerHead) || !strings.Contains(text, "oid sha256:"+p.OID+"\n") {
			t.Errorf("%q: %+v", text, p)
		}
	})
}
