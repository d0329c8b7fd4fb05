package php

import (
	"fmt"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// forward loads the source at its new place, once, as it can declare what may be declared once.
func forward(m ecosystem.Moved) []byte {
	return fmt.Appendf(nil, "<?php return require_once __DIR__ . '/%s';\n", m.Way())
}
