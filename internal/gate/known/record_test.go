package known

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Results that are old or too many go; what is not there is no error.
func TestResultFiles(t *testing.T) {
	t.Parallel()
	now := time.Now()
	f := ResultFiles{Dir: filepath.Join(t.TempDir(), "base"), Now: func() time.Time { return now }}
	if data, err := f.Load(t.Context(), "a"); data != nil || err != nil {
		t.Fatalf("%q, %v", data, err)
	}
	for i := range maxResults + 5 {
		key := "k" + string(rune('A'+i))
		if err := f.Save(t.Context(), key, []byte(key)); err != nil {
			t.Fatal(err)
		}
		then := now.Add(time.Duration(i-100) * time.Minute)
		if err := os.Chtimes(filepath.Join(f.Dir, key+".json"), then, then); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Save(t.Context(), "last", []byte("last")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(f.Dir)
	if err != nil || len(entries) != maxResults {
		t.Errorf("%d results are kept, %v", len(entries), err)
	}
	if data, err := f.Load(t.Context(), "last"); string(data) != "last" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	now = now.Add(2 * Age)
	if data, _ := f.Load(t.Context(), "last"); data != nil {
		t.Error("results of long ago are used")
	}
}
