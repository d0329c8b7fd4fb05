//go:build linux && (amd64 || arm64)

package seccomp

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Known says that there is a filter for this architecture.
const Known = true

// What a filter answers.
const (
	allow = uint32(unix.SECCOMP_RET_ALLOW)
	kill  = uint32(unix.SECCOMP_RET_KILL_PROCESS)
)

func refuse(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// Where struct seccomp_data keeps its fields.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// x32Bit marks the system calls of the x32 interface, which have numbers of their own.
const x32Bit = 0x40000000

// A rule answers a system call when all its conditions hold.
type rule struct {
	number uint32
	answer uint32
	when   []cond
}

// A cond compares the low 32 bits of an argument: all that the kernel itself
// looks at for the arguments that rules name.
type cond struct {
	arg  uint32
	mask uint32 // 0: all bits
	test bpf.JumpTest
	val  uint32
}

func is(arg, val uint32) cond     { return cond{arg: arg, test: bpf.JumpEqual, val: val} }
func isNot(arg, val uint32) cond  { return cond{arg: arg, test: bpf.JumpNotEqual, val: val} }
func anyBit(arg, val uint32) cond { return cond{arg: arg, test: bpf.JumpBitsSet, val: val} }
func socketType(val uint32) cond  { return cond{arg: 1, mask: 0xf, test: bpf.JumpEqual, val: val} }

// program is the filter as one run through rules; the first that holds answers.
func program(rules []rule) []bpf.Instruction {
	arch := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		arch = unix.AUDIT_ARCH_AARCH64
	}
	number := bpf.LoadAbsolute{Off: offNumber, Size: 4}
	p := []bpf.Instruction{
		// Another architecture's numbers mean other calls.
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		bpf.RetConstant{Val: kill},
		number,
	}
	if runtime.GOARCH == "amd64" {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32Bit, SkipFalse: 1}, bpf.RetConstant{Val: refuse(unix.ENOSYS)})
	}
	// What this program does not know: programs fall back as on an older kernel.
	for _, u := range unknown {
		p = append(p,
			bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: u.from, SkipFalse: 2},
			bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: u.to, SkipFalse: 1},
			bpf.RetConstant{Val: refuse(unix.ENOSYS)})
	}
	for _, r := range rules {
		body := r.body()
		p = append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: r.number, SkipFalse: uint8(len(body))})
		p = append(p, body...)
	}
	return append(p, bpf.RetConstant{Val: allow})
}

// body is the rule behind the comparison of its number.
func (r rule) body() []bpf.Instruction {
	if len(r.when) == 0 {
		return []bpf.Instruction{bpf.RetConstant{Val: r.answer}}
	}
	n := len(r.when)*2 + 1
	for _, c := range r.when {
		if c.mask != 0 {
			n++
		}
	}
	var body []bpf.Instruction
	for _, c := range r.when {
		body = append(body, bpf.LoadAbsolute{Off: offArgs + 8*c.arg, Size: 4})
		if c.mask != 0 {
			body = append(body, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: c.mask})
		}
		// To the end, where the number is loaded again for the next rule.
		body = append(body, bpf.JumpIf{Cond: c.test, Val: c.val, SkipFalse: uint8(n - len(body) - 1)})
	}
	return append(body, bpf.RetConstant{Val: r.answer}, bpf.LoadAbsolute{Off: offNumber, Size: 4})
}

// Assemble translates f for the kernel.
func (f Filter) Assemble() ([]unix.SockFilter, error) {
	raw, err := bpf.Assemble(program(f.rules()))
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return code, nil
}

// Install puts all threads of this process, and all that they start, under f.
func (f Filter) Install() error {
	code, err := f.Assemble()
	if err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
