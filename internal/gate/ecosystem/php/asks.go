package php

import (
	"encoding/json"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// asks is the version of PHP that a composer.json requires.
func asks() []ecosystem.Asking {
	return []ecosystem.Asking{{
		Tool: "PHP", Program: "php", In: ecosystem.Named("composer.json"),
		Version: func(src []byte) string {
			var doc struct{ Require struct{ PHP string } }
			if json.Unmarshal(src, &doc) != nil {
				return ""
			}
			return doc.Require.PHP
		},
		Refuses: pattern.New(`your php version \(|require a PHP version|PHP Parse error`),
	}}
}
