package attack

import (
	"bytes"
	"errors"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

func networkAttacks() []attack {
	stream := func(address func(target) string, protocol int, fastOpen bool) func(target) error {
		return func(t target) error { return dial(address(t), protocol, fastOpen) }
	}
	service := func(t target) string { return t.Service }
	metadata := func(t target) string { return t.Metadata }
	return []attack{
		{id: "A23", name: "TCP to another host", run: stream(metadata, 0, false)},
		{id: "A24", name: "TCP to a service of the host", run: stream(service, 0, false)},
		{id: "A25", name: "multipath TCP", run: stream(service, unix.IPPROTO_MPTCP, false)},
		{id: "A26", name: "TCP fast open", run: stream(service, 0, true)},
		{id: "A27", name: "UDP", run: func(t target) error {
			c, err := net.Dial("udp4", t.Datagram) //nolint:noctx // it ends with the command
			if err != nil {
				return err
			}
			defer c.Close()
			return answered(c)
		}},
		{id: "A29", name: "socket with a path, as Docker's", run: func(t target) error { return unixSocket(t.Socket) }},
		{id: "A30", name: "abstract socket", run: func(t target) error { return unixSocket("@" + t.Abstract) }},
		{id: "A31", name: "odd socket families", run: func(target) error {
			fd, err := unix.Socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0)
			if err != nil {
				fd, err = unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
			}
			if err == nil {
				unix.Close(fd)
			}
			return err
		}},
	}
}

// answered asks a service of the harness and wants its secret.
func answered(c net.Conn) error {
	defer time.AfterFunc(2*time.Second, func() { c.Close() }).Stop()
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	b := make([]byte, 64)
	n, err := c.Read(b)
	if bytes.Contains(b[:n], []byte(secretMark)) {
		return nil
	}
	return errors.Join(errBlocked, err)
}

func unixSocket(name string) error {
	c, err := net.DialTimeout("unix", name, time.Second) //nolint:noctx // it ends with the command
	if err != nil {
		return err
	}
	defer c.Close()
	return answered(c)
}

func dial(address string, protocol int, fastOpen bool) error {
	a, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return err
	}
	if fastOpen {
		err = unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, to)
	} else if err = unix.Connect(fd, to); err == nil {
		_, err = unix.Write(fd, []byte("x"))
	}
	if err != nil {
		return err
	}
	b := make([]byte, 64)
	n, err := unix.Read(fd, b)
	if n > 0 && bytes.Contains(b[:n], []byte(secretMark)) {
		return nil
	}
	return errors.Join(errBlocked, err)
}
