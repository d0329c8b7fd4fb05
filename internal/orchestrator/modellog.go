package orchestrator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/redact"
)

// A modelLog is model.jsonl: every exchange with a provider, for replay.
type modelLog struct {
	redact func([]byte) []byte

	mu     sync.Mutex
	file   *os.File
	before model.Deltas
}

func openModelLog(path string, redact func([]byte) []byte) (*modelLog, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("model log: %w", err)
	}
	if err := cutTorn(file); err != nil {
		return nil, errors.Join(fmt.Errorf("model log: %w", err), file.Close())
	}
	l := &modelLog{redact: redact, file: file}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("model log: %w", err), file.Close())
	}
	err = model.ReadExchanges(file, func(e model.Exchange) error {
		_, err := l.before.Restore(e)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("model log: %w", err), file.Close())
	}
	return l, nil
}

// cutTorn removes a last line that a crash cut off.
func cutTorn(file *os.File) error {
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	return file.Truncate(int64(bytes.LastIndexByte(data, '\n') + 1))
}

func (l *modelLog) record(_ context.Context, e model.Exchange) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.clean(&e); err != nil {
		return fmt.Errorf("model log: %w", err)
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // requests stand as they were sent, so that the next one goes on from the same bytes
	cut := l.before.Cut(e)
	if err := enc.Encode(cut); err != nil {
		return fmt.Errorf("model log: %w", err)
	}
	written := redact.InJSON(l.redact, line.Bytes())
	if cut.Same > 0 && bytes.Equal(written, line.Bytes()) {
		l.before.Remember(e)
	} else {
		var back model.Exchange // what a reader will have
		if err := json.Unmarshal(written, &back); err != nil {
			return fmt.Errorf("model log: %w", err)
		}
		if _, err := l.before.Restore(back); err != nil {
			return fmt.Errorf("model log: %w", err)
		}
	}
	if _, err := l.file.Write(written); err != nil {
		return fmt.Errorf("model log: %w", err)
	}
	return nil
}

// border is where one message of a request ends and the next begins.
var border = []byte(`},{"`)

// clean takes secrets out of a request before it is cut, so that none lies across
// the cut. What the request before it had was clean when it was written, and is
// not looked through again, up to the border of a message: no secret lies across that.
func (l *modelLog) clean(e *model.Exchange) error {
	at := bytes.LastIndex(e.Request[:l.before.Known(*e)], border) + 1
	rest := l.redact(e.Request[at:])
	if bytes.Equal(rest, e.Request[at:]) {
		return nil
	}
	e.Request = slices.Concat(e.Request[:at], rest)
	if json.Valid(e.Request) {
		return nil
	}
	quoted, err := json.Marshal(string(e.Request))
	e.Request = quoted
	return err
}

func (l *modelLog) Close() error { return l.file.Close() }

// Recorded makes a model that is not a provider's write to model.jsonl as well.
func Recorded(m model.Model, record Recorder) model.Model {
	return &recorded{m, record}
}

type recorded struct {
	model.Model
	write Recorder
}

func (r *recorded) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	resp, err := r.Model.Generate(ctx, req, on)
	e := model.Exchange{Agent: req.Agent, ID: req.ID, Model: r.Name(), N: model.Answers(req.Messages) + 1, Attempt: 1, Response: resp}
	var jsonErr error
	if e.Request, jsonErr = json.Marshal(req); jsonErr != nil {
		return nil, fmt.Errorf("model log: %w", jsonErr)
	}
	if err != nil {
		e.Response, e.Error = nil, err.Error()
	}
	if logErr := r.write(ctx, e); logErr != nil {
		return nil, logErr
	}
	return resp, err
}

// redacting takes secrets out of what a model says, before anyone sees or keeps it.
type redacting struct {
	model.Model
	redact func([]byte) []byte
}

func (r *redacting) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	resp, err := r.Model.Generate(ctx, req, on)
	if resp != nil {
		resp.Message.Text = string(r.redact([]byte(resp.Message.Text)))
		for i, c := range resp.Message.Calls {
			resp.Message.Calls[i].Args = string(redact.InJSON(r.redact, []byte(c.Args)))
		}
		// What a provider wants back unchanged goes back so or not at all.
		resp.Message.Kept = slices.DeleteFunc(slices.Clone(resp.Message.Kept), func(k model.Kept) bool {
			return !bytes.Equal(r.redact(k.Raw), k.Raw)
		})
	}
	return resp, err
}
