package objects

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sys/unix"
)

// made makes a repository of one commit with the git command, and returns its git directory.
func made(t *testing.T) (gitDir, commit string) {
	t.Helper()
	dir := t.TempDir()
	lay(t, dir, map[string]string{"src/a.go": "package a\n\nvar X = 1\n"})
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, []string{
			"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	return filepath.Join(dir, ".git"), git("rev-parse", "HEAD")
}

// lay writes files.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// An entry of a made pack.
type entry struct {
	id      string // what the index calls it
	kind    byte   // 1 commit, 2 tree, 3 blob, 6 delta of what is earlier, 7 delta of what is named
	size    uint64 // as its head says
	base    []byte // of a delta: how far back, or an id
	content []byte // compressed here, unless raw
	raw     bool
	at      *uint64 // as the index says; nil: where it is
}

func (e entry) bytes() []byte {
	var b bytes.Buffer
	c, size := e.kind<<4|byte(e.size&15), e.size>>4
	for ; size > 0; size >>= 7 {
		b.WriteByte(c | 0x80)
		c = byte(size & 0x7f)
	}
	b.WriteByte(c)
	b.Write(e.base)
	if e.raw {
		b.Write(e.content)
	} else {
		b.Write(deflate(e.content))
	}
	return b.Bytes()
}

func deflate(content []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(content)
	_ = z.Close()
	return b.Bytes()
}

// bomb is a stream that inflates to what head says and then n MiB of zeros.
func bomb(n int, head string) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	mib := make([]byte, 1<<20)
	_, _ = z.Write(append([]byte(head), mib...))
	_ = z.Flush()
	whole := b.Len()
	_, _ = z.Write(mib)
	_ = z.Flush() // refers to zeros alone, so it may be repeated
	return append(b.Bytes(), bytes.Repeat(b.Bytes()[whole:], n-2)...)
}

// plant writes a pack and its index into a folder of objects, as nothing but a tampered disk has them.
func plant(t *testing.T, dir string, entries []entry) {
	t.Helper()
	pack := []byte("PACK\x00\x00\x00\x02" + string(binary.BigEndian.AppendUint32(nil, uint32(len(entries)))))
	type line struct {
		id     string
		offset uint64
		crc    uint32
	}
	var lines []line
	for _, e := range entries {
		l := line{e.id, uint64(len(pack)), crc32.ChecksumIEEE(e.bytes())}
		pack = append(pack, e.bytes()...)
		if e.at != nil {
			l.offset = *e.at
		}
		lines = append(lines, l)
	}
	sum := sha1.Sum(pack)
	pack = append(pack, sum[:]...)
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.id, b.id) })
	index := []byte(indexHead)
	for i := range 256 {
		n := 0
		for _, l := range lines {
			if first, _ := hex.DecodeString(l.id[:2]); int(first[0]) <= i {
				n++
			}
		}
		index = binary.BigEndian.AppendUint32(index, uint32(n))
	}
	var crcs, short, long []byte
	for _, l := range lines {
		id, _ := hex.DecodeString(l.id)
		index = append(index, id...)
		crcs = binary.BigEndian.AppendUint32(crcs, l.crc)
		if l.offset < 1<<31 {
			short = binary.BigEndian.AppendUint32(short, uint32(l.offset))
			continue
		}
		short = binary.BigEndian.AppendUint32(short, 1<<31|uint32(len(long)/8))
		long = binary.BigEndian.AppendUint64(long, l.offset)
	}
	index = slices.Concat(index, crcs, short, long, sum[:])
	indexSum := sha1.Sum(index)
	name := hex.EncodeToString(sum[:])
	lay(t, filepath.Join(dir, "pack"), map[string]string{"pack-" + name + ".pack": string(pack), "pack-" + name + ".idx": string(append(index, indexSum[:]...))})
}

func idOf(kind, content string) string {
	sum := sha1.Sum(fmt.Appendf(nil, "%s %d\x00%s", kind, len(content), content))
	return hex.EncodeToString(sum[:])
}

func blobOf(content string) entry {
	return entry{id: idOf("blob", content), kind: 3, size: uint64(len(content)), content: []byte(content)}
}

