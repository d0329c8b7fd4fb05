package ecosystem

import "strings"

func depthOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
