package rust

import (
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	rustDoc  = pattern.New(`(?m)(?:^[ \t]*//[/!][^\n]*\n)+`)
	rustItem = pattern.New(`^(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|unsafe|const|extern(?:\s+"[^"]*")?)\s+)*(fn|struct|enum|trait|mod|type|static|union|macro_rules!|impl)\b\s*(\w*)`)
)

// rustExamples are the documentations that have a block of code.
func rustExamples(src string) []ecosystem.Example {
	var out []ecosystem.Example
	for _, m := range rustDoc.FindAllStringSubmatchIndex(src, -1) {
		of := ""
		if item := rustItem.FindStringSubmatch(src[m[1]:]); item != nil {
			of = item[1] + " " + item[2]
		}
		out = append(out, ecosystem.Example{Of: of, From: m[0], To: m[1], Bare: !strings.Contains(src[m[0]:m[1]], "```")})
	}
	return out
}