// back is how a delta says how far before it its base begins.
func back(n int) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append([]byte{byte(n&0x7f) | 0x80}, out...)
	}
	return out
}

// deltaOf is a delta of some sizes with some instructions.
func deltaOf(source, result uint64, instructions string) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, source), result), instructions...)
}

func rawID(id string) []byte {
	raw, _ := hex.DecodeString(id)
	return raw
}

const (
	anyID  = "1111111111111111111111111111111111111111"
	nextID = "2222222222222222222222222222222222222222"
)

// hostilePacks are packs that no one writes but an attacker. The object that is asked
// for is the first.
func hostilePacks() map[string][]entry {
	ten := blobOf("0123456789")
	second := uint64(12 + len(ten.bytes()))
	far, odd, negative := uint64(1<<40), uint64(13), uint64(1<<63+12)
	chain := []entry{{}, blobOf("y")}
	for i := range 600 {
		chain = append(chain, entry{id: fmt.Sprintf("%040x", i+1), kind: 6, size: 4, base: back(len(chain[len(chain)-1].bytes())), content: deltaOf(1, 1, "\x01x")})
	}
	chain[0] = entry{id: idOf("blob", "x"), kind: 7, size: 4, base: rawID(fmt.Sprintf("%040x", 600)), content: deltaOf(1, 1, "\x01x")}
	grow := strings.Repeat("\xf0\xff\xff\xff", 200) // each copies 16 MB of its base
	return map[string][]entry{
		"a head that says ten bytes of a gigabyte": {{id: anyID, kind: 3, size: 10, content: bomb(1024, ""), raw: true}},
		"a head that says more than there is":      {{id: idOf("blob", "short"), kind: 3, size: 100, content: []byte("short")}},
		"a gigabyte":                               {{id: anyID, kind: 3, size: 1 << 30, content: bomb(1024, ""), raw: true}},
		"a head of 2^60 bytes":                     {{id: anyID, kind: 3, size: 1 << 59, content: []byte("x")}},
		"a tree of a gigabyte":                     {{id: anyID, kind: 2, size: 1 << 30, content: bomb(1024, ""), raw: true}},
		"another object's content":                 {{id: anyID, kind: 3, size: 4, content: []byte("evil")}},
		"another type's":                           {{id: ten.id, kind: 2, size: 10, content: []byte("0123456789")}},
		"a type that there is not":                 {{id: anyID, kind: 5, size: 1, content: []byte("x")}},
		"no stream":                                {{id: anyID, kind: 3, size: 10, content: []byte("not compressed at all"), raw: true}},
		"a stream that is cut off":                 {{id: anyID, kind: 3, size: 1000, content: deflate([]byte(strings.Repeat("ab", 500)))[:8], raw: true}},
		"a delta of itself":                        {{id: anyID, kind: 7, size: 4, base: rawID(anyID), content: deltaOf(1, 1, "\x01x")}},
		"a delta of 0 bytes before":                {{id: anyID, kind: 6, size: 4, base: []byte{0}, content: deltaOf(1, 1, "\x01x")}},
		"a delta of what is before the pack":       {{id: anyID, kind: 6, size: 4, base: back(5000), content: deltaOf(1, 1, "\x01x")}},
		"two deltas of each other":                 {{id: anyID, kind: 7, size: 4, base: rawID(nextID), content: deltaOf(1, 1, "\x01x")}, {id: nextID, kind: 7, size: 4, base: rawID(anyID), content: deltaOf(1, 1, "\x01x")}},
		"a delta of what is missing":               {{id: anyID, kind: 7, size: 4, base: rawID(nextID), content: deltaOf(1, 1, "\x01x")}},
		"600 deltas":                               chain,
		"a delta that says 2^40 bytes":             {{id: anyID, kind: 7, size: 9, base: rawID(ten.id), content: deltaOf(10, 1<<40, "\x01x")}, ten},
		"a delta that says 2^63 bytes":             {{id: anyID, kind: 7, size: 13, base: rawID(ten.id), content: deltaOf(10, 1<<63, "\x01x")}, ten},
		"a delta of another size's base":           {{id: anyID, kind: 7, size: 4, base: rawID(ten.id), content: deltaOf(11, 1, "\x01x")}, ten},
		"a delta that copies beyond its base":      {{id: anyID, kind: 7, size: 5, base: rawID(ten.id), content: deltaOf(10, 100, "\x91\x05\x64")}, ten},
		"a delta with an instruction that is none": {{id: anyID, kind: 7, size: 3, base: rawID(ten.id), content: deltaOf(10, 1, "\x00")}, ten},
		"a delta without instructions":             {{id: anyID, kind: 7, size: 2, base: rawID(ten.id), content: deltaOf(10, 9, "")}, ten},
		"a delta that is no delta":                 {{id: anyID, kind: 7, size: 11, base: rawID(ten.id), content: bytes.Repeat([]byte{0xff}, 11)}, ten},
		"an empty delta":                           {{id: anyID, kind: 7, size: 0, base: rawID(ten.id)}, ten},
		"a delta of a gigabyte":                    {{id: anyID, kind: 7, size: 4, base: rawID(nextID), content: deltaOf(1<<30, 1, "\x01x")}, {id: nextID, kind: 3, size: 1 << 30, content: bomb(1024, ""), raw: true}},
		"a delta that makes gigabytes":             {{id: anyID, kind: 7, size: uint64(len(deltaOf(16<<20, 200*0xffffff, grow))), base: rawID(nextID), content: deltaOf(16<<20, 200*0xffffff, grow)}, {id: nextID, kind: 3, size: 16 << 20, content: bomb(16, ""), raw: true}},
		"an index that leads behind the end":       {{id: anyID, kind: 3, size: 1, content: []byte("x"), at: &far}},
		"an index that leads before the beginning": {{id: anyID, kind: 3, size: 1, content: []byte("x"), at: &negative}},
		"an index that leads into an object":       {{id: anyID, kind: 3, size: 1, content: []byte("x"), at: &odd}},
		"an index that leads to another object":    {{id: ten.id, kind: 3, size: 10, content: []byte("0123456789"), at: &second}, {id: nextID, kind: 3, size: 4, content: []byte("evil")}},
	}
}

