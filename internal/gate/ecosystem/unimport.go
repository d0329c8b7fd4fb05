package ecosystem

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	pythonNoName  = pattern.New(`ImportError: cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'`)
	nodeNoExport  = pattern.New(`does not provide an export named '(\w+)'`)
	nodeBraces    = pattern.New(`\bimport\s+(?:[\w$]+\s*,\s*)?\{[^}]*\}`)
	importComment = pattern.New(`#[^\n]*|//[^\n]*`)
)

// What a name stands for without an import. A test that runs without its import would be one
// of the language's own function.
var (
	// https://docs.python.org/3/library/functions.html
	pythonBuiltins = strings.Fields(`abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright credits delattr
		dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals
		map max memoryview min next object oct open ord pow print property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip
		Exception BaseException ValueError TypeError KeyError IndexError AttributeError RuntimeError OSError IOError TimeoutError ConnectionError PermissionError FileNotFoundError
		NotImplementedError StopIteration LookupError ArithmeticError ZeroDivisionError OverflowError UnicodeError Warning UserWarning DeprecationWarning EnvironmentError ExceptionGroup`)
	// https://nodejs.org/api/globals.html and https://tc39.es/ecma262/#sec-global-object, and what runners add
	nodeGlobals = strings.Fields(`AbortController AbortSignal AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Blob Boolean BroadcastChannel Buffer
		ByteLengthQueuingStrategy CloseEvent CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DataView Date DecompressionStream Error EvalError Event
		EventSource EventTarget File FinalizationRegistry Float32Array Float64Array FormData Function Headers Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math
		MessageChannel MessageEvent MessagePort NaN Navigator Number Object Performance Promise Proxy RangeError ReadableStream ReferenceError Reflect RegExp Request Response Set
		SharedArrayBuffer Storage String SubtleCrypto Symbol SyntaxError TextDecoder TextEncoder TransformStream TypeError URIError URL URLSearchParams Uint16Array Uint32Array
		Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly WebSocket WritableStream atob btoa clearImmediate clearInterval clearTimeout console crypto decodeURI
		decodeURIComponent encodeURI encodeURIComponent escape eval fetch global globalThis isFinite isNaN localStorage navigator parseFloat parseInt performance process
		queueMicrotask sessionStorage setImmediate setInterval setTimeout structuredClone undefined unescape
		describe it test suite specify context expect assert before after beforeEach afterEach beforeAll afterAll jest vi`)
)

// unimportPython takes a name out of "from … import …".
func unimportPython(src []byte, output string) ([]byte, bool) {
	m := pythonNoName.FindStringSubmatch(output)
	if m == nil || slices.Contains(pythonBuiltins, m[1]) {
		return nil, false
	}
	module := m[2][strings.LastIndexByte(m[2], '.')+1:]
	// from the module by its name, or by a place relative to the file
	imports := regexp.MustCompile(`(?m)^[ \t]*from[ \t]+(?:\.*(?:[\w.]+\.)?` + module + `|\.+[\w.]*)[ \t]+import[ \t]+(?:\([^)]*\)|(?:[^\n\\]|\\\n)*)`)
	done := false
	out := imports.ReplaceAllStringFunc(string(src), func(statement string) string {
		head, list, _ := strings.Cut(statement, "import")
		names, cut := withoutName(strings.Trim(strings.TrimSpace(list), "()"), m[1])
		if !cut {
			return statement
		}
		done = true
		lines := strings.Repeat("\n", strings.Count(statement, "\n"))
		if len(names) == 0 {
			return head[:len(head)-len(strings.TrimLeft(head, " \t"))] + "pass" + lines
		}
		if lines != "" {
			return head + "import (" + strings.Join(names, ", ") + lines + ")"
		}
		return head + "import " + strings.Join(names, ", ")
	})
	return []byte(out), done
}

// unimportNode takes a name out of "import { … } from …".
func unimportNode(src []byte, output string) ([]byte, bool) {
	m := nodeNoExport.FindStringSubmatch(output)
	if m == nil || slices.Contains(nodeGlobals, m[1]) {
		return nil, false
	}
	done := false
	out := nodeBraces.ReplaceAllStringFunc(string(src), func(statement string) string {
		head, list, _ := strings.Cut(statement, "{")
		names, cut := withoutName(strings.TrimSuffix(list, "}"), m[1])
		if !cut {
			return statement
		}
		done = true
		return head + "{ " + strings.Join(names, ", ") + strings.Repeat("\n", strings.Count(statement, "\n")-strings.Count(head, "\n")) + " }"
	})
	return []byte(out), done
}

// withoutName are the items of a list of imports, but for that of a name.
func withoutName(list, name string) (items []string, cut bool) {
	for item := range strings.SplitSeq(strings.ReplaceAll(importComment.ReplaceAllString(list, ""), "\\\n", " "), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(items), func(item string) bool {
		first, _, _ := strings.Cut(item, " ")
		return first == name
	})
	return rest, len(rest) < len(items)
}
