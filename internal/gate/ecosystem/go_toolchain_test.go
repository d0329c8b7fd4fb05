package ecosystem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindGo(t *testing.T) {
	t.Parallel()
	if tools, err := findGo(t.Context(), []string{"PATH=" + t.TempDir() + ":."}); tools != nil || err != nil {
		t.Errorf("without go: %+v %v", tools, err)
	}
	tools, err := findGo(t.Context(), os.Environ())
	if err != nil || tools == nil || !filepath.IsAbs(tools.Root) || !strings.HasPrefix(tools.Version, "go") && !strings.HasPrefix(tools.Version, "devel") {
		t.Errorf("%+v %v", tools, err)
	}
	tools, err = findGo(t.Context(), append(os.Environ(), "CGO_ENABLED=0"))
	if err != nil || tools.Race {
		t.Errorf("the race detector without cgo: %v %v", tools.Race, err)
	}
}
