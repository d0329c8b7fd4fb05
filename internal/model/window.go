package model

import "strings"

// Window returns how many tokens of input a well-known model takes, as its provider
// documents it; 0 where that is not known, as of a local model, whose server decides.
func Window(name string) int {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, w := range []struct {
		prefix string
		tokens int
	}{
		{"gpt-4.1", 1_047_576},
		{"gpt-4o", 128_000},
		{"gpt-5", 272_000},
		{"o1", 200_000},
		{"o3", 200_000},
		{"o4-mini", 200_000},
		{"claude-", 200_000},
		{"gemini-", 1_048_576},
	} {
		if strings.HasPrefix(name, w.prefix) {
			return w.tokens
		}
	}
	return 0
}

// Size counts the bytes of text in a request.
func (r *Request) Size() int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		n += len(m.Text)
		for _, c := range m.Calls {
			n += len(c.Name) + len(c.Args)
		}
	}
	return n
}

// Signs that a provider read less than it was sent: no tokenizer makes so few tokens of
// a text. Short requests are not judged.
const (
	cutBytes  = 7        // bytes of a text that are one token at least
	cutLeast  = 16 << 10 // bytes of a request that is judged
	roughSize = 4        // bytes of a token on average
)

// CutShort says whether the provider counted far fewer tokens than r has, so that it
// left out a part of the conversation without a word, as servers do whose window is
// smaller than the model's. sent is about how many tokens r has.
func (r *Request) CutShort(u Usage) (sent int, cut bool) {
	size := r.Size()
	return size / roughSize, !u.Estimated && u.Input > 0 && size >= cutLeast && u.Input < size/cutBytes
}
