package php

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestComposerData holds that no repository and no locked package of a head that is not
// trusted makes Composer call another program than git.
func TestComposerData(t *testing.T) {
	t.Parallel()
	s := trees.Survey(t, map[string]string{
		"composer.json": `{"name": "a/a", "scripts": {"x": "evil"}, "repositories": [
			{"type": "vcs", "url": "https://example.com/kept-vcs"}, {"type": "hg", "url": "https://example.com/evil-hg"},
			{"type": "package", "package": {"name": "kept/package", "dist": {"type": "zip", "url": "https://example.com/kept.zip"}, "source": {"type": "svn", "url": "evil-svn"}}},
			{"type": "composer", "url": "https://kept.example.com"}, {"packagist.org": false}, {"type": "perforce", "url": "evil-p4"}]}`,
		"composer.lock": `{"content-hash": "x", "packages": [
			{"name": "kept/git", "source": {"type": "git", "url": "https://example.com/kept-git"}, "dist": {"type": "zip"}},
			{"name": "kept/hg", "source": {"type": "hg", "url": "evil-hg2"}, "dist": {"type": "zip"}}],
			"packages-dev": [{"name": "kept/dev", "source": {"type": "fossil", "url": "evil-fossil"}}], "number": 12345678901234567890}`,
	}, new(strings.Builder))
	data := composerData(s, ".")
	all := string(data["composer.json"]) + string(data["composer.lock"])
	if strings.Contains(all, "evil") || strings.Contains(all, `"vcs"`) {
		t.Errorf("what calls other programs is left:\n%s", all)
	}
	for _, kept := range []string{"kept-vcs", "kept/package", "kept.zip", "https://kept.example.com", "packagist.org", "kept-git", "kept/hg", "kept/dev", "content-hash", "12345678901234567890"} {
		if !strings.Contains(all, kept) {
			t.Errorf("%s is gone:\n%s", kept, all)
		}
	}
	for name, text := range map[string]string{"composer.json": "[", "composer.lock": "none"} {
		s := trees.Survey(t, map[string]string{"composer.json": "{}", name: text}, new(strings.Builder))
		if got := string(composerData(s, ".")[name]); got != text && got != "{}" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
