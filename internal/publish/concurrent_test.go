package publish

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestConcurrentRuns: runs that end at the same moment, none of which saw a comment,
// leave one that counts.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const runs = 4
	var wg sync.WaitGroup
	for i := range runs {
		p, tgt, rep := b.publisher(nil), b.target(i), b.failing(i)
		wg.Go(func() {
			if _, err := p.Finish(t.Context(), tgt, rep, Ending{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	marked := 0
	for i, c := range b.ours() {
		switch {
		case strings.HasPrefix(c.Body, fmt.Sprintf("<!-- ycbot:v1 octo/calc#%d -->\n", b.n)):
			if marked++; i != 0 {
				t.Errorf("the comment that counts is number %d", i)
			}
		case !strings.HasPrefix(c.Body, markMoved):
			t.Errorf("comment %q", c.Body)
		}
	}
	rs := b.checksOf(b.head)
	if marked != 1 || len(rs) != runs {
		t.Errorf("%d comments that count, %d check runs, want 1 and %d", marked, len(rs), runs)
	}
	for _, r := range rs {
		if r.Conclusion != failure {
			t.Errorf("check run %+v", r)
		}
	}
}

// TestProgressDuringEnd: progress that comes while the run ends never opens it again.
func TestProgressDuringEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.publisher(nil)
	tgt := b.target(1)
	b.begin(p, tgt)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 10 {
				b.clock.Advance(time.Minute)
				if err := p.Progress(t.Context(), tgt, fmt.Sprint("step ", i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	b.finish(p, tgt, b.failing(120), Ending{})
	wg.Wait()
	if _, run := b.one(tgt.HeadSHA); run.Status != "completed" || run.Conclusion != failure {
		t.Errorf("%s %s", run.Status, run.Conclusion)
	}
}
