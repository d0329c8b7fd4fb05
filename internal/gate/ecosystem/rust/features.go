package rust

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/sorted"
)

// mergeFeatures has the features of the base turn each other on in the head's Cargo.toml as they
// do on the base: tests are compiled by them (cfg!(feature = "strict")), and by those of "default"
// without a word. What the head adds, and what its dependencies are to its features, stays its own
// (https://doc.rust-lang.org/cargo/reference/features.html).
func mergeFeatures(base, head []byte) ([]byte, error) {
	from, _ := ecosystem.ParseTOML(base)
	into, broken := ecosystem.ParseTOML(head)
	if base == nil || broken {
		return head, nil
	}
	was, is := featuresOf(from), featuresOf(into)
	ofBase := func(name string) bool { return was[name] != nil || optional(from, name) }
	ofHead := func(name string) bool {
		return is[name] != nil || optional(into, name) || was[name] != nil && !needs(into, name)
	}
	asOnBase := func(name string) []string {
		out := slices.DeleteFunc(slices.Clone(is[name]), func(f string) bool { return ofBase(f) && ofHead(f) })
		for _, f := range was[name] {
			if ofBase(f) && ofHead(f) {
				out = append(out, f)
			}
		}
		return out
	}
	merged := map[string][]string{}
	same := true
	for name, list := range is {
		merged[name] = list
		if was[name] != nil {
			merged[name] = asOnBase(name)
			same = same && sameSet(merged[name], list)
		}
	}
	for name := range was {
		if is[name] == nil && !needs(into, name) {
			merged[name], same = asOnBase(name), false
		}
	}
	if same {
		return head, nil
	}
	return ecosystem.MergeSections("features")(featuresText(merged), head)
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// featuresOf are the features of a package, and what each turns on.
func featuresOf(doc ecosystem.TOML) map[string][]string {
	out := map[string][]string{}
	table := doc.Table("features")
	for _, name := range table.Keys() {
		out[name] = append([]string{}, table.Texts(name)...) // there, also where it turns nothing on
	}
	return out
}

// needs says whether a package has a dependency of a name, which no feature can have then.
func needs(doc ecosystem.TOML, name string) bool {
	return slices.ContainsFunc(dependencies, func(key string) bool { return doc.Table(key).Has(name) })
}

// optional says whether a name is that of a dependency that is a feature, too.
func optional(doc ecosystem.TOML, name string) bool {
	return slices.ContainsFunc(dependencies, func(key string) bool { return doc.Table(key, name)["optional"] == true })
}

var dependencies = []string{"dependencies", "dev-dependencies", "build-dependencies"}

// featuresText is a section of a Cargo.toml.
func featuresText(features map[string][]string) []byte {
	var out strings.Builder
	out.WriteString("[features]\n")
	for _, name := range sorted.Keys(features, strings.Compare) {
		var list []string
		for _, f := range features[name] {
			list = append(list, strconv.Quote(f))
		}
		out.WriteString(strconv.Quote(name) + " = [" + strings.Join(list, ", ") + "]\n")
	}
	return []byte(out.String())
}
