package store

import (
	"fmt"
	"testing"
	"time"
)

// Results of a base are what any worker finds that saved or another, of its own
// repository only, for a week; of one repository only so many are kept.
func TestBaseResults(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		ctx, db, other := t.Context(), openAt(t, where), openAt(t, where)
		mine, theirs := db.BaseResults("1"), db.BaseResults("2")
		if data, err := mine.Load(ctx, "k"); data != nil || err != nil {
			t.Fatalf("nothing was saved: %q, %v", data, err)
		}
		for _, text := range []string{"first", `{"cases": []}`} {
			if err := mine.Save(ctx, "k", []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if data, err := other.BaseResults("1").Load(ctx, "k"); string(data) != `{"cases": []}` || err != nil {
			t.Errorf("another worker finds %q, %v", data, err)
		}
		if data, err := theirs.Load(ctx, "k"); data != nil || err != nil {
			t.Errorf("another repository finds %q, %v", data, err)
		}
		now := time.Now()
		db.now = func() time.Time { return now.Add(resultAge + time.Hour) }
		if data, err := mine.Load(ctx, "k"); data != nil || err != nil {
			t.Errorf("after a week there is still %q, %v", data, err)
		}
		for i := range maxResults + 3 {
			db.now = func() time.Time { return now.Add(time.Duration(i+1) * time.Minute) }
			if err := mine.Save(ctx, fmt.Sprint("key", i), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := theirs.Save(ctx, "k", []byte("theirs")); err != nil {
			t.Fatal(err)
		}
		count := func() int {
			t.Helper()
			n, err := collect(ctx, db.Reader(), scanOne[int], `select count(*) from base_results`)
			if err != nil {
				t.Fatal(err)
			}
			return n[0]
		}
		if n := count(); n != maxResults+1 {
			t.Errorf("%d results are kept", n)
		}
		if _, err := db.Sweep(ctx, now.Add(1000*time.Hour), 10); err != nil || count() != 0 {
			t.Errorf("%d results outlive the retention, %v", count(), err)
		}
	})
}
