package spent_test

import (
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/testing/spent"
)

func TestOn(t *testing.T) {
	t.Parallel()
	began := time.Now()
	took := spent.On(t, func() {
		for n := 0; n < 1<<25; n++ { //nolint:intrange // it is to take some time
			if n == -1 {
				t.Log(n)
			}
		}
	})
	if took <= 0 || took > time.Since(began)+50*time.Millisecond { // it is counted in ticks
		t.Errorf("%v of %v", took, time.Since(began))
	}
	if idle := spent.On(t, func() { <-time.After(300 * time.Millisecond) }); idle > 200*time.Millisecond {
		t.Errorf("waiting takes %v of a processor", idle)
	}
}
