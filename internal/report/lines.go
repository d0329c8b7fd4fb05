package report

import "strconv"

// LineRanges are sorted line numbers as people write them: "3" and "5-7".
func LineRanges(lines []int) []string {
	var out []string
	for i := 0; i < len(lines); {
		j := i
		for j+1 < len(lines) && lines[j+1] == lines[j]+1 {
			j++
		}
		r := strconv.Itoa(lines[i])
		if j > i {
			r += "-" + strconv.Itoa(lines[j])
		}
		out = append(out, r)
		i = j + 1
	}
	return out
}
