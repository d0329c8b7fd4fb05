package redact

import (
	"bytes"
	"encoding/json"
)

// InJSON takes secrets out of the strings and numbers of a JSON text by clean, as they are when
// they are read: gone over as a whole, the text could lose the end of a string, or keep a secret
// that an escape parts. A text that is no JSON is given to clean as it is.
func InJSON(clean func([]byte) []byte, doc []byte) []byte {
	if clean == nil {
		return doc
	}
	if !json.Valid(doc) {
		return clean(doc)
	}
	var all []byte // mostly there is nothing to take out: one look is enough to know
	for at := 0; at < len(doc); {
		from, to := value(doc, at)
		all, at = append(append(all, meaning(doc[from:to])...), '\n'), to
	}
	if bytes.Equal(clean(all), all) {
		return doc
	}
	var out []byte
	for at := 0; at < len(doc); {
		from, to := value(doc, at)
		out = append(out, doc[at:from]...)
		was := meaning(doc[from:to])
		switch now := clean(was); {
		case bytes.Equal(now, was):
			out = append(out, doc[from:to]...)
		case doc[from] != '"': // a number
			out = append(out, '0')
		default:
			quoted, err := json.Marshal(string(now))
			if err != nil { // a string can always be encoded
				quoted = []byte(`""`)
			}
			out = append(out, quoted...)
		}
		at = to
	}
	return out
}

// value is where the next string or number of a JSON text is; empty: there is none.
func value(doc []byte, at int) (from, to int) {
	number := []byte("+-.0123456789eE")
	for ; at < len(doc); at++ {
		switch c := doc[at]; {
		case c == '"':
			for to = at + 1; doc[to] != '"'; to++ {
				if doc[to] == '\\' {
					to++
				}
			}
			return at, to + 1
		case c == '-' || c >= '0' && c <= '9':
			for to = at; to < len(doc) && bytes.IndexByte(number, doc[to]) >= 0; to++ {
			}
			return at, to
		}
	}
	return at, at
}

// meaning is what a string or a number says.
func meaning(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return raw
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return raw
	}
	return []byte(s)
}
