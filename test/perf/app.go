package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// nothingToDo is a repository whose changes are looked up at GitHub, and then left alone.
func nothingToDo() map[string]string {
	return map[string]string{".github/ycbot.yml": "version: 1\non: {paths_ignore: [\"**\"]}\n"}
}

// storming is how many deliveries a round has.
const storming = 2000

// accepting measures how fast deliveries are stored, while every worker waits for GitHub.
func accepting(ctx context.Context, l *lab) ([]figure, error) {
	var out []figure
	err := onBoth(ctx, l, nothingToDo(), func(s *site, place string) error {
		if _, err := s.serve(); err != nil {
			return err
		}
		event := s.event(s.pull(1))
		s.hang.Store(true)
		var rates []float64
		total := 0
		for range l.rounds {
			posts := make([]post, storming)
			for i := range posts {
				total++
				posts[i] = s.pack(event(1_000_000+total, fmt.Sprintf("%040x", total)))
			}
			took, err := s.storm(posts)
			if err != nil {
				return err
			}
			rates = append(rates, storming/took.Seconds())
		}
		n, err := s.jobs()
		if err != nil {
			return err
		}
		rate := median(rates)
		out = append(out, figure{
			"12", "webhooks stored before the answer, " + place, "≥ 1 000/s, nothing lost", fmt.Sprintf("%.0f/s, %d lost", rate, total-int(n)), rate >= 1000 && int(n) == total,
			fmt.Sprintf("64 at once, 24 KB each, %d in all, signed; the client has a share of the same processors; two workers wait for GitHub", total),
		})
		return nil
	})
	return out, err
}

// event makes deliveries of pull request n under other numbers and heads.
func (s *site) event(n int) func(number int, head string) []byte {
	body := s.hub.PullEvent(s.repo, n, "synchronize", "alice", "")
	var e map[string]any
	if err := json.Unmarshal(body, &e); err != nil {
		s.Fatal(err)
	}
	return func(number int, head string) []byte {
		pull := e["pull_request"].(map[string]any)
		e["number"], pull["number"] = number, number
		pull["head"].(map[string]any)["sha"] = head
		text, err := json.Marshal(e)
		if err != nil {
			s.Fatal(err)
		}
		if fill := 24<<10 - len(text); fill > 0 { // as large as they are on average
			text = append(text, bytes.Repeat([]byte(" "), fill)...)
		}
		return text
	}
}

// storm sends deliveries, 64 at once.
func (s *site) storm(posts []post) (time.Duration, error) {
	next, errs := make(chan post), make(chan error, 64)
	began := time.Now()
	for range 64 {
		go func() {
			var failed error
			for p := range next {
				failed = errors.Join(failed, s.deliver("pull_request", p))
			}
			errs <- failed
		}()
	}
	for _, p := range posts {
		next <- p
	}
	close(next)
	var failed error
	for range 64 {
		failed = errors.Join(failed, <-errs)
	}
	return time.Since(began), failed
}

// steady measures how long deliveries take that come at a steady rate, while workers learn
// of GitHub, slow as it is, what they are about.
func steady(ctx context.Context, l *lab) ([]figure, error) {
	const pulls = 40
	var out []figure
	err := onBoth(ctx, l, nothingToDo(), func(s *site, place string) error {
		if _, err := s.serve(); err != nil {
			return err
		}
		var events []func(int, string) []byte
		var numbers []int
		for i := range pulls {
			numbers = append(numbers, s.pull(i+1))
			events = append(events, s.event(numbers[i]))
		}
		s.delay.Store(int64(100 * time.Millisecond))
		const each = 500
		var p50, p99, bare []time.Duration
		for round := range l.rounds {
			posts := make([]post, each)
			for i := range posts {
				posts[i] = s.pack(events[i%pulls](numbers[i%pulls], fmt.Sprintf("%040x", 1000*round+i+1)))
			}
			times, err := openLoop(each, func(i int) error { return s.deliver("pull_request", posts[i]) })
			if err != nil {
				return err
			}
			p50, p99 = append(p50, times[each/2]), append(p99, times[each*99/100])
			if times, err = openLoop(each, func(int) error { return s.get("/healthz", io.Discard) }); err != nil {
				return err
			}
			bare = append(bare, times[each*99/100])
		}
		p := median(p99)
		out = append(out, figure{
			"13", "p99 of a webhook's answer at 100/s, " + place, "≤ 10 ms, refusing none", fmt.Sprintf("%.1f ms, 0 refused", ms(p)), p <= 10*time.Millisecond,
			fmt.Sprintf("open loop, from the moment that each was due; p50 %.1f ms; p99 of /healthz, asked in the same way in between, %.1f ms; GitHub answers after 100 ms; every delivery is a new head that supersedes one before",
				ms(median(p50)), ms(median(bare))),
		})
		return nil
	})
	return out, err
}

// openLoop asks n times, 100 a second, whether those before were answered or not, and
// returns how long that took, in order.
func openLoop(n int, ask func(i int) error) ([]time.Duration, error) {
	times, errs := make([]time.Duration, n), make([]error, n)
	var group sync.WaitGroup
	began := time.Now()
	for i := range n {
		due := began.Add(time.Duration(i) * 10 * time.Millisecond)
		time.Sleep(time.Until(due))
		group.Go(func() {
			errs[i] = ask(i)
			times[i] = time.Since(due)
		})
	}
	group.Wait()
	slices.Sort(times)
	return times, errors.Join(errs...)
}
