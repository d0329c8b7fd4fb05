package native

import (
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// asks are the tools of which the files of a build ask for a version.
func asks() []ecosystem.Asking {
	return []ecosystem.Asking{
		{
			Tool: "CMake", Program: "cmake", In: ecosystem.Named("CMakeLists.txt"),
			Version: ecosystem.WrittenAs(pattern.New(`(?im)^\s*cmake_minimum_required\s*\(\s*VERSION\s+([\d.]+?)(?:\.\.\.|\s|\))`)),
			Refuses: pattern.New(`CMake [\d.]+ or higher is required`),
		},
		{
			Tool: "Meson", Program: "meson", In: ecosystem.Named("meson.build"),
			Version: ecosystem.WrittenAs(pattern.New(`(?m)^[^#\n]*\bmeson_version\s*:\s*'([^']+)'`)),
			Refuses: pattern.New(`Meson version is \S+ but project requires`),
		},
	}
}
