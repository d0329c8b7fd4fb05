package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// promptCost is the size of what every question begins with, and what a
// conversation costs in bytes where a provider takes 1.25 for new ones and 0.1 for
// those that it has cached. The limit is that of a conversation without the fixed
// part.
func promptCost(turns []turn) (fixed int, effective, limit float64) {
	fixed = len(fixedPart(turns[0].body))
	var before []byte
	for _, t := range turns {
		same := commonPrefix(before, t.body)
		effective += 0.1*float64(same) + 1.25*float64(len(t.body)-same)
		own, ownBefore := len(t.body)-fixed, max(0, len(before)-fixed)
		limit += 0.1*float64(ownBefore) + 1.25*float64(own-ownBefore)
		before = t.body
	}
	return fixed, effective, limit
}

// prefixes are the share of a question that repeats the one before, and of the
// fixed part that is the same in another run.
func prefixes(session, other []turn) (within, across float64) {
	var same, all int
	for i := 1; i < len(session); i++ {
		before := history(session[i-1].body)
		same += commonPrefix(before, history(session[i].body))
		all += len(before)
	}
	a, b := fixedPart(session[0].body), fixedPart(other[0].body)
	return float64(same) / float64(all), float64(commonPrefix(a, b)) / float64(len(a))
}

// history is the list of messages of a question, without what closes it.
func history(body []byte) []byte {
	var in struct{ Messages json.RawMessage }
	if json.Unmarshal(body, &in) != nil || len(in.Messages) == 0 {
		return nil
	}
	return in.Messages[:len(in.Messages)-1]
}

// fixedPart is what is the same for each task: tools and the system text.
func fixedPart(body []byte) []byte {
	var in struct {
		Tools    json.RawMessage
		Messages []json.RawMessage
	}
	if json.Unmarshal(body, &in) != nil || len(in.Messages) == 0 {
		return nil
	}
	return append([]byte(in.Tools), in.Messages[0]...)
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// A burden is what a process takes: peak memory, what of the present memory is its
// own and no mapped file, and its processor time so far.
type burden struct {
	peak, own int64
	cpu       time.Duration
}

// process finds the running program and says what it takes. Only Linux reports it.
func process(binary string) (b burden, ok bool) {
	names, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return b, false
	}
	for _, name := range names {
		dir := filepath.Dir(name)
		argv, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !strings.HasPrefix(string(argv), binary+"\x00run\x00") {
			continue
		}
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err != nil {
			continue
		}
		b.peak, b.own = memory(string(status), "VmHWM:"), memory(string(status), "RssAnon:")
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		words := strings.Fields(rest)
		if len(words) < 13 {
			continue
		}
		var ticks int64
		for _, w := range words[11:13] {
			n, _ := strconv.ParseInt(w, 10, 64)
			ticks += n
		}
		b.cpu = time.Duration(ticks) * 10 * time.Millisecond
		return b, true
	}
	return b, false
}

// memory is the value of a line of /proc/PID/status, in bytes; 0: there is none.
func memory(status, name string) int64 {
	_, after, _ := strings.Cut(status, name)
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
