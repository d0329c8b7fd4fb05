package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A launch is a bubblewrap that is ready to start.
type launch struct {
	cmd     *exec.Cmd
	args    []byte
	give    *os.File   // where bubblewrap reads its arguments from
	files   []*os.File // what bubblewrap gets
	status  *os.File   // where bubblewrap writes what it did
	docs    *json.Decoder
	rep     report
	shimmed *shimmed   // nil: bubblewrap starts the command itself
	relay   *relay     // nil: the command has no services
	relayed []*os.File // what bubblewrap gets for them
	texts   []*os.File // what bubblewrap gets in the place of what is hidden
	shared  *Loopback  // that the relay serves for all of its commands; nil: none
}

// launch prepares c. Everything but the command goes through a file: an
// argument list has a limit, and it can be read in the process table.
func (b *bubblewrap) launch(ctx context.Context, c Command, t trap) (_ *launch, err error) {
	l := &launch{}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	// The numbers that the files of ExtraFiles get.
	const argsFD, passwdFD, groupFD, statusFD, shimPolicyFD, shimStatusFD, relayFD = "3", "4", "5", "6", "7", "8", 9
	hostsFD, err := l.serve(ctx, b.services(c), c.Loopback, relayFD)
	if err != nil {
		return nil, err
	}
	fds := &given{passwd: passwdFD, group: groupFD, status: statusFD, hosts: hostsFD}
	fds.texts.first = relayFD + len(l.relayed)
	if len(b.means.shim) == 0 { // it has none of the files of the shim
		fds.texts.first -= 2
	}
	args, p, err := b.args(c, t, fds)
	l.texts = fds.texts.files
	if err != nil {
		return nil, err
	}
	if l.relay != nil {
		p.Services = newHandout(relayFD, l.relay.services)
	}
	l.args = []byte(strings.Join(args, "\x00") + "\x00")
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	l.give, l.files = w, append(l.files, r)
	for _, data := range [][]byte{b.passwdOf(c.Home), b.group} {
		f, err := memoryFile(data)
		if err != nil {
			return nil, err
		}
		l.files = append(l.files, f)
	}
	if r, w, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	l.status, l.docs = r, json.NewDecoder(io.LimitReader(r, 1<<16))
	l.files = append(l.files, w)
	argv, handed := c.Argv, l.files
	if len(b.means.shim) > 0 {
		if l.shimmed, err = prepared(p); err != nil {
			return nil, err
		}
		handed = slices.Concat(l.files, l.shimmed.files, l.relayed)
		argv = slices.Concat([]string{boxedShim}, b.means.shim[1:], []string{shimPolicyFD, shimStatusFD})
	}
	handed = slices.Concat(handed, l.texts)
	program, words := b.program, slices.Concat([]string{"bwrap", "--args", argsFD, "--"}, argv)
	if c.network() != 0 {
		enter, namespaces := c.Loopback.entering(3 + len(handed))
		program, words = c.Loopback.enter, slices.Concat(enter, []string{b.program}, words[1:])
		handed = append(slices.Clip(handed), namespaces...)
	}
	l.cmd = &exec.Cmd{
		Path: program,
		Args: words,
		// Not nil, which would be this program's own: the first process inside
		// keeps the environment that bubblewrap was started with in its /proc.
		Env:        []string{},
		Dir:        "/",
		ExtraFiles: handed,
	}
	return l, nil
}

// prepared makes the files for a shim that finds its policy ready.
func prepared(p policy) (*shimmed, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	f, err := memoryFile(data)
	if err != nil {
		return nil, err
	}
	return newShimmed(f, false)
}

// release gives bubblewrap its arguments. One that has ended says itself why.
func (l *launch) release() {
	l.files[0].Close() // it has its own, and writing fails when it has ended
	_, _ = l.give.Write(l.args)
	l.give.Close()
}

// closeFiles leaves the status with bubblewrap as its only writer.
func (l *launch) closeFiles() {
	for _, f := range l.files {
		f.Close()
	}
	for _, f := range slices.Concat(l.relayed, l.texts) {
		f.Close()
	}
	l.files, l.relayed, l.texts = nil, nil, nil
	if l.shimmed != nil {
		l.shimmed.handed()
	}
}

func (l *launch) close() {
	l.endRelay()
	l.closeFiles()
	if l.give != nil {
		l.give.Close()
	}
	if l.shimmed != nil {
		l.shimmed.close()
	}
	if l.status != nil {
		l.status.Close()
	}
}

// A report is what bubblewrap says about a command that ended.
type report struct {
	PidOne int   `json:"child-pid"` // first process inside, by its number outside
	Exit   *int  `json:"exit-code"` // nil: the program was never executed, or bubblewrap was killed
	Mnt    int64 `json:"mnt-namespace"`
	PID    int64 `json:"pid-namespace"`
	Net    int64 `json:"net-namespace"`
	IPC    int64 `json:"ipc-namespace"`
	UTS    int64 `json:"uts-namespace"`
}

// pidOne is the first process inside, 0 when there was none. Bubblewrap must have
// ended; the process may still be there.
func (l *launch) pidOne() int {
	l.closeFiles()
	// What is wrong with the document is seen by report.
	_ = l.docs.Decode(&l.rep)
	return l.rep.PidOne
}

// report reads what bubblewrap wrote; nothing of the command may be alive.
func (l *launch) report() (report, error) {
	l.closeFiles()
	for {
		// The documents have different fields, so one value takes them all.
		err := l.docs.Decode(&l.rep)
		if errors.Is(err, io.EOF) {
			return l.rep, nil
		}
		if err != nil {
			return l.rep, fmt.Errorf("status of bubblewrap: %w", err)
		}
	}
}
