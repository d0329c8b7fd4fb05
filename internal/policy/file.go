package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// A File is a permission file that its reader found. Operator is true for
// /etc/ycbot/permissions.json, for the workflow's input and for a user's own
// file, false for what comes from the repository.
type File struct {
	Name     string
	Data     []byte
	Operator bool
}

// A FileError is a permission file that cannot be used. A run with one does not
// begin: a policy that was meant and is not in force would go unnoticed.
type FileError struct {
	File string
	Line int
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// ParseFiles reads permission files and returns their rules in order. What is no
//
//	{"permissions": {"allow": [], "ask": [], "deny": []}}
//
// is a [*FileError]: also an empty file, keys that mean nothing and keys that come twice.
func ParseFiles(files ...File) ([]Rule, error) {
	var all []Rule
	for _, f := range files {
		rules, err := f.parse()
		if err != nil {
			return nil, err
		}
		all = append(all, rules...)
	}
	return all, nil
}

func (f File) parse() ([]Rule, error) {
	data := bytes.TrimPrefix(f.Data, []byte("\ufeff"))
	p := &parser{file: f, data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	var err error
	if !utf8.Valid(data) {
		err = errors.New("it is not UTF-8")
	} else {
		err = p.document()
	}
	if err != nil {
		return nil, &FileError{f.Name, p.line(err), err}
	}
	return p.rules, nil
}

// A parser reads the tokens of a file, because a rule's line is worth knowing.
type parser struct {
	file  File
	data  []byte
	dec   *json.Decoder
	rules []Rule
}

func (p *parser) line(err error) int {
	at := min(int(p.dec.InputOffset()), len(p.data))
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) { // of the token that follows; the error's own offset counts from somewhere else
		at += len(p.data[at:]) - len(bytes.TrimLeft(p.data[at:], " \t\r\n:,"))
	}
	return 1 + bytes.Count(p.data[:at], []byte("\n"))
}

func (p *parser) document() error {
	seen := false
	if err := p.object("the file", func(key string) error {
		if key != "permissions" {
			return fmt.Errorf("unknown key %q; there is permissions", key)
		}
		seen = true
		return p.object("permissions", func(key string) error {
			switch a := Action(key); a {
			case Allow, Ask, Deny:
				return p.list(a)
			}
			return fmt.Errorf("unknown key %q; there are allow, ask and deny", key)
		})
	}); err != nil {
		return err
	}
	if !seen {
		return errors.New("the key permissions is missing")
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the end")
	}
	return nil
}

// object reads an object whose keys each come once.
func (p *parser) object(what string, member func(key string) error) error {
	if t, err := p.token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return fmt.Errorf("%s is not an object", what)
	}
	seen := map[string]bool{}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return errors.New("a key is not a string")
		}
		if seen[key] {
			return fmt.Errorf("the key %q comes twice", key)
		}
		seen[key] = true
		if err := member(key); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

func (p *parser) list(a Action) error {
	if t, err := p.token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return fmt.Errorf("%s is not a list", a)
	}
	for p.dec.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		text, ok := t.(string)
		if !ok {
			return fmt.Errorf("an entry of %s is not a string", a)
		}
		r, err := parseRule(text)
		if err != nil {
			return err
		}
		r.Action, r.File, r.Line, r.Operator = a, p.file.Name, p.line(nil), p.file.Operator
		p.rules = append(p.rules, r)
	}
	_, err := p.token()
	return err
}

func (p *parser) token() (json.Token, error) {
	t, err := p.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it ends too early")
	}
	return t, err
}
