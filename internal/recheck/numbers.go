package recheck

import (
	"slices"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/pattern"
)

// numbers are the ids that evidence has now by those that it has in the record. They
// differ where agents run commands side by side: ids are given in the order in which
// commands end. They differ too where the caches of a machine have what the other one lacked.
type numbers map[string]string

var evidenceID = pattern.New(`\bE[1-9][0-9]*\b`)

// pair takes up the records of an agent's task, which are in the same order both times.
func (n numbers) pair(was, now []evidence.Record, taskWas, taskNow string) {
	mine := func(all []evidence.Record, task string) []string {
		var ids []string
		for _, r := range all {
			if r.Task == task {
				ids = append(ids, r.ID)
			}
		}
		return ids
	}
	a, b := mine(was, taskWas), mine(now, taskNow)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n[a[i]] = b[i]
		}
	}
}

// pairDeciding takes up what the gate or the harness ran, which is in the same order both times.
func (n numbers) pairDeciding(was, now []evidence.Record, agent string) {
	mine := func(all []evidence.Record) []evidence.Record {
		return slices.DeleteFunc(deciding(all), func(r evidence.Record) bool { return r.Agent != agent || !r.Executed })
	}
	a, b := mine(was), mine(now)
	for i := range min(len(a), len(b)) {
		if a[i].Task != b[i].Task {
			return // it departs, and no number after that means the same
		}
		if a[i].ID != b[i].ID {
			n[a[i].ID] = b[i].ID
		}
	}
}

// deciding are the records without those of commands that only fill caches.
func deciding(all []evidence.Record) []evidence.Record {
	return slices.DeleteFunc(slices.Clone(all), func(r evidence.Record) bool { return r.Agent == gate.Agent && fillsCaches(r) })
}

// replace puts the ids of now in the place of the recorded ones.
func (n numbers) replace(text string) string {
	if len(n) == 0 {
		return text
	}
	return evidenceID.ReplaceAllStringFunc(text, func(id string) string {
		if now, ok := n[id]; ok {
			return now
		}
		return id
	})
}
