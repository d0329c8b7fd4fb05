package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// An Exchange is one question as it went over the wire and what became of it,
// for model.jsonl. It holds no headers and no key.
//
// Each question repeats the conversation before it. So in the file a request may
// stand as what it adds: its first Same bytes are those of the request before of
// the same agent and API, and Rest follows them. [ReadExchanges] puts both
// together again.
type Exchange struct {
	Time       time.Time       `json:"time"`
	Agent      string          `json:"agent"`
	ID         string          `json:"agent_id"`
	API        string          `json:"api,omitempty"` // which form Request has: chat, responses or messages
	Model      string          `json:"model"`
	N          int             `json:"n"`       // number of the answer in its conversation, from 1
	Attempt    int             `json:"attempt"` // from 1
	Status     int             `json:"status"`  // HTTP; 0: no response
	DurationMS int64           `json:"duration_ms"`
	Request    json.RawMessage `json:"request,omitempty"`  // the body as it was sent
	Same       int             `json:"same,omitempty"`     // in its place, in the file
	Rest       string          `json:"rest,omitempty"`     // the same
	Response   *Response       `json:"response,omitempty"` // nil where the attempt gave none
	Error      string          `json:"error,omitempty"`
	Unasked    bool            `json:"unasked,omitempty"` // nothing was sent, because a question before was refused for good
}

// Deltas are the requests that exchanges are written against: the last one of each
// agent and API. The zero value has none.
type Deltas struct{ last map[string][]byte }

func deltaKey(e Exchange) string { return e.ID + "\x00" + e.API }

// worthwhile is how much of a request must be known for it to be cut.
const worthwhile = 200

// Known is how many of the first bytes of e's request are those of the one before.
func (d *Deltas) Known(e Exchange) int {
	before, body := d.last[deltaKey(e)], []byte(e.Request)
	const step = 4 << 10
	same, most := 0, min(len(before), len(body))
	for same+step <= most && bytes.Equal(before[same:same+step], body[same:same+step]) {
		same += step
	}
	for same < most && before[same] == body[same] {
		same++
	}
	return same
}

// Remember keeps e's request, which is whole, as the one that the next is written
// against. It is not to be changed afterwards.
func (d *Deltas) Remember(e Exchange) {
	if d.last == nil {
		d.last = map[string][]byte{}
	}
	d.last[deltaKey(e)] = e.Request
}

// Cut puts what e's request adds in the place of the request, where much of it is
// that of the one before. It leaves the Deltas as they are: what was written is
// added with Restore or Remember.
func (d *Deltas) Cut(e Exchange) Exchange {
	body, same := []byte(e.Request), d.Known(e)
	for same > 0 && same < len(body) && !utf8.RuneStart(body[same]) {
		same--
	}
	if same < worthwhile || !utf8.Valid(body) {
		return e
	}
	e.Request, e.Same, e.Rest = nil, same, string(body[same:])
	return e
}

// Restore gives an exchange that was read its whole request, and remembers it.
func (d *Deltas) Restore(e Exchange) (Exchange, error) {
	if e.Same > 0 {
		before := d.last[deltaKey(e)]
		if e.Same > len(before) {
			return e, fmt.Errorf("question %d of agent %s: the request before it, which it goes on from, is missing", e.N, e.Agent)
		}
		e.Request = append(bytes.Clone(before[:e.Same]), e.Rest...)
		e.Same, e.Rest = 0, ""
	}
	d.Remember(e)
	return e, nil
}

// ReadExchanges reads a model.jsonl and calls fn with each exchange, its request
// whole. A last line that a crash cut off is left out: no one used its answer.
func ReadExchanges(log io.Reader, fn func(Exchange) error) error {
	var d Deltas
	lines := bufio.NewReader(log)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var e Exchange
		if err = json.Unmarshal(line, &e); err == nil {
			e, err = d.Restore(e)
		}
		if err == nil {
			err = fn(e)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}
