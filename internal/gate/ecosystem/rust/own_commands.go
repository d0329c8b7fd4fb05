package rust

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

var cargoFeatures = pattern.New(`\bcargo\s+(?:nextest\s+run|test)\b[^\n]*?\s(--all-features|--features[=\s]+["']?[\w,/ -]+?["']?)(?:\s|$)`)

// featured notes the features that the project's own commands have its tests built with.
func featured(p *ecosystem.Project, s *ecosystem.Survey) {
	var all []string
	for _, text := range ecosystem.OwnCommands(s, p.Dir) {
		for _, m := range cargoFeatures.FindAllStringSubmatch(text, -1) {
			all = append(all, strings.Join(strings.Fields(strings.Trim(m[1], `"'`)), " "))
		}
	}
	if len(all) == 0 || s.Read(p.Dir, "Cargo.toml") == nil || !strings.Contains(string(s.Read(p.Dir, "Cargo.toml")), "[features]") {
		return
	}
	slices.Sort(all)
	p.Notes = append(p.Notes, fmt.Sprintf("its own commands test it with %s, which is not done; \"commands: {test: cargo test %s}\" in .github/ycbot.yml at the base does",
		results.Listed(slices.Compact(all), 3), all[0]))
}
