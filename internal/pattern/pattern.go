// Package pattern holds regular expressions that are compiled when they are first
// used, and how text is held against a pattern with stars.
//
// A program that compiles all of its expressions as it starts pays for those of
// every language and format each time, and uses a few. What stands at package
// level is therefore a [Pattern]; an expression that is made of what a function
// was given is compiled there, with package regexp.
package pattern

import (
	"regexp"
	"sync"
)

// A Pattern is a regular expression. Its methods are those of [regexp.Regexp].
type Pattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// New returns the pattern for an expression. One that is wrong panics when it is
// used; a test of package imports compiles all of them.
func New(expr string) *Pattern { return &Pattern{expr: expr} }

func (p *Pattern) regexp() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// MatchString is that of [regexp.Regexp].
func (p *Pattern) MatchString(s string) bool { return p.regexp().MatchString(s) }

// Match is that of [regexp.Regexp].
func (p *Pattern) Match(b []byte) bool { return p.regexp().Match(b) }

// FindStringSubmatch is that of [regexp.Regexp].
func (p *Pattern) FindStringSubmatch(s string) []string { return p.regexp().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of [regexp.Regexp].
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.regexp().FindStringSubmatchIndex(s)
}

// FindAllString is that of [regexp.Regexp].
func (p *Pattern) FindAllString(s string, n int) []string { return p.regexp().FindAllString(s, n) }

// FindAllStringSubmatch is that of [regexp.Regexp].
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.regexp().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is that of [regexp.Regexp].
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.regexp().FindAllStringSubmatchIndex(s, n)
}

// FindSubmatch is that of [regexp.Regexp].
func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.regexp().FindSubmatch(b) }

// FindSubmatchIndex is that of [regexp.Regexp].
func (p *Pattern) FindSubmatchIndex(b []byte) []int { return p.regexp().FindSubmatchIndex(b) }

// FindAll is that of [regexp.Regexp].
func (p *Pattern) FindAll(b []byte, n int) [][]byte { return p.regexp().FindAll(b, n) }

// FindAllSubmatch is that of [regexp.Regexp].
func (p *Pattern) FindAllSubmatch(b []byte, n int) [][][]byte {
	return p.regexp().FindAllSubmatch(b, n)
}

// ReplaceAllString is that of [regexp.Regexp].
func (p *Pattern) ReplaceAllString(src, repl string) string {
	return p.regexp().ReplaceAllString(src, repl)
}

// ReplaceAllLiteralString is that of [regexp.Regexp].
func (p *Pattern) ReplaceAllLiteralString(src, repl string) string {
	return p.regexp().ReplaceAllLiteralString(src, repl)
}

// ReplaceAllStringFunc is that of [regexp.Regexp].
func (p *Pattern) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return p.regexp().ReplaceAllStringFunc(src, repl)
}

// ReplaceAll is that of [regexp.Regexp].
func (p *Pattern) ReplaceAll(src, repl []byte) []byte { return p.regexp().ReplaceAll(src, repl) }

// Split is that of [regexp.Regexp].
func (p *Pattern) Split(s string, n int) []string { return p.regexp().Split(s, n) }
