package objects

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// Bounds of what is read in the process. What exceeds one is left to the git command,
// which has memory and an end of its own.
const (
	maxObject = 8 << 20  // bytes of one object, and of each object that it is a delta of
	maxWork   = 64 << 20 // bytes that are inflated and put together for one question
	maxChain  = 512      // deltas behind one object; git writes at most 4095, by default 50
	maxBases  = 8 << 20  // bytes of objects that a pack keeps, since others are deltas of them
)

// ErrAskGit means that a question is left to the git command, whose answer counts.
var ErrAskGit = errors.New("left to the git command")

// An oid is the id of an object in a repository of the format sha1.
type oid [20]byte

// An object is a commit, a tree, a blob or a tag.
type object struct {
	kind plumbing.ObjectType
	data []byte
}

// A pack is a pack file with its index, of version 2 (gitformat-pack(5)). The index is
// not loaded: that of a large history has hundreds of megabytes.
type pack struct {
	index, file *os.File
	fanout      [256]uint32 // how many ids begin with at most this byte
	scan        *packfile.Scanner
	bases       map[int64]object // that deltas were applied to, by offset
	held        int              // bytes of bases
}

// Layout of an index: eight bytes of head, the fanout, the ids, their checksums, their
// offsets, the offsets that need 64 bits, two checksums of the whole.
const (
	indexHead = "\xfftOc\x00\x00\x00\x02"
	indexIDs  = int64(len(indexHead) + 256*4)
)

// openPack opens a pack by the path of its index.
func openPack(index string) (*pack, error) {
	p := &pack{bases: map[int64]object{}}
	var err error
	if p.index, err = openRegular(index); err != nil {
		return nil, err
	}
	p.file, err = openRegular(index[:len(index)-len(filepath.Ext(index))] + ".pack")
	if err == nil {
		err = p.readHead()
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.scan = packfile.NewScanner(p.file)
	return p, nil
}

func (p *pack) readHead() error {
	head := make([]byte, indexIDs)
	if _, err := p.index.ReadAt(head, 0); err != nil {
		return fmt.Errorf("index of a pack: %w", err)
	}
	if string(head[:len(indexHead)]) != indexHead {
		return fmt.Errorf("%w: an index of another version", ErrAskGit)
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[len(indexHead)+4*i:])
	}
	return nil
}

