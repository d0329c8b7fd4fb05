package pattern

// Glob matches a whole text against a pattern in which "*" stands for anything,
// slashes and leading dots included, and "?" for one character.
func Glob(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	star, resume := -1, 0
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, resume = i, j
			i++
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