// hostileFiles are other files of a mirror that no one but an attacker writes.
func hostileFiles() map[string]func(t *testing.T, dir string) {
	loose := func(data []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			lay(t, dir, map[string]string{anyID[:2] + "/" + anyID[2:]: string(data)})
		}
	}
	pack := func(name, data string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			lay(t, filepath.Join(dir, "pack"), map[string]string{"pack-" + anyID + name: data, "pack-" + anyID + ".pack": "PACK"})
		}
	}
	pipe := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	fanout := func(n uint32) string { return strings.Repeat(string(binary.BigEndian.AppendUint32(nil, n)), 256) }
	return map[string]func(t *testing.T, dir string){
		"a file of five bytes that is a gigabyte": loose(bomb(1024, "blob 5\x00")),
		"a file of a gigabyte":                    loose(bomb(1024, "blob 1073741824\x00")),
		"a file whose head is a gigabyte":         loose(bomb(1024, "blob")),
		"a file whose size is no number":          loose(deflate([]byte("blob -1\x00"))),
		"a file whose size is none":               loose(deflate([]byte("blob 99999999999999999999\x00x"))),
		"a file of a type that there is not":      loose(deflate([]byte("ofs-delta 1\x00x"))),
		"a file with another's content":           loose(deflate([]byte("blob 4\x00evil"))),
		"an empty file":                           loose(nil),
		"a file that is no stream":                loose([]byte("blob 1\x00x")),
		"a pipe in place of an object":            pipe(anyID[:2] + "/" + anyID[2:]),
		"a pipe in place of an index":             pipe("pack/pack-" + anyID + ".idx"),
		"an empty index":                          pack(".idx", ""),
		"an index of another version":             pack(".idx", strings.Replace(indexHead, "\x02", "\x03", 1)+fanout(0)),
		"an index that has no ids":                pack(".idx", indexHead+fanout(1<<31)),
		"an index whose counts fall":              pack(".idx", indexHead+fanout(9)[:1020]+"\x00\x00\x00\x01"),
		"a folder in place of a pack": func(t *testing.T, dir string) {
			t.Helper()
			lay(t, filepath.Join(dir, "pack"), map[string]string{"pack-" + anyID + ".idx": indexHead + fanout(0), "pack-" + anyID + ".pack/x": ""})
		},
	}
}

