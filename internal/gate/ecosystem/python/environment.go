package python

import (
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// https://tox.wiki/en/stable/config.html#set_env
var toxSetEnv = pattern.New(`(?m)^set_?env[ \t]*=(.*(?:\n[ \t]+.*)*)`)

var toxVariable = pattern.New(`(?m)^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*([^\n{}]*)$`)

// toxVariables are those that tox sets in all environments, as assignments before a command.
func toxVariables(tox string) string {
	base := toxBase.FindStringSubmatch(tox)
	if base == nil {
		return ""
	}
	var found [][2]string
	for _, m := range toxSetEnv.FindAllStringSubmatch(base[1], -1) {
		for _, v := range toxVariable.FindAllStringSubmatch(m[1], -1) {
			found = append(found, [2]string{v[1], strings.TrimSpace(v[2])})
		}
	}
	return ecosystem.Assignments(found)
}
