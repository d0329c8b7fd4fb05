package java

import (
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// asks are the versions of Java that builds of Maven and Gradle compile for.
func asks() []ecosystem.Asking {
	return []ecosystem.Asking{{
		Tool: "Java", Program: "javac", In: ecosystem.Named("pom.xml", "build.gradle", "build.gradle.kts", "gradle.properties", "libs.versions.toml"),
		Version: ecosystem.WrittenAs(pattern.New(`<(?:maven\.compiler\.(?:release|source|target)|java\.version|jdk\.version|release)>\s*(\d+(?:\.\d+)?)\s*<` +
			`|\bJavaLanguageVersion\.of\(\s*(\d+)|\bjvmToolchain\(\s*(\d+)|\bJavaVersion\.VERSION_(\d+)\b|(?m)^[^/#\n]*\b(?:sourceCompatibility|targetCompatibility|options\.release|javaVersion|java)\s*(?:=|\.set\()\s*["']?(\d+(?:\.\d+)?)`)),
		Refuses: pattern.New(`release version \S+ not supported|invalid (?:source|target) release|Cannot find a Java installation|No (?:locally installed|matching) toolchains?`),
	}}
}
