package node

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	nodeNoExport = pattern.New(`does not provide an export named '(\w+)'`)
	nodeBraces   = pattern.New(`\bimport\s+(?:[\w$]+\s*,\s*)?\{[^}]*\}`)
)

// https://nodejs.org/api/globals.html and https://tc39.es/ecma262/#sec-global-object, and what runners add
var nodeGlobals = strings.Fields(`AbortController AbortSignal AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Blob Boolean BroadcastChannel Buffer
		ByteLengthQueuingStrategy CloseEvent CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DataView Date DecompressionStream Error EvalError Event
		EventSource EventTarget File FinalizationRegistry Float32Array Float64Array FormData Function Headers Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math
		MessageChannel MessageEvent MessagePort NaN Navigator Number Object Performance Promise Proxy RangeError ReadableStream ReferenceError Reflect RegExp Request Response Set
		SharedArrayBuffer Storage String SubtleCrypto Symbol SyntaxError TextDecoder TextEncoder TransformStream TypeError URIError URL URLSearchParams Uint16Array Uint32Array
		Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly WebSocket WritableStream atob btoa clearImmediate clearInterval clearTimeout console crypto decodeURI
		decodeURIComponent encodeURI encodeURIComponent escape eval fetch global globalThis isFinite isNaN localStorage navigator parseFloat parseInt performance process
		queueMicrotask sessionStorage setImmediate setInterval setTimeout structuredClone undefined unescape
		describe it test suite specify context expect assert before after beforeEach afterEach beforeAll afterAll jest vi`)

// unimportNode takes a name out of "import { … } from …".
func unimportNode(src []byte, output string) ([]byte, []string) {
	m := nodeNoExport.FindStringSubmatch(output)
	if m == nil || slices.Contains(nodeGlobals, m[1]) {
		return nil, nil
	}
	done := false
	out := nodeBraces.ReplaceAllStringFunc(string(src), func(statement string) string {
		head, list, _ := strings.Cut(statement, "{")
		names, cut := ecosystem.WithoutName(strings.TrimSuffix(list, "}"), m[1])
		if !cut {
			return statement
		}
		done = true
		return head + "{ " + strings.Join(names, ", ") + strings.Repeat("\n", strings.Count(statement, "\n")-strings.Count(head, "\n")) + " }"
	})
	if !done {
		return nil, nil
	}
	return []byte(out), m[1:2]
}
