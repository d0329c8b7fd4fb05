package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

const (
	// helloTime is how long a client may take for a ClientHello.
	helloTime = 30 * time.Second
	// maxHello bounds a ClientHello with its records, in bytes. One with the keys of
	// post-quantum algorithms has about 2000.
	maxHello = 16 << 10
)

// Types of TLS records and of handshake messages, and sizes of their headers, in bytes
// (RFC 8446, B.1 to B.3).
const (
	changeCipherSpec = 20
	alert            = 21
	handshake        = 22
	clientHello      = 1
	recordHeader     = 5
	messageHeader    = 4
)

// hiding are extensions of a ClientHello that leave open which host it is for (RFC 9849
// and its drafts), or with which a client sends more before the server has answered
// (RFC 8446, 4.2.10).
var hiding = map[uint16]string{0xfe0d: "Encrypted ClientHello", 0xffce: "an encrypted server name", 42: "early data"}

var errSeen = errors.New("the ClientHello was seen")

// readHello reads a ClientHello and returns it as it came. It is an error unless it is
// for host, a name in lower case.
func readHello(ctx context.Context, down net.Conn, in *bufio.Reader, host string) ([]byte, error) {
	from := &records{Conn: down, in: in}
	var info *tls.ClientHelloInfo
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	err := tls.Server(from, &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			info = h
			return nil, errSeen
		},
	}).HandshakeContext(ctx)
	switch {
	case !from.began && (errors.Is(err, io.EOF) || errors.Is(err, context.Canceled)):
		return nil, err // it was not used
	case info == nil:
		return nil, refusal(fmt.Sprintf("no ClientHello of TLS: %v", err))
	case !from.whole():
		return nil, refusal("more than a ClientHello in its records")
	case info.ServerName == "":
		return nil, refusal("TLS without a server name")
	case !strings.EqualFold(info.ServerName, host) || !ascii(info.ServerName):
		return nil, refusal(fmt.Sprintf("TLS for %.253q", info.ServerName))
	}
	for _, id := range info.Extensions {
		if what, ok := hiding[id]; ok {
			return nil, refusal("TLS with " + what)
		}
	}
	return from.all, nil
}

// A refusal is an error that says what of a client's TLS is not carried.
type refusal string

func (r refusal) Error() string { return string(r) }

// records is a connection of which no more is read than the records of one handshake
// message, and to which nothing is written.
type records struct {
	net.Conn
	in      *bufio.Reader
	began   bool   // something came
	all     []byte // the records that were read
	pending []byte // the end of it, which was not asked for yet
	body    []byte // all without the headers of records
}

func (r *records) Read(b []byte) (int, error) {
	if len(r.pending) == 0 {
		head := make([]byte, recordHeader)
		n, err := io.ReadFull(r.in, head)
		r.began = r.began || n > 0
		if err != nil {
			return 0, err
		}
		n = length(head)
		if head[0] != handshake || n == 0 || len(r.all)+n > maxHello {
			return 0, fmt.Errorf("a record of type %d with %d bytes", head[0], n)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r.in, body); err != nil {
			return 0, err
		}
		r.pending = append(head, body...)
		r.all, r.body = append(r.all, r.pending...), append(r.body, body...)
	}
	n := copy(b, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// Write drops the alert with which the handshake ends here.
func (r *records) Write(b []byte) (int, error) { return len(b), nil }

// whole says that there was one ClientHello, and nothing after it.
func (r *records) whole() bool {
	return len(r.body) >= messageHeader && r.body[0] == clientHello &&
		len(r.body) == messageHeader+int(r.body[1])<<16+int(r.body[2])<<8+int(r.body[3])
}

// length is that of the record with this header, without it, in bytes.
func length(head []byte) int { return int(head[3])<<8 + int(head[4]) }

// send carries what a client sends to host by TLS, and counts it. A server may ask for a
// second ClientHello (RFC 8446, 4.1.4), which has to be for the same host.
func send(ctx context.Context, up io.Writer, down net.Conn, in *bufio.Reader, host string) (sent int64, err error) {
	for hellos := 0; hellos < 2; hellos++ {
		hello, err := readHello(ctx, down, in, host)
		if err != nil {
			return sent, err
		}
		n, err := up.Write(hello)
		if sent += int64(n); err != nil {
			return sent, err
		}
		for between(in) {
			head, _ := in.Peek(recordHeader)
			n, err := io.CopyN(up, in, int64(recordHeader+length(head)))
			if sent += n; err != nil {
				return sent, err
			}
		}
		if !another(in) { // what is encrypted follows, or the next message of TLS 1.2
			n, err := io.Copy(up, in)
			return sent + n, err
		}
	}
	return sent, refusal("a third ClientHello")
}

// between says that a record comes which may stand before a second ClientHello.
func between(in *bufio.Reader) bool {
	head, err := in.Peek(recordHeader)
	return err == nil && (head[0] == changeCipherSpec || head[0] == alert)
}

// another says that a ClientHello comes, or what a lenient server could take for the
// beginning of one. What TLS 1.2 encrypts in such a record is longer, and begins so by
// chance once in 16 million.
func another(in *bufio.Reader) bool {
	head, err := in.Peek(recordHeader)
	if err != nil || head[0] != handshake {
		return false
	}
	n := min(length(head), messageHeader+1)
	head, err = in.Peek(recordHeader + n)
	if err != nil || n == 0 {
		return true
	}
	body := head[recordHeader:]
	return body[0] == clientHello && (n <= messageHeader || body[1] == 0 && body[messageHeader] == 3)
}
