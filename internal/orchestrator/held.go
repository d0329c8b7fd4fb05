package orchestrator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/tool"
)

// kindHeld entries of the journal are states of a process that an agent holds: keys are the
// agent's id, that of the process, and the number of the state.
const kindHeld = "held"

// keepHeld has the journal keep the states of what an agent holds.
func (w *work) keepHeld(id string) func(tool.Holding) error {
	return func(h tool.Holding) error {
		n := 1
		for _, e := range w.dir.Journal.Entries(kindHeld) {
			if strings.HasPrefix(e.Key, id+"/"+h.ID+"/") {
				n++
			}
		}
		return w.dir.Journal.Append(kindHeld, fmt.Sprintf("%s/%s/%d", id, h.ID, n), h)
	}
}

// heldBefore is what an agent held when the run was ended in the middle, in the order in which
// it was started. States behind the last call that was answered do not count: the call that
// led to them is made again.
func (w *work) heldBefore(id string) []tool.Holding {
	last := 0
	for _, e := range w.dir.Journal.Entries("tool") {
		if strings.HasPrefix(e.Key, id+"/") {
			last = e.Seq
		}
	}
	var out []tool.Holding
	for _, e := range w.dir.Journal.Entries(kindHeld) {
		var h tool.Holding
		if !strings.HasPrefix(e.Key, id+"/") || e.Seq > last || json.Unmarshal(e.Data, &h) != nil {
			continue
		}
		if at := slices.IndexFunc(out, func(o tool.Holding) bool { return o.ID == h.ID }); at >= 0 {
			out[at] = h
		} else {
			out = append(out, h)
		}
	}
	return out
}
