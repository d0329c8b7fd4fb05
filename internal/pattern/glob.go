package pattern

// Glob matches a whole text against a pattern in which "*" stands for anything,
// slashes and leading dots included, and "?" for one character.
func Glob(pattern, text string) bool { return glob(pattern, text, false) }

// GlobClasses is Glob where "[a-z]" and "[!a-z]" stand for one character of a set, or of
// none; a bracket that none closes stands for itself.
func GlobClasses(pattern, text string) bool { return glob(pattern, text, true) }

func glob(pattern, text string, classes bool) bool {
	p, t := []rune(pattern), []rune(text)
	star, resume := -1, 0
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, resume = i, j
			i++
		case classes && i < len(p) && class(p[i:]) > 0:
			n := class(p[i:])
			switch {
			case within(p[i+1:i+n-1], t[j]):
				i, j = i+n, j+1
			case star >= 0:
				resume++
				i, j = star+1, resume
			default:
				return false
			}
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i, j = i+1, j+1
		case star >= 0:
			resume++
			i, j = star+1, resume
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// class is the length of the set that p begins with, 0 for none.
func class(p []rune) int {
	if p[0] != '[' {
		return 0
	}
	for i := 2; i < len(p); i++ { // a set is not empty
		if p[i] == ']' {
			return i + 1
		}
	}
	return 0
}

// within reports whether a character is in a set, given without its brackets.
func within(set []rune, c rune) bool {
	not := set[0] == '!' || set[0] == '^'
	if not {
		set = set[1:]
	}
	for i := 0; i < len(set); i++ {
		if i+2 < len(set) && set[i+1] == '-' {
			if set[i] <= c && c <= set[i+2] {
				return !not
			}
			i += 2
			continue
		}
		if set[i] == c {
			return !not
		}
	}
	return not
}

// mostBraces bounds what braces stand for: a pattern with more is taken as it stands.
const mostBraces = 256

// Braces returns the patterns that one with alternatives such as "{a,b}" stands for, inner
// ones included. Braces without a comma stand for themselves.
func Braces(pattern string) []string {
	out := expand(pattern, mostBraces)
	if len(out) > mostBraces {
		return []string{pattern}
	}
	return out
}

// Whole reports whether the braces of a pattern are closed, and stand for no more patterns
// than [Braces] reads: the one with an open brace, or with too many, stands for itself there,
// and a rule with it would not do what it says.
func Whole(pattern string) bool {
	depth := 0
	for _, r := range pattern {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0 && len(expand(pattern, mostBraces)) <= mostBraces
}

// WholeClasses is Whole for patterns whose sets in brackets count, too: none of them is open.
func WholeClasses(pattern string) bool {
	if !Whole(pattern) {
		return false
	}
	for _, one := range Braces(pattern) {
		p := []rune(one)
		for i := 0; i < len(p); i++ {
			n := class(p[i:])
			if n == 0 && p[i] == '[' {
				return false
			}
			i += max(n-1, 0)
		}
	}
	return true
}

func expand(pattern string, most int) []string {
	from, to, commas := alternatives(pattern)
	if to < 0 {
		return []string{pattern}
	}
	var out []string
	begin := from + 1
	for _, end := range append(commas, to) {
		for _, rest := range expand(pattern[:from]+pattern[begin:end]+pattern[to+1:], most) {
			if out = append(out, rest); len(out) > most {
				return out
			}
		}
		begin = end + 1
	}
	return out
}

// alternatives finds the first braces with a comma, and its commas; to is -1 for none.
func alternatives(p string) (from, to int, commas []int) {
	for from = range len(p) {
		if p[from] != '{' {
			continue
		}
		depth := 0
		commas = nil
		for i := from; i < len(p); i++ {
			switch p[i] {
			case '{':
				depth++
			case ',':
				if depth == 1 {
					commas = append(commas, i)
				}
			case '}':
				if depth--; depth == 0 && commas != nil {
					return from, i, commas
				}
			}
			if depth == 0 {
				break
			}
		}
	}
	return 0, -1, nil
}
