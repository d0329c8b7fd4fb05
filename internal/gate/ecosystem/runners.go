package ecosystem

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// RunnerSettings are the files in which runners are given files of their own.
var RunnerSettings = strings.Fields(`package.json jest.config.js jest.config.cjs jest.config.mjs jest.config.ts jest.config.json
	vitest.config.js vitest.config.ts vitest.config.mts vite.config.js vite.config.mjs vite.config.ts vite.config.mts
	.mocharc.js .mocharc.cjs .mocharc.json .mocharc.yml .mocharc.yaml test/mocha.opts karma.conf.js
	.nycrc .nycrc.json nyc.config.js nyc.config.cjs .taprc
	babel.config.js babel.config.cjs babel.config.mjs babel.config.json .babelrc .babelrc.js .babelrc.json
	conftest.py tests/conftest.py test/conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini setup.cfg pyproject.toml
	phpunit.xml phpunit.xml.dist .rspec`)

// TestPackage is what packages are called that run tests, or that these compare with.
var TestPackage = pattern.New(`(?i)(^|[/_.-])(jest|mocha|vitest|ava|tape|tap|chai|expect\w*|assert\w*|sinon|should|jasmine|karma|uvu|cypress|playwright|power-assert|_?pytest|pluggy|nose\w*|hypothesis|mock|testing-library|test\w*)($|[/_.-])`)
