package known

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
)

// A Known is what results of a base that were kept say of one test.
type Known struct {
	ID   results.ID
	Test results.Test
	When time.Time // when the base was tested
}

// Key is what the test has in a record of [Flakes].
func (k Known) Key() string { return runs.FlakeKey(k.ID) }

// ReadKnown finds in results of a base, as they are kept, those of the tests that reports
// call by a name. Results without tests have none.
func ReadKnown(data []byte, name string) ([]Known, error) {
	var rec Record
	if err := json.Unmarshal(data, &rec); err != nil {
		return nil, fmt.Errorf("results of a base: %w", err)
	}
	var out []Known
	for _, c := range rec.Cases {
		if c.ID.String() == name {
			out = append(out, Known{ID: c.ID, Test: c.Test, When: rec.When})
		}
	}
	return out, nil
}