func (p *pack) close() error {
	var errs []error
	for _, f := range []*os.File{p.index, p.file} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// find returns where an object begins; ok is false where the pack does not have it.
func (p *pack) find(id oid) (offset int64, ok bool, err error) {
	low, high := int64(0), int64(p.fanout[id[0]])
	if id[0] > 0 {
		low = int64(p.fanout[id[0]-1])
	}
	var at oid
	for low < high {
		middle := (low + high) / 2
		if _, err := p.index.ReadAt(at[:], indexIDs+20*middle); err != nil {
			return 0, false, err
		}
		switch c := bytes.Compare(at[:], id[:]); {
		case c == 0:
			offset, err := p.offset(middle)
			return offset, err == nil, err
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false, nil
}

// offset is where the object begins that is the n-th by its id.
func (p *pack) offset(n int64) (int64, error) {
	const beyond = 1 << 31 // set: the rest counts entries of the table of 64 bits
	all := int64(p.fanout[255])
	var b [8]byte
	if _, err := p.index.ReadAt(b[:4], indexIDs+24*all+4*n); err != nil {
		return 0, err
	}
	short := binary.BigEndian.Uint32(b[:4])
	if short&beyond == 0 {
		return int64(short), nil
	}
	if _, err := p.index.ReadAt(b[:], indexIDs+28*all+8*int64(short&^beyond)); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(b[:])), nil //nolint:gosec // seeking to a negative offset is an error
}

// A delta is a change of another object, which may be one itself.
type delta struct {
	offset int64
	data   []byte
}

// read returns the object at an offset. What it inflates and puts together is taken
// from work, which is in bytes.
func (p *pack) read(offset int64, work *int64) (object, error) {
	var deltas []delta
	for {
		if base, ok := p.bases[offset]; ok {
			return p.apply(base, deltas, work)
		}
		h, data, err := p.entry(offset, work)
		if err != nil {
			return object{}, err
		}
		switch h.Type {
		case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
			whole := object{h.Type, data}
			if len(deltas) > 0 {
				p.keep(offset, whole)
			}
			return p.apply(whole, deltas, work)
		case plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
			if len(deltas) == maxChain {
				return object{}, fmt.Errorf("%w: more than %d deltas", ErrAskGit, maxChain)
			}
			deltas = append(deltas, delta{offset, data})
			if offset, err = p.base(h); err != nil {
				return object{}, err
			}
		default:
			return object{}, fmt.Errorf("%w: an object of type %d", ErrAskGit, h.Type)
		}
	}
}

// entry inflates what stands at an offset: no more than its head says that it is.
func (p *pack) entry(offset int64, work *int64) (*packfile.ObjectHeader, []byte, error) {
	h, err := p.scan.SeekObjectHeader(offset)
	if err != nil {
		return nil, nil, err
	}
	if err := spend(work, h.Length); err != nil {
		return nil, nil, err
	}
	var buf bytes.Buffer
	if n, _, err := p.scan.NextObject(&buf); err != nil {
		return nil, nil, err
	} else if n != h.Length {
		return nil, nil, fmt.Errorf("an object of %d bytes has %d", h.Length, n)
	}
	return h, buf.Bytes(), nil
}

// spend takes one object of some size from work.
func spend(work *int64, size int64) error {
	if size > maxObject || size > *work {
		return fmt.Errorf("%w: an object of %d bytes", ErrAskGit, size)
	}
	*work -= size
	return nil
}

// base is where the object begins that a delta changes.
func (p *pack) base(h *packfile.ObjectHeader) (int64, error) {
	if h.Type == plumbing.OFSDeltaObject {
		return h.OffsetReference, nil
	}
	offset, ok, err := p.find(oid(h.Reference))
	if err == nil && !ok {
		err = fmt.Errorf("%w: the base of a delta is in another pack", ErrAskGit)
	}
	return offset, err
}

// apply makes an object from its base and the deltas that lead to it, the last first.
func (p *pack) apply(o object, deltas []delta, work *int64) (object, error) {
	for i, d := range slices.Backward(deltas) {
		size, err := resultSize(d.data)
		if err != nil {
			return object{}, err
		}
		if err := spend(work, size); err != nil {
			return object{}, err
		}
		if o.data, err = packfile.PatchDelta(o.data, d.data); err != nil {
			return object{}, err
		}
		if i > 0 {
			p.keep(d.offset, o)
		}
	}
	return o, nil
}

func (p *pack) keep(offset int64, o object) {
	if p.held += len(o.data); p.held > maxBases {
		clear(p.bases)
		p.held = len(o.data)
	}
	p.bases[offset] = o
}

// resultSize is how many bytes a delta comes to, as it says itself. It begins with that
// of its base and its own, each in groups of seven bits, the lowest first.
func resultSize(delta []byte) (int64, error) {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return 0, packfile.ErrInvalidDelta
	}
	size, n := binary.Uvarint(delta[n:])
	if n <= 0 || size > 1<<62 {
		return 0, packfile.ErrInvalidDelta
	}
	return int64(size), nil
}

// size is how many bytes the object at an offset has. Of a delta only the beginning is
// inflated.
func (p *pack) size(offset int64) (int64, error) {
	h, err := p.scan.SeekObjectHeader(offset)
	if err != nil {
		return 0, err
	}
	if h.Type != plumbing.OFSDeltaObject && h.Type != plumbing.REFDeltaObject {
		return h.Length, nil
	}
	head := beginning{want: 2 * binary.MaxVarintLen64}
	if _, _, err := p.scan.NextObject(&head); err != nil && len(head.data) < head.want {
		return 0, err
	}
	return resultSize(head.data)
}

// A beginning takes some bytes and refuses what follows.
type beginning struct {
	data []byte
	want int
}

func (b *beginning) Write(p []byte) (int, error) {
	n := min(len(p), b.want-len(b.data))
	b.data = append(b.data, p[:n]...)
	if n < len(p) {
		return n, io.ErrShortWrite
	}
	return n, nil
}
