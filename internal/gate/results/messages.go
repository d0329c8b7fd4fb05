package results

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// CannotStart are messages of tools that find nothing to run.
var CannotStart = pattern.New(`(?i)no rule to make target|missing script|no such file or directory|command not found|cannot find module|no targets specified|does not contain recipe`)

// OtherSignature are messages of compilers and interpreters that a call, or what is done with
// its result, does not fit what it calls, by the name of that.
var OtherSignature = pattern.New(strings.Join([]string{
	`(?:not enough|too many) arguments in call to ([\w.]+)`, // Go
	`assignment mismatch: .* but ([\w.]+)(?:\(|\s)`,
	`multiple-value ([\w.]+)\(`, `([\w.]+)\([^\n]*\) \(no value\) used as value`,
	`cannot use .* in argument to ([\w.]+)`, `in call to ([\w.]+), (?:cannot infer|type .* of .* does not match)`, `cannot use generic (?:function|type) ([\w.]+)`,
	`too (?:few|many) values in struct literal of type ([\w.]+)`,
	`(?:cannot use|invalid operation:) (?:[^\n(]*[ .])?(\w+)\([^\n]*(?:as \w+ value|mismatched types)`,
	`([\w.]+)\(\) (?:takes|missing|got an)`, // Python
	`missing \d+ required positional arguments? .*'(\w+)'`,
	`(?:function|method|associated function|tuple struct|tuple variant) defined here\n(?:[^\n]*\n){2}[^\n]*\b(?:fn|struct)\s+(\w+)`, // Rust
	`too (?:few|many) arguments to (?:function|method|constructor) [‘'](?:[^‘’'(\n]*[\s:*&])?(\w+)[(’']`,                            // C
	`no matching (?:member )?function for call to [‘'](?:[^‘’'(\n]*[\s:*&])?(\w+)[(’']`,
	`(?:method|constructor) (\w+) in \w+ [\w.<>]+ cannot be applied`, // Java
	`no suitable (?:method|constructor) found for (\w+)`,
	`required (?:formal )?parameter '\w+' of '(?:[^'(\n]*\.)?(\w+)\(`, // C#
	`No overload for method '(\w+)' takes`, `'(?:\w+\.)*(\w+)' does not contain a constructor that takes`,
	"in [`'](?:[\\w:]+[#.])?(\\w+)': (?:wrong number of arguments|missing keyword|unknown keyword)", // Ruby
	"(?:wrong number of arguments|missing keyword|unknown keyword)[^\n]*\n[^\n]*in [`'](?:[\\w:]+[#.])?(\\w+)'",
	`Too (?:few|many) arguments to function (?:[\w\\]+(?:::|\\))?(\w+)\(`, // PHP
}, "|"))

// Unmet are messages of compilers that something lacks what the sources ask for, by its name:
// a type the method of an interface, trait or abstract class, a value or pattern a field,
// a choice one of its cases.
var Unmet = pattern.New(strings.Join([]string{
	`(?:missing method|wrong type for method) (\w+)`,
	`does not override abstract method (\w+)`,
	`Property '(\w+)' is missing in type`,
	`does not implement interface member '[\w.]*?(\w+)[('<]`,
	"not all trait items implemented, missing: `(\\w+)`",
	"missing fields? `(\\w+)`", "pattern does not mention fields? `(\\w+)`", // Rust
	"non-exhaustive patterns: `&?(?:\\w+::)*(\\w+)",
	`(?:missing argument for parameter|extra argument) '(\w+)' in call`, // Swift
}, "|"))

// FirstGroup is what the groups of a match hold that has one of several.
func FirstGroup(match []string) string {
	for _, m := range match[1:] {
		if m != "" {
			return m[strings.LastIndexByte(m, '.')+1:]
		}
	}
	return ""
}
