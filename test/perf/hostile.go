package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ycbot/ycbot/internal/event"
)

// A stranger is a client whose deliveries no one has signed. When its connection ends it
// comes again, a second after it came before or later: eight times 25 MB a second are as much
// as a fast network brings.
type stranger struct {
	header string
	body   int           // bytes that are sent at once
	drip   time.Duration // after which one more is sent, again and again; 0: none
}

// strangers are 300 that are slow, and eight that send as much as a delivery may have.
func strangers() []stranger {
	header := func(size int) string {
		return fmt.Sprintf("POST /webhook HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: x\r\nX-Hub-Signature-256: sha256=%s\r\nContent-Length: %d\r\n\r\n",
			strings.Repeat("ab", 32), size)
	}
	var all []stranger
	for range 100 {
		all = append(all, stranger{"POST /webhook HTTP/1.1\r\nX-", 0, time.Second}, stranger{header(1 << 20), 1, time.Second}, stranger{header(1 << 20), 1 << 19, 0})
	}
	for range 8 {
		all = append(all, stranger{header(event.MaxSize), event.MaxSize, 0})
	}
	return all
}

// bother lets strangers in until the returned func is called, which says how much they sent.
func (s *site) bother() (end func() (sent int64)) {
	ctx, cancel := context.WithCancel(s.ctx)
	var sent atomic.Int64
	var group sync.WaitGroup
	body := bytes.Repeat([]byte(" "), event.MaxSize)
	for _, who := range strangers() {
		group.Go(func() {
			again := time.NewTicker(time.Second)
			defer again.Stop()
			for ctx.Err() == nil {
				n, _ := who.visit(ctx, strings.TrimPrefix(s.hook, "http://"), body) // to be turned away is what it is for
				sent.Add(n)
				select {
				case <-ctx.Done():
				case <-again.C:
				}
			}
		})
	}
	return func() int64 { cancel(); group.Wait(); return sent.Load() }
}

// visit is one connection, until the server ends it.
func (who stranger) visit(ctx context.Context, addr string, body []byte) (sent int64, err error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	for _, part := range [][]byte{[]byte(who.header), body[:who.body]} {
		n, err := c.Write(part)
		sent += int64(n)
		if err != nil {
			return sent, err
		}
	}
	if who.drip == 0 {
		_, err = io.Copy(io.Discard, c)
		return sent, err
	}
	drip := time.NewTicker(who.drip)
	defer drip.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return sent, ctx.Err()
		case <-drip.C:
			_, err = c.Write(body[:1])
		}
	}
	return sent, err
}

// beset measures deliveries that come at a steady rate while strangers do what they can.
func beset(ctx context.Context, l *lab) ([]figure, error) {
	const each = 1000
	var out []figure
	err := onBoth(ctx, l, nothingToDo(), func(s *site, place string) error {
		server, err := s.serve()
		if err != nil {
			return err
		}
		delivery := s.event(s.pull(1))
		s.hang.Store(true) // so that each stays a job, and can be counted
		total := 0
		var refused atomic.Int64
		// round is the slowest in a hundred of a round.
		round := func() (time.Duration, error) {
			posts := make([]post, each)
			for i := range posts {
				total++
				posts[i] = s.pack(delivery(1_000_000+total, fmt.Sprintf("%040x", total)))
			}
			times, err := openLoop(each, func(i int) error {
				if s.deliver("pull_request", posts[i]) != nil {
					refused.Add(1)
				}
				return nil
			})
			return times[each*99/100], err
		}
		var alone, beside []time.Duration
		var sent int64
		for range l.rounds {
			quiet, err := round()
			if err != nil {
				return err
			}
			end := s.bother()
			p99, err := round()
			sent += end()
			if err != nil {
				return err
			}
			alone, beside = append(alone, quiet), append(beside, p99)
		}
		n, err := s.jobs()
		if err != nil {
			return err
		}
		peak := treePeak(server.Process.Pid)
		if peak == 0 {
			return errors.New("the memory of the server is not known")
		}
		p, lost, mb := median(beside), total-int(n), float64(peak)/1e6
		out = append(out, figure{
			"23", "p99 of a signed delivery at 100/s beside strangers, " + place, "≤ 50 ms, ≤ 150 MB, nothing lost",
			fmt.Sprintf("%.1f ms, %.0f MB, %d refused, %d lost", ms(p), mb, refused.Load(), lost), p <= 50*time.Millisecond && mb <= 150 && refused.Load() == 0 && lost == 0,
			fmt.Sprintf("without them in turns %.1f ms; 100 slow headers, 100 slow bodies, 100 that send half of one, 8 that send 25 MB, all unsigned and again a second later, %.0f MB in a round; they are on the same processors; memory is the server's peak with the pages of its file",
				ms(median(alone)), float64(sent)/1e6/float64(l.rounds)),
		})
		return nil
	})
	return out, err
}
