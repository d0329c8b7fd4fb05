package java

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// surefire is a plugin of a pom that runs tests, and properties is what steers it.
var (
	pomPlugin  = pattern.New(`(?s)<plugin>.*?</plugin>\s*`)
	pomTests   = pattern.New(`maven-(?:surefire|failsafe)-plugin`)
	pomSetting = pattern.New(`(?s)<(skipTests|skipITs|maven\.test\.skip|maven\.test\.failure\.ignore|surefire\.[\w.]+|test)>[^<]*</[\w.]+>\s*`)
)

// mergePom puts the base's test plugins and their properties into the head's pom.
func mergePom(base, head []byte) ([]byte, error) {
	plugins := func(pom []byte) []string {
		return slices.DeleteFunc(pomPlugin.FindAllString(string(pom), -1), func(p string) bool { return !pomTests.MatchString(p) })
	}
	settings := func(pom []byte) []string { return pomSetting.FindAllString(string(pom), -1) }
	out := string(head)
	for _, part := range []struct {
		of     func([]byte) []string
		parent string
	}{{plugins, "</plugins>"}, {settings, "</properties>"}} {
		ours, theirs := part.of(base), part.of(head)
		if ecosystem.Trimmed(strings.Join(ours, "")) == ecosystem.Trimmed(strings.Join(theirs, "")) {
			continue
		}
		for i, p := range theirs {
			with := ""
			if i < len(ours) {
				with = ours[i]
			}
			out = strings.Replace(out, p, with, 1)
		}
		if len(ours) <= len(theirs) {
			continue
		}
		at := strings.LastIndex(out, part.parent)
		if at < 0 {
			return nil, fmt.Errorf("the head's pom.xml has no %s for what the base sets for tests", part.parent)
		}
		out = out[:at] + strings.Join(ours[len(theirs):], "") + out[at:]
	}
	return []byte(out), nil
}
