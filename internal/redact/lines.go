package redact

import "bytes"

// wrapped takes out values that stand in a text whose lines were broken, as base64 does it
// after 76 columns. Such lines are joined where there is one, and stay otherwise.
func (r *Redactor) wrapped(b []byte) []byte {
	var out, block []byte // block: lines of which each goes on in the next, joined
	done, from := 0, 0    // b[:done] is in out, the block begins at from
	width := minWrapped   // of the lines of a block: only the last is shorter
	for at := 0; at < len(b); {
		end := bytes.IndexByte(b[at:], '\n')
		if end < 0 {
			end = len(b) - at
		}
		line := bytes.TrimSuffix(b[at:at+end], []byte("\r"))
		next := b[min(at+end+1, len(b)):]
		indent := len(next) - len(bytes.TrimLeft(next, " \t"))
		run := encoded(line)
		goesOn := indent < len(next) && isEncoded(next[indent]) && run >= width
		width = minWrapped
		if goesOn {
			width = run
		}
		if block == nil && goesOn {
			from = at
		}
		if block != nil || goesOn {
			block = append(block, line...)
		}
		if !goesOn && block != nil {
			if clean := r.values.Replace(string(block)); clean != string(block) {
				out = append(append(out, b[done:from]...), clean...)
				done = at + len(line)
			}
			block = nil
		}
		at += end + 1
		if goesOn {
			at += indent
		}
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}

// minWrapped is the shortest line after which a text is taken to go on in the next.
const minWrapped = 16

// encoded is how many bytes at the end of a line are of an encoding.
func encoded(line []byte) int {
	n := 0
	for n < len(line) && isEncoded(line[len(line)-1-n]) {
		n++
	}
	return n
}

// isEncoded says whether c may stand in base64, base32 or hex, but for what ends them.
func isEncoded(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '+' || c == '/' || c == '-' || c == '_'
}
