package ecosystem

import "github.com/ycbot/ycbot/internal/pattern"

// TestPackage is what packages are called that run tests, or that these compare with.
var TestPackage = pattern.New(`(?i)(^|[/_.-])(jest|mocha|vitest|ava|tape|tap|chai|expect\w*|assert\w*|sinon|should|jasmine|karma|uvu|cypress|playwright|power-assert|_?pytest|pluggy|nose\w*|hypothesis|mock|testing-library|test\w*)($|[/_.-])`)
