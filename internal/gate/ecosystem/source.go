package ecosystem

import "strings"

func DepthOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