// Objects that are made to exhaust or to stop a reader cost little, and change nothing:
// they are left to the git command, and the others are read as before.
func TestHostileObjects(t *testing.T) {
	attacks, ids := hostileFiles(), map[string]string{}
	for name, entries := range hostilePacks() {
		attacks[name] = func(t *testing.T, dir string) { t.Helper(); plant(t, dir, entries) }
		ids[name] = entries[0].id
	}
	gitDir, head := made(t)
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			o := &Store{dir: filepath.Join(t.TempDir(), "objects")}
			if err := os.CopyFS(o.dir, os.DirFS(filepath.Join(gitDir, "objects"))); err != nil {
				t.Fatal(err)
			}
			attack(t, o.dir)
			id := anyID
			if of, ok := ids[name]; ok {
				id = of
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			work := int64(maxWork)
			got, err := o.read(id, &work)
			if !errors.Is(err, ErrAskGit) {
				t.Errorf("read: %s %.20q, %v", got.kind, got.data, err)
			}
			if size, err := o.size(id); err != nil && !errors.Is(err, ErrAskGit) {
				t.Errorf("size: %d, %v", size, err)
			}
			runtime.ReadMemStats(&after)
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 4*maxObject>>20 {
				t.Errorf("%d MiB of memory were used", used)
			}
			if data, err := o.File(head, "src/a.go"); err != nil || string(data) != "package a\n\nvar X = 1\n" {
				t.Errorf("another object: %q, %v", data, err)
			}
		})
	}
}

func TestObjectsThatPanic(t *testing.T) {
	t.Parallel()
	o := &Store{dir: t.TempDir()}
	if err := o.guard(anyID, func(oid) error { panic("in the library") }); !errors.Is(err, ErrAskGit) {
		t.Error(err)
	}
	if err := o.guard(anyID, func(oid) error { return nil }); err != nil { // no lock is left behind
		t.Error(err)
	}
}

// What is read in the process costs no more than it may: of an object whose head says
// another size, and of one for which too little work is left, git is asked.
func TestObjectBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := &Store{dir: dir}
	whole := object{kind: plumbing.BlobObject, data: []byte("abc")}
	name := fmt.Sprintf("%x", sumOf(whole))
	put := func(head string) {
		t.Helper()
		var buf bytes.Buffer
		z := zlib.NewWriter(&buf)
		fmt.Fprintf(z, "%s\x00abc", head)
		z.Close()
		if err := os.MkdirAll(filepath.Join(dir, name[:2]), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name[:2], name[2:]), buf.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(work int64) (int64, error) {
		got, err := o.read(name, &work)
		if err == nil && string(got.data) != "abc" {
			t.Errorf("%q", got.data)
		}
		return work, err
	}
	put("blob 3")
	if left, err := read(5); err != nil || left != 2 {
		t.Errorf("%d of 5 bytes of work are left: %v", left, err)
	}
	if _, err := read(2); !errors.Is(err, ErrAskGit) {
		t.Errorf("with too little work left: %v", err)
	}
	put("blob 5")
	if _, err := read(10); !errors.Is(err, ErrAskGit) {
		t.Errorf("of another size: %v", err)
	}
	p := &pack{bases: map[int64]object{}}
	for i := range int64(100) {
		p.keep(i, object{data: make([]byte, maxBases/10)})
		held := 0
		for _, b := range p.bases {
			held += len(b.data)
		}
		if held > maxBases || held != p.held {
			t.Fatalf("%d bytes are kept, %d counted", held, p.held)
		}
	}
}

// A name that git would not read is that of no ref.
func TestIsRef(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"refs/tags/v1.2": true, "refs/tags/sdk/v1": true, "refs/tags/../../HEAD": false, "refs/tags/a.lock": false, "refs/tags/a b": false,
		"refs/tags/a\nb": false, "refs/tags//a": false, "refs/tags/": false, "HEAD": false, "": false,
	} {
		if got := IsRef(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
