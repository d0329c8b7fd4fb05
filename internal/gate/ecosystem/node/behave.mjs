// Calls functions that modules export with the same inputs on both sides of a change, and
// prints what can be seen of the results. This file is laid into the tree of either side,
// with the texts of both sides at its end, so that both make the same inputs. It needs
// nothing but Node.js 16.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import Module, { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import util from 'node:util'

const MOST = 200, GIVEN = 60, FUNCTIONS = 20 // inputs of a function, of these that stand in the tree, functions
const BUSY = Math.max(1, Math.min(10, os.loadavg()[0] / os.cpus().length)) // a call takes longer by that
const LONG = 16000, WIDE = 60, LIMIT = 1000 * BUSY, TIME = 3000 * BUSY, HANGS = 4, ENDS = 20
const ROOT = process.cwd()
const digest = text => createHash('sha1').update(text.slice(0, LONG)).digest('hex').slice(0, 6)
const unique = list => [...new Set(list)]
const escaped = name => name.replace(/[$]/g, '\\$&')
// TEST is where a test begins, with its name.
const TEST = /(?<![\w$.])(?:test|it)(?:\.\w+)*(?:(?<=\.each)\s*(?:\([^;]{0,2000}?\)|`[^`]{0,2000}`))?\s*\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/g
const mentions = (text, name) => new RegExp(`(?<![\\w$])${escaped(name)}(?![\\w$])`).test(text)
const bare = text => text.replace(/\/\*[\s\S]*?\*\/|(?<=^|[\s;{}(),])\/\/[^\n]*/g, '').replace(/\s*\n\s*/g, '\n').replace(/[ \t]+/g, ' ')

// holds says whether a text has that of a function, and not only as its beginning.
function holds (text, fn) {
  for (let at = text.indexOf(fn); at >= 0; at = text.indexOf(fn, at + 1)) {
    if (!/[\w$.]/.test(text[at - 1] || '') && (fn.endsWith('}') || /^ ?(?:[,;)\]}\n]|$)/.test(text.slice(at + fn.length)))) return true
  }
  return false
}

// --- what changed: there is no parser here, so texts of functions are looked for in the
// other side's text, and statements begin where a line is not indented

function statements (text) {
  const out = []
  for (const line of bare2(text).split('\n')) {
    if (out.length === 0 || /^[^\s})\]]/.test(line)) out.push('')
    out[out.length - 1] += line + '\n'
  }
  return out.map(s => ({
    text: s.trim(), name: (/^(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s+([\w$]+)/.exec(s) || [])[1],
    exported: /^(?:export\b|(?:module\.)?exports\b)/.test(s)
  })).filter(s => s.text)
}

const bare2 = text => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*/gm, '')

// hidden are the names of what changed in a module and cannot be called by itself.
function hidden (m, exported) {
  const was = statements(m.base), now = statements(m.head)
  const had = new Set(was.map(s => s.text.replace(/\s+/g, ' ')))
  const names = new Set(now.filter(s => s.name && !s.exported && !exported.has(s.name) && !had.has(s.text.replace(/\s+/g, ' ')) && was.some(o => o.name === s.name)).map(s => s.name))
  for (let grown = true; grown;) {
    grown = false
    for (const s of now) {
      if (s.name && !s.exported && !exported.has(s.name) && !names.has(s.name) && [...names].some(n => mentions(s.text, n))) { names.add(s.name); grown = true }
    }
  }
  return names
}

async function load (m) {
  const file = path.join(ROOT, m.path)
  if (m.typed && !m.native) return createRequire(file)(file)
  if (isModern(m)) return import(pathToFileURL(file).href)
  return createRequire(import.meta.url)(file)
}

function isModern (m) {
  if (m.typed) return true
  if (/\.mjs$/.test(m.path)) return true
  if (/\.cjs$/.test(m.path)) return false
  if (/^\s*(?:import\s[^(]|export\s)/m.test(m.head) && !/\bmodule\.exports\b/.test(m.head)) return true
  return false
}

// --- TypeScript, by a compiler that the project has

const compiled = new Map() // texts of compiled files, as the engine sees them

const isTyped = file => /\.[cm]?tsx?$/.test(file)

// compiler makes CommonJS of a file's text; null: the project has none that this knows.
// Version 7 of typescript has no functions to call.
function compiler () {
  const get = (name, from = path.join(ROOT, 'package.json')) => { try { return createRequire(from).resolve(name) } catch { return null } }
  const using = file => { try { return createRequire(import.meta.url)(file) } catch { return null } }
  const ts = get('typescript') && using(get('typescript'))
  const config = settings(ts)
  if (ts && ts.transpileModule) {
    const { experimentalDecorators, emitDecoratorMetadata, jsx, jsxFactory, jsxImportSource, useDefineForClassFields } = config.options
    const how = { experimentalDecorators, emitDecoratorMetadata, jsx: jsx === undefined ? ts.JsxEmit.React : jsx === ts.JsxEmit.Preserve ? ts.JsxEmit.ReactJSX : jsx, jsxFactory, jsxImportSource, useDefineForClassFields }
    return (text, file) => ts.transpileModule(text, { fileName: file, compilerOptions: { ...how, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, esModuleInterop: true, allowJs: true } }).outputText
  }
  for (const owner of ['', 'tsx', 'vite', 'tsup', 'vitest']) {
    const at = owner ? get(owner) || get(owner + '/package.json') : path.join(ROOT, 'package.json')
    const esbuild = at && get('esbuild', at) && using(get('esbuild', at))
    if (esbuild) return (text, file) => esbuild.transformSync(text, { loader: /x$/.test(file) ? 'tsx' : isTyped(file) ? 'ts' : 'js', format: 'cjs', target: 'node16', sourcefile: file }).code
  }
  return null
}

// settings are those of the project's tsconfig.json that matter for one file.
function settings (ts) {
  const file = path.join(ROOT, 'tsconfig.json')
  try {
    if (ts && ts.parseJsonConfigFileContent) {
      const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(file, ts.sys.readFile).config, { ...ts.sys, readDirectory: () => [] }, ROOT)
      return { options, base: options.baseUrl || options.pathsBasePath || ROOT, paths: options.paths || {} }
    }
    const bare = fs.readFileSync(file, 'utf8').replace(/"(?:[^"\\]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, t => t[0] === '"' ? t : '')
    const options = JSON.parse(bare.replace(/,(\s*[}\]])/g, '$1')).compilerOptions || {}
    return { options, base: path.join(ROOT, options.baseUrl || '.'), paths: options.paths || {} }
  } catch { return { options: {}, base: ROOT, paths: {} } }
}

// hook lets files of the project be loaded that are written in TypeScript, or as modules
// that one in TypeScript loads. Names are found as compilers find them: "./a.js" and "./a"
// are a.ts, and by the paths of tsconfig.json.
function hook (compile) {
  const own = file => file.startsWith(ROOT + path.sep) && !file.includes(path.sep + 'node_modules' + path.sep)
  const plain = Module._extensions['.js']
  const run = (m, text, file) => {
    compiled.set(file, compile(text, file))
    m._compile(compiled.get(file), file)
  }
  for (const ext of ['.ts', '.tsx', '.mts', '.cts']) Module._extensions[ext] = (m, file) => run(m, fs.readFileSync(file, 'utf8'), file)
  for (const ext of ['.js', '.mjs']) {
    Module._extensions[ext] = (m, file) => {
      const text = own(file) ? fs.readFileSync(file, 'utf8') : ''
      if (/^\s*(?:import\s[^(]|export\s)/m.test(text)) run(m, text, file)
      else plain(m, file)
    }
  }
  const { base, paths } = settings()
  const others = (request, from) => {
    const out = []
    const stem = request.replace(/\.([cm]?)js(x?)$/, '')
    if (/^\.\.?(?:\/|$)/.test(request)) out.push(...['.ts', '.tsx', '.mts', '.cts'].map(e => path.resolve(path.dirname(from), stem + e)))
    for (const [pattern, to] of Object.entries(paths)) {
      const [head, tail] = pattern.split('*')
      if (tail === undefined ? request !== pattern : !request.startsWith(head) || !request.endsWith(tail)) continue
      const part = tail === undefined ? '' : request.slice(head.length, request.length - tail.length)
      for (const t of to) out.push(path.resolve(base, t.replace('*', part)), path.resolve(base, t.replace('*', part).replace(/\.js$/, '') + '.ts'))
    }
    return out
  }
  const resolve = Module._resolveFilename
  Module._resolveFilename = function (request, parent, ...rest) {
    try { return resolve.call(this, request, parent, ...rest) } catch (e) {
      for (const other of parent && parent.filename && own(parent.filename) ? others(request, parent.filename) : []) {
        try { return resolve.call(this, other, parent, ...rest) } catch {}
      }
      throw e
    }
  }
}

const unloaded = [] // modules of which nothing can be called, with the reason

function cannot (m, what, e) {
  const why = placed(String((e && e.message) || e), '').split('\n')[0].slice(0, 160)
  unloaded.push({ path: m.path, why })
  console.error(`${m.path} cannot be ${what}: ${why}`)
}

// prepared has the texts of TypeScript compiled, and keeps them as they are as well.
function prepared (modules) {
  if (!modules.some(m => isTyped(m.path))) return modules
  let compile = compiler()
  const native = !compile && process.features.typescript && Module.stripTypeScriptTypes
  if (compile) hook(compile)
  else if (native) {
    process.removeAllListeners('warning')
    compile = text => Module.stripTypeScriptTypes(text)
  } else {
    for (const m of modules) if (isTyped(m.path)) cannot(m, 'loaded', 'TypeScript cannot be loaded: the project has neither typescript (before 7) nor esbuild, and this Node.js does not know it')
    return modules.filter(m => !isTyped(m.path))
  }
  return modules.flatMap(m => {
    if (!isTyped(m.path)) return [m]
    const file = path.join(ROOT, m.path)
    try {
      return [{ path: m.path, typed: true, native: !!native, source: { base: m.base, head: m.head }, base: compile(m.base, file), head: compile(m.head, file) }]
    } catch (e) {
      cannot(m, 'compiled', e)
      return []
    }
  })
}

// defined finds where a function is defined in a text: the place of its parameters.
function defined (f, text) {
  const name = f.kind === 'new' ? 'constructor' : escaped(f.plain)
  const from = f.owner || f.kind === 'new' ? Math.max(0, text.search(new RegExp(`\\bclass\\s+${escaped((f.owner || f).name.replace(/.*\./, ''))}(?![\\w$])`))) : 0
  const m = new RegExp(`(?<![\\w$.])(?:function\\s*\\*?\\s*|const\\s+|let\\s+|var\\s+|(?:module\\.)?exports\\.)?${name}\\s*(?::[^=;\\n]*)?(?:=\\s*(?:async\\s*)?(?:function\\s*\\*?\\s*)?)?(?:<[^>(]*>)?\\s*\\(`, 'g')
  m.lastIndex = from
  for (let found; (found = m.exec(text));) {
    const cells = split(text, m.lastIndex)
    if (/^\)\s*(?::|=>|\{)/.test(text.slice(cells.end, cells.end + 40))) return { at: found.index, cells: cells.list }
  }
  return null
}

// unhinted is a parameter without its type.
function unhinted (cell) {
  const m = /^\s*(?:(?:public|private|protected|readonly)\s+)*((?:\.\.\.)?[\w$]+)\s*\??\s*(?::\s*[\s\S]+?)?\s*((?<!=)=(?![>=])[\s\S]*)?$/.exec(cell)
  return m ? m[1] + ' ' + (m[2] || '') : cell
}

// annotated are the types of parameters as TypeScript has them.
function annotated (f) {
  const d = defined(f, f.module.source.head) || defined(f, f.module.source.base)
  const out = {}
  for (const c of d ? d.cells : []) {
    const m = /^\s*(?:(?:public|private|protected|readonly)\s+)*(?:\.\.\.)?([\w$]+)\s*\??\s*:\s*([\s\S]+?)\s*(?:(?<!=)=(?![>=])[\s\S]*)?$/.exec(c)
    if (m) out[m[1]] = m[2]
  }
  return out
}

// functions are those that a module exports, and the methods of classes that it exports.
function functions (m, exports) {
  const out = []
  const isClass = f => /^class\b/.test(Function.prototype.toString.call(f)) || f.prototype && Object.getOwnPropertyNames(f.prototype).length > 1
  const add = (name, expr, f, owner, kind) => {
    const text = Function.prototype.toString.call(f)
    if (/\[native code\]\s*}$/.test(text) || out.some(o => o.f === f)) return
    out.push({ module: m, name, expr, f, owner, kind, text, plain: name.replace(/.*[.#]/, ''), key: m.path + ' ' + name })
  }
  const walk = (o, prefix, expr, deep) => {
    for (const key of Object.keys(o).sort()) {
      let v
      try { v = o[key] } catch { continue }
      if (!/^[\w$]+$/.test(key)) continue
      if (typeof v === 'function') one(prefix + key, expr + '.' + key, v)
      else if (deep === 0 && v && typeof v === 'object' && Object.getPrototypeOf(v) === Object.prototype) walk(v, prefix + key + '.', expr + '.' + key, 1)
    }
  }
  const one = (name, expr, v) => {
    if (isClass(v)) {
      add(name, expr, v, null, 'new')
      for (const key of Object.getOwnPropertyNames(v.prototype).sort()) {
        const d = Object.getOwnPropertyDescriptor(v.prototype, key)
        if (key !== 'constructor' && /^[\w$]+$/.test(key) && (d.get || typeof d.value === 'function')) add(name + '.' + key, expr, d.get || d.value, { name, expr, f: v }, d.get ? 'getter' : 'method')
      }
      for (const key of Object.getOwnPropertyNames(v).sort()) {
        const d = Object.getOwnPropertyDescriptor(v, key)
        if (typeof d.value === 'function' && /^[\w$]+$/.test(key) && key !== 'prototype') add(name + '.' + key, expr + '.' + key, d.value, null, 'function')
      }
      return
    }
    add(name, expr, v, null, 'function')
  }
  if (typeof exports === 'function') one(exports.name && /^[\w$]+$/.test(exports.name) ? exports.name : 'exported', 'M', exports)
  walk(exports, '', 'M', 0)
  return out
}

// constructed are the parameters by which objects of a class are made.
function constructed (f) {
  const text = Function.prototype.toString.call(f)
  const at = /^class\b/.test(text) ? /(?<![\w$.])constructor\s*\(/.exec(text) : /\(/.exec(text)
  return at ? parameters(text.slice(at.index)) : []
}

// shared are the parameters of a function by which both sides can be called: the base's, where
// the function of this side takes them. What more it takes is left out.
function shared (f) {
  const own = f.kind === 'new' ? constructed(f.f) : parameters(f.text)
  const was = stated(f, 'base')
  const fits = was && was.length <= own.length && was.every((p, n) => !!p.rest === !!own[n].rest && (p.name ? !!own[n].name : p.keys ? !!own[n].keys && p.keys.every(k => own[n].keys.includes(k)) : p.text === own[n].text))
  return fits ? was : own
}

// stated are the parameters that a function has in the source of a side; null: it is not found.
function stated (f, side) {
  const text = (f.module.source || f.module)[side]
  const d = defined(f, text)
  if (d) return parameters('(' + d.cells.map(unhinted).filter(c => c.trim() !== 'this').join(',') + ')')
  const arrow = f.owner || f.kind === 'new' ? null : new RegExp(`(?<![\\w$])${escaped(f.plain)}\\s*[=:]\\s*(?:async\\s+)?([\\w$]+)\\s*=>`).exec(text)
  return arrow && parameters(arrow[1] + ' =>')
}

// parameters are those of the text of a function: names, defaults, keys.
function parameters (text) {
  const arrow = /^(?:async\s+)?([\w$]+)\s*=>/.exec(text)
  if (arrow) return [{ text: arrow[1], name: arrow[1] }]
  const from = text.indexOf('(')
  const cells = split(text, from + 1)
  return cells.list.map(c => {
    const m = /^(\.\.\.)?\s*([\w$]+)\s*(?:=\s*([\s\S]*))?$/.exec(c.trim())
    if (m) return { text: c.trim(), name: m[2], rest: !!m[1], value: m[3] }
    const keys = /^\{([\s\S]*?)\}/.exec(c.trim())
    return { text: c.trim(), name: '', keys: keys ? keys[1].split(',').map(k => k.trim().replace(/[\s:=].*/s, '')).filter(k => /^[\w$]+$/.test(k)) : null, value: /=\s*\{\}\s*$/.test(c) ? '{}' : undefined }
  })
}

// split separates what stands in brackets by its commas.
function split (text, at) {
  const list = []
  let deep = 0, cell = ''
  for (; at < text.length; at++) {
    const c = text[at]
    if (c === '"' || c === "'" || c === '`') {
      const end = quoted(text, at)
      cell += text.slice(at, end)
      at = end - 1
      continue
    }
    if (text.startsWith('/*', at)) { at = text.indexOf('*/', at) + 1; continue }
    if ('([{'.includes(c)) deep++
    if (')]}'.includes(c) && deep-- === 0) break
    if (c === ',' && deep === 0) { list.push(cell); cell = '' } else cell += c
  }
  if (cell.trim()) list.push(cell)
  return { list, end: at }
}

function quoted (text, at) {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === text[at]) return i + 1
  }
  return text.length
}

// plan is what is called here, in an order that is the same on both sides.
async function plan (data) {
  const out = []
  for (const m of prepared(data.modules)) {
    let exports
    try { exports = await load(m) } catch (e) {
      cannot(m, 'loaded', e)
      continue
    }
    const all = functions(m, exports)
    const private_ = hidden(m, new Set(all.map(f => f.plain).concat(all.filter(f => f.owner).map(f => f.owner.name))))
    const was = bare(m.base), now = bare(m.head)
    fields(m.head).filter(name => !mentions(m.base, name)).forEach(name => NEW.add(name))
    for (const f of all) {
      const text = bare(f.text).trim()
      if (holds(was, text) && holds(now, text) && ![...private_].some(n => mentions(f.text, n))) continue
      f.at = parseInt(digest(f.key), 16)
      f.params = shared(f)
      f.tests = data.tests.filter(t => mentions(t.base + t.head, f.plain) || imports(t, m).length > 0)
      out.push(f)
    }
  }
  return out
}

// --- inputs that stand in the tree

class NotPlain extends Error {}

// literal reads a literal of text from a place: its source and where it ends.
function literal (text, at, env) {
  const space = /(?:\s|\/\*[\s\S]*?\*\/)*/y
  const skip = () => { space.lastIndex = at; at += space.exec(text)[0].length }
  skip()
  const rest = text.slice(at, at + 2000)
  let m
  if ((m = /^(?:-\s*)?(?:0x[\da-f]+|\d[\d_]*\.?\d*(?:e[-+]?\d+)?n?|\.\d+|Infinity)(?![\w$])/i.exec(rest)) || (m = /^(?:true|false|null|undefined|NaN)(?![\w$])/.exec(rest))) return { src: m[0], end: at + m[0].length }
  if ((m = /^\/(?![/*])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/.exec(rest))) return { src: m[0], end: at + m[0].length }
  if ((m = /^new Date\(\s*(?:\d+|'[^']*'|"[^"]*")\s*\)/.exec(rest))) return { src: m[0], end: at + m[0].length }
  if (/^['"`]/.test(rest)) {
    const end = quoted(text, at), src = text.slice(at, end)
    if (src.includes('${') || src.length > 2000) throw new NotPlain()
    return { src, end }
  }
  if (rest[0] === '[' || rest[0] === '{') {
    const object = rest[0] === '{'
    let src = rest[0]
    for (at++, skip(); text[at] !== (object ? '}' : ']');) {
      if (at >= text.length) throw new NotPlain()
      if (object) {
        m = /^(?:[\w$]+|'[^'\n]*'|"[^"\n]*")\s*:/.exec(text.slice(at, at + 200))
        if (!m) throw new NotPlain()
        src += m[0] + ' '
        at += m[0].length
      }
      const v = literal(text, at, env)
      src += v.src
      at = v.end
      skip()
      if (text[at] === ',') { at++; skip(); if (!'}]'.includes(text[at])) src += ', ' } else if (!'}]'.includes(text[at])) throw new NotPlain()
    }
    return { src: src + text[at], end: at + 1 }
  }
  if ((m = /^[\w$]+(?![\w$.([])/.exec(rest)) && env[m[0]]) return { src: env[m[0]], end: at + m[0].length }
  throw new NotPlain()
}

function literals (text, at, env) {
  const out = []
  for (;;) {
    const rest = /^\s*\)/.exec(text.slice(at, at + 100))
    if (rest) return out
    const v = literal(text, at, env)
    out.push(v.src)
    const next = /^\s*([,)])/.exec(text.slice(v.end, v.end + 100))
    if (!next) throw new NotPlain()
    at = v.end + next[0].length - (next[1] === ')' ? 1 : 0)
  }
}

// environment are names of a test file that stand for literals.
function environment (text) {
  const env = {}, seen = new Set()
  for (const m of text.matchAll(/(?:const|let|var)\s+([\w$]+)\s*=\s*/g)) {
    if (seen.has(m[1])) { delete env[m[1]]; continue }
    seen.add(m[1])
    try {
      const v = literal(text, m.index + m[0].length, {})
      if (/^\s*(?:;|\n|$)/.test(text.slice(v.end)) || /^[ \t]*(?:;|\n)/.test(text.slice(v.end))) env[m[1]] = v.src
    } catch (e) { if (!(e instanceof NotPlain)) throw e }
  }
  return env
}

// imports are the names by which a test file knows a module, or what lies beside it.
function imports (t, m) {
  const out = []
  for (const text of [t.base, t.head]) {
    for (const i of text.matchAll(/(?:import\s+(?:\*\s+as\s+)?([\w$]+)[^;'"]*?from\s*|(?:const|let|var)\s+([\w$]+)\s*=\s*require\(\s*)['"]([^'"\n]+)['"]/g)) {
      const to = path.posix.join(path.posix.dirname(t.path), i[3])
      if (m.typed && (to.replace(/\.[cm]?[jt]sx?$/, '') === m.path.replace(/\.[cm]?tsx?$/, '') || to + '/index' === m.path.replace(/\.[cm]?tsx?$/, ''))) out.push(i[1] || i[2])
      else if (i[3].startsWith('.') && [to, to + '.js', to + '.mjs', to + '.cjs', to + '/index.js'].includes(m.path)) out.push(i[1] || i[2])
    }
  }
  return unique(out)
}

class Input {
  constructor (made, args, base, wild) { Object.assign(this, { made, args, base, wild }) }
  text (f) {
    const inner = '(' + this.args.join(', ') + ')'
    if (f.kind === 'getter') return this.made + '.' + f.plain
    return f.owner ? this.made + '.' + f.plain + inner : (f.kind === 'new' ? 'new ' : '') + f.name + inner
  }
}

// given are the inputs of both trees. One that only the base has, that throws in a test of the
// head, or stands there where it is not known which test calls, is no promise of the base any more.
function given (f) {
  const out = new Map(), kept = new Map(), awaited = new Set()
  const longer = (stated(f, 'head') || []).length > f.params.length && !f.params.some(p => p.rest)
  const own = t => f.module && f.expr === 'M' && !f.owner ? imports(t, f.module) : []
  for (const side of ['base', 'head']) {
    for (const t of f.tests) {
      const text = t[side], env = environment(text)
      const names = unique([f.plain, ...own(t)]).map(escaped).join('|')
      for (const m of text.matchAll(new RegExp(`(?<![\\w$])((?:[\\w$]+\\.)*)(${names})\\s*\\(`, 'g'))) {
        const before = text.slice(Math.max(0, m.index - 200), m.index)
        if (/function\s+$/.test(before) || /new\s+$/.test(before) !== (f.kind === 'new')) continue
        try {
          let made = ''
          if (f.owner) {
            made = receiver(f, text, m, env)
            if (!made) continue
          } else if (m[1] && !imported(text, m[1].split('.')[0]) || !m[1] && !imported(text, m[2])) continue
          const i = new Input(made, f.kind === 'getter' ? [] : literals(text, m.index + m[0].length, env), side === 'base', false)
          if (i.args.length > f.params.length && longer && f.kind !== 'getter') continue // the change's new parameters
          const key = i.text(f), around = enclosing(text, m.index), raises = /throw|reject|\btry\s*\{/i.test(around)
          // a name with a backslash, or with a place for what a row has, is not what the runner says
          const tests = [...around.matchAll(TEST)].map(t => t[2]).filter(name => !/[\\%$]/.test(name))
          if (raises) i.base = false
          if (side === 'head' && (raises || tests.length === 0)) awaited.add(key)
          else if (side === 'head') kept.set(key, unique([...kept.get(key) || [], ...tests]))
          if (!out.has(key) && out.size < GIVEN) out.set(key, i)
        } catch (e) { if (!(e instanceof NotPlain)) throw e }
      }
    }
  }
  for (const [key, i] of out) {
    i.base = i.base && kept.has(key) && !awaited.has(key)
    i.tests = kept.get(key)
  }
  return [...out.values()]
}

// enclosing is the line of a place, and those before it whose brackets are still open there.
function enclosing (text, at) {
  let out = '', deep = 0
  for (const line of text.slice(Math.max(0, at - 4000), at).split('\n').reverse()) {
    let open = false
    for (const c of [...line].reverse()) {
      if (')]}'.includes(c)) deep++
      if ('([{'.includes(c) && --deep < 0) { deep = 0; open = true }
    }
    if (!out || open) out += line + '\n'
    if (/(?<![\w$.])(?:test|it|describe)(?:\.\w+)*\s*\(/.test(line)) break
  }
  return out
}

const imported = (text, name) => new RegExp(`(?:import\\b[^;'"]*(?<![\\w$])${escaped(name)}(?![\\w$])[^;'"]*from|(?:const|let|var)\\s+(?:${escaped(name)}|\\{[^}]*(?<![\\w$])${escaped(name)}(?![\\w$])[^}]*\\})\\s*=\\s*(?:await\\s+import|require)\\()`).test(text)

// receiver is the expression of the object whose method a test calls.
function receiver (f, text, m, env) {
  const cls = escaped(f.owner.name.replace(/.*\./, ''))
  const name = m[1].slice(0, -1)
  const at = name && !name.includes('.') ? [...text.slice(0, m.index).matchAll(new RegExp(`(?<![\\w$])${escaped(name)}\\s*=\\s*new\\s+(?:[\\w$]+\\.)*${cls}\\s*\\(`, 'g'))].pop() : null
  if (!at) return ''
  return 'new ' + f.owner.name + '(' + literals(text, at.index + at[0].length, env).join(', ') + ')'
}

// --- inputs that are made

function words (m) {
  const out = { number: [], string: [] }
  for (const text of [m.head, m.base]) {
    for (const w of bare2(text).matchAll(/(?<![\w$.])\d+(?:\.\d+)?(?![\w$.])/g)) if (+w[0] <= 1e6) out.number.push(+w[0])
    for (const w of bare2(text).matchAll(/(?<!require\(\s*|from\s*)'([^'\\\n]{1,40})'|"([^"\\\n]{1,40})"/g)) if (!/^(use strict|node:.*|\.\.?\/.*)$/.test(w[1] || w[2])) out.string.push(w[1] || w[2])
  }
  return { number: unique(out.number).slice(0, 12), string: unique(out.string).slice(0, 12) }
}

function basic (kind, w) {
  const numbers = [0, 1, -1, 2, 3, ...w.number.flatMap(n => [n, n + 1, n - 1]), 0.5, -0.5, -2, 10, 100, 255, 1000, 1.5].map(String).concat('NaN', 'Infinity')
  const strings = ['', 'a', 'b', ...w.string, 'ab', 'é', 'A', ' ', '0', '1', '-1', 'a b', 'a,b', 'a/b', '\n', 'a=b', '1.5', '.', '日本', 'a\nb', '  a ', 'aa', '[]', '{}', ...w.string.flatMap(s => [s + 'a', 'a' + s, 'a' + s + 'b'])].map(s => JSON.stringify(s))
  return {
    number: numbers, string: strings, boolean: ['true', 'false'], array: ['[]', '["a"]', '[1]', '["b", "a"]', '[2, 1, 1]', '[[1]]', '[null]'],
    object: ['{}', '{a: 1}', '{b: 2, a: "x"}', '{a: {b: 1}}'], function: ['() => {}', 'x => x'], date: ['new Date(0)', 'new Date(1709249415500)'], regexp: ['/a/', '/a|b/g'],
    map: ['new Map()', 'new Map([["a", 1]])'], set: ['new Set()', 'new Set(["a"])'], buffer: ['Buffer.from("")', 'Buffer.from("a")'], bigint: ['0n', '1n', '-1n'],
    null: ['null'], undefined: ['undefined']
  }[kind]
}

// documented are the types of parameters in a comment before a function.
function documented (f) {
  if (f.module.typed) return annotated(f)
  for (const text of [f.module.head, f.module.base]) {
    for (const m of text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export\s+)?(?:default\s+)?(?:static\s+)?(?:async\s+)?(?:function\s*\*?\s*|const\s+|let\s+|var\s+|(?:module\.)?exports\.|\w+\.prototype\.)?([\w$]+)/g)) {
      if (m[2] === f.plain) return Object.fromEntries([...m[1].matchAll(/@param\s+\{([^}]*)\}\s+\[?([\w$]+)/g)].map(p => [p[2], p[1]]))
    }
  }
  return {}
}

function typed (type, w) {
  const out = []
  for (const part of type.replace(/[?!=]|\.\.\./g, '').split('|').map(s => s.trim().replace(/^\(|\)$|^readonly\s+/g, ''))) {
    if (/^(?:'[^']*'|"[^"]*"|-?\d+(?:\.\d+)?)$/.test(part)) { out.push([part]); continue }
    const kind = /\[\]$|^(?:Readonly)?Array/.test(part) ? 'array' : /^Record</.test(part) ? 'object' : part.toLowerCase().replace(/^readonly(?=map|set)|<.*$/g, '')
    if (/^(string|number)\[\]$|^Array\.?<(string|number)>$/.test(part)) out.push(part.includes('string') ? ['[]', '["a"]', '["b", "a"]', '["a", "a"]', '[""]'] : ['[]', '[1]', '[2, 1]', '[1, 1]', '[0, -1]'])
    else if (basic(kind, w)) out.push(basic(kind, w))
  }
  return out.flat()
}

const kindOf = v => v === null ? 'null' : Array.isArray(v) ? 'array' : v instanceof Date ? 'date' : v instanceof RegExp ? 'regexp' : v instanceof Map ? 'map' : v instanceof Set ? 'set' : typeof v
const valueOf = src => (0, eval)('(' + src + ')')

function around (src) {
  let v
  try { v = valueOf(src) } catch { return [] }
  switch (kindOf(v)) {
    case 'number': return [v + 1, v - 1, -v, 0].map(String)
    case 'string': return ['', v.slice(1), v.slice(0, -1), v + v, v.toUpperCase(), ' ' + v, v + '\n'].map(s => JSON.stringify(s))
    case 'boolean': return [String(!v)]
    case 'array': try { return [[], v.slice(1), v.slice(0, -1), v.slice().reverse(), v.concat(v.slice(0, 1))].map(written) } catch { return ['[]'] }
    case 'object': try { return ['{}', ...Object.keys(v).slice(0, 3).map(k => { const c = { ...v }; delete c[k]; return written(c) })] } catch { return ['{}'] }
  }
  return []
}

// written is the source of plain data.
function written (v, deep = 0) {
  if (deep > 6) throw new NotPlain()
  if (v === undefined || v === null || typeof v === 'boolean') return String(v)
  if (typeof v === 'number') return Object.is(v, -0) ? '-0' : String(v)
  if (typeof v === 'bigint') return v + 'n'
  if (typeof v === 'string') return v.includes("'") || /[^ -~\u00a1-\uffff]/.test(v) || v.includes('\\') ? JSON.stringify(v) : `'${v}'`
  if (Array.isArray(v) && Object.keys(v).length === v.length) return '[' + v.map(x => written(x, deep + 1)).join(', ') + ']'
  if (v && typeof v === 'object' && Object.getPrototypeOf(v) === Object.prototype && Object.getOwnPropertySymbols(v).length === 0) {
    return '{' + Object.keys(v).map(k => (/^[A-Za-z_$][\w$]*$/.test(k) ? k : JSON.stringify(k)) + ': ' + written(v[k], deep + 1)).join(', ') + '}'
  }
  throw new NotPlain()
}

function values (p, type, seen, w) {
  if (type) {
    const list = typed(type, w)
    if (list.length > 0) return { list: unique([...seen, ...list]).slice(0, 60), wild: false }
  }
  if (p.keys) return { list: unique([...seen, '{}', ...p.keys.flatMap(k => [`{${k}: 1}`, `{${k}: "a"}`, `{${k}: true}`])]).slice(0, 30), wild: true }
  const known = seen.slice()
  if (p.value !== undefined) {
    try {
      const v = literal(p.value + ' ', 0, {})
      if (v.end === p.value.length) known.push(v.src)
    } catch {}
  }
  const kinds = unique(known.map(s => { try { return kindOf(valueOf(s)) } catch { return 'null' } })).filter(k => k !== 'null' && k !== 'undefined').sort()
  const some = unique(known).slice(0, 20), near = some.flatMap(around)
  if (kinds.length > 0) {
    const plain = kinds.flatMap(k => basic(k, w) || []), list = []
    for (let n = 0; n < Math.max(some.length, plain.length, near.length); n++) list.push(some[n], plain[n], near[n])
    return { list: unique(list.filter(v => v !== undefined)).slice(0, 120), wild: false }
  }
  return { list: unique([...some, '0', '1', '""', '"a"', '[]', 'null', '{}', 'true', '1.5', '[1, 2]', '"a b"', '-1', '["a", "b"]', '{a: 1}', 'undefined', '"1"', ...w.string.map(s => JSON.stringify(s)), ...w.number.map(String)]), wild: true }
}

// tuples are places in lists, those of the smallest sum first.
function * tuples (sizes) {
  const most = Math.min(400, sizes.reduce((n, s) => n + s - 1, 0))
  function * splits (i, total) {
    if (i === sizes.length) { if (total === 0) yield []; return }
    for (let n = 0; n <= Math.min(sizes[i] - 1, total); n++) for (const rest of splits(i + 1, total - n)) yield [n, ...rest]
  }
  for (let total = 0; total <= most; total++) yield * splits(0, total)
}

// receivers are expressions for objects of the class of a method.
function receivers (f, have, w) {
  const out = have.map(i => i.made)
  const lists = shared({ ...f.owner, module: f.module, kind: 'new' }).filter(p => p.value === undefined && !p.rest).map(p => values(p, '', [], w).list)
  let n = 0
  for (const at of tuples(lists.map(l => l.length))) {
    if (n++ === 6) break
    out.push('new ' + f.owner.name + '(' + at.map((i, k) => lists[k][i]).join(', ') + ')')
  }
  return unique(out)
}

function inputs (f) {
  const have = given(f), out = new Map(have.map(i => [i.text(f), i])), w = words(f.module)
  const types = documented(f)
  let wild = false
  const lists = []
  if (f.kind !== 'getter') {
    f.params.forEach((p, n) => {
      const v = values(p, types[p.name], unique(have.filter(i => n < i.args.length).map(i => i.args[n])), w)
      wild = wild || v.wild
      lists.push(p.value !== undefined || p.rest ? [null, ...v.list] : v.list)
    })
  }
  const on = f.owner ? receivers(f, have, w) : ['']
  for (const i of have.slice(0, 12)) {
    i.args.slice(0, 4).forEach((a, n) => {
      for (const near of around(a).slice(0, 5)) {
        const other = new Input(i.made, [...i.args.slice(0, n), near, ...i.args.slice(n + 1)], false, false)
        if (out.size < MOST * 2 / 3 && !out.has(other.text(f))) out.set(other.text(f), other)
      }
    })
  }
  for (const at of tuples([on.length, ...lists.map(l => l.length)])) {
    if (out.size >= MOST) break
    const args = []
    for (let n = 0; n < lists.length; n++) {
      const v = lists[n][at[n + 1]]
      if (v === null) break
      args.push(v)
    }
    const i = new Input(on[at[0]], args, false, wild || !!f.owner)
    if (!out.has(i.text(f))) out.set(i.text(f), i)
  }
  return [...out.values()]
}

// --- calling

// NEW are the fields that objects of classes have with the change alone.
const NEW = new Set()

// fields are the names that a module gives to fields of objects.
function fields (text) {
  return [...bare(text).matchAll(/(?<![\w$])this\.([\w$]+)\s*=(?![=>])|^\s*(?:readonly\s+)?([\w$]+)\s*=(?![=>])/gm)].map(m => m[1] || m[2])
}

// without shows objects of classes as they are without their new fields.
function without (v, seen = new Set()) {
  if (!v || typeof v !== 'object' || seen.has(v) || seen.size > 500) return []
  seen.add(v)
  const proto = Object.getPrototypeOf(v), hidden = []
  for (const [k, d] of Object.entries(Object.getOwnPropertyDescriptors(v))) {
    if (!('value' in d) || !d.enumerable) continue
    if (NEW.has(k) && d.configurable && proto && proto !== Object.prototype && !Array.isArray(v)) {
      Object.defineProperty(v, k, { enumerable: false })
      hidden.push(() => Object.defineProperty(v, k, { enumerable: true }))
    } else hidden.push(...without(d.value, seen))
  }
  return hidden
}

function form (v) {
  const hidden = NEW.size > 0 ? without(v) : []
  try { return shown(v) } finally { hidden.forEach(show => show()) }
}

function shown (v) {
  let text = util.inspect(v, { depth: 6, sorted: true, breakLength: Infinity, compact: 10, maxArrayLength: WIDE, maxStringLength: 4000, getters: false })
  if (text.includes('\n    at ')) text = text.replace(/\n\s+at [^\n]*/g, '')
  return text.slice(0, LONG)
}

const ENGINE = /^Cannot (?:read|set|destructure|convert|delete|access|assign|mix|create|define)|is not (?:a function|iterable|defined|a constructor|an object|a valid)|^Maximum call stack|^Invalid (?:array length|count value|string length)|^Assignment to constant|^Class constructor|^Reduce of empty|^object null is not/

// isFault says whether the engine threw an error, and no statement.
function isFault (e) {
  if (!(e instanceof TypeError || e instanceof RangeError || e instanceof ReferenceError) || e.code || !ENGINE.test(e.message)) return false
  if (/^Maximum call stack/.test(e.message)) return true
  const at = /\n\s+at [^\n]*?(?:\(|at )((?:file:\/\/)?\/[^\n()]*):(\d+):(\d+)\)?/.exec(e.stack || '')
  if (!at) return false
  try {
    const file = at[1].startsWith('file:') ? fileURLToPath(at[1]) : at[1]
    const line = (compiled.get(file) || fs.readFileSync(file, 'utf8')).split('\n')[at[2] - 1]
    return !/\bthrow\b/.test(line) && !/^new\s+\w*Error/.test(line.slice(at[3] - 1))
  } catch { return false }
}

async function call (f, i) {
  const made = src => (0, eval)(`(function (${f.owner ? f.owner.name.replace(/\W/g, '_') : 'M'}) { return (${f.owner ? src.replace('new ' + f.owner.name, 'new ' + f.owner.name.replace(/\W/g, '_')) : src}) })`)(f.owner && f.owner.f)
  let on, args
  try {
    on = f.owner ? made(i.made) : undefined
    args = i.args.map(a => valueOf(a))
  } catch { return null }
  const before = form(args), was = f.owner ? form(on) : ''
  let printed = ''
  const write = process.stdout.write
  process.stdout.write = s => { printed += s; return true }
  let kind = 'r', fault = false, text, soft, result, waited = false, many = false
  try {
    result = f.kind === 'getter' ? on[f.plain] : f.owner ? on[f.plain](...args) : f.kind === 'new' ? Reflect.construct(f.f, args) : f.f.apply(f.this, args)
    if (result && typeof result.then === 'function') { waited = true; result = await result }
    if (result && typeof result.next === 'function' && typeof result[Symbol.iterator] === 'function') {
      const items = []
      for (const x of result) if (items.push(x) === WIDE) break
      result = items
      many = true
    }
    text = soft = (many ? 'iterator of ' : '') + form(result)
  } catch (e) {
    fault = isFault(e)
    kind = fault ? 'p' : 'e'
    if (i.wild && fault) return null
    const name = e instanceof Error ? e.name : form(e)
    soft = (waited ? 'rejects with ' : 'throws ') + name
    text = soft + (e instanceof Error && e.message ? ': ' + e.message : '')
  } finally { process.stdout.write = write }
  let more = ''
  if (form(args) !== before) more += ', and leaves its arguments as ' + form(args).replace(/^\[ ?| ?\]$/g, '')
  if (f.owner && form(on) !== was) more += ', and leaves ' + form(on)
  if (printed) more += ', and prints ' + JSON.stringify(printed)
  return { kind, fault, soft: soft + more, text: text + more, check: held(f, i, { kind, result, waited, many, text, name: soft.replace(/^\w+( with)? /, '') }) }
}

// held is a test that holds what a call did.
function held (f, i, r) {
  const modern = isModern(f.module), async = modern || r.waited
  const lines = ['// in a file beside package.json', `test('${f.name} behaves the same', ${async ? 'async ' : ''}() => {`, `  const M = ${modern ? `await import('./${f.module.path}')` : `require('./${f.module.path}')`}`]
  let expr = f.owner ? i.text(f).replace('new ' + f.owner.name, 'new ' + f.owner.expr) : (f.kind === 'new' ? 'new ' : '') + f.expr + i.text(f).slice(f.name.length + (f.kind === 'new' ? 4 : 0))
  if (r.kind !== 'r') {
    if (r.waited) lines.push(`  await assert.rejects(${expr}, { name: ${JSON.stringify(r.name)} })`)
    else lines.push(`  assert.throws(() => ${expr}, { name: ${JSON.stringify(r.name)} })`)
    return [...lines, '})']
  }
  if (r.waited) expr = 'await ' + expr
  if (r.many) expr = '[...' + expr + ']'
  try {
    lines.push(`  assert.deepStrictEqual(${expr}, ${written(r.result)})`)
  } catch {
    const text = util.inspect(r.result), module = modern ? "(await import('node:util'))" : "require('node:util')"
    lines.push(text.length > 2000 ? `  ${expr}` : `  assert.strictEqual(${module}.inspect(${expr}), ${JSON.stringify(text)})`)
  }
  return [...lines, '})']
}

// turn is a process that makes calls from a place on, and writes what came of each.
// placed is a text without what differs between the sides by its place alone.
function placed (text, empty) {
  const real = p => { try { return fs.realpathSync(p) } catch { return p } }
  const places = [[ROOT, '$TREE'], [empty, '$EMPTY'], [os.homedir(), '$HOME'], [os.tmpdir(), '$TMPDIR']]
  for (const [p, word] of places.flatMap(([p, word]) => [[p, word], [real(p), word]]).sort((a, b) => b[0].length - a[0].length)) {
    if (p.length > 1) text = text.split(p).join(word)
  }
  return text
}

async function turn (data) {
  const [, , , what, empty] = process.argv, from = JSON.parse(what)
  process.argv.length = 2 // they are no arguments of what is loaded
  process.on('uncaughtException', () => {})
  process.on('unhandledRejection', () => {})
  const all = await plan(data), todo = chosen(all)
  const say = o => fs.writeSync(3, JSON.stringify(o) + '\n')
  if (from.about) say({ about: todo.map(f => ({ key: f.key, at: f.at, list: inputs(f).map(i => [i.text(f), i.base && i.tests]), about: about(f, data) })), unloaded, left: all.length - todo.length })
  for (const f of todo) {
    const wanted = from.calls.find(c => c[0] === f.at)
    if (!wanted) continue
    const list = inputs(f)
    let until = Date.now() + TIME
    for (const n of wanted[1] || list.keys()) {
      if (!list[n] || from.done[f.at] > n && !wanted[1]) continue
      say({ begin: [f.at, n] })
      process.chdir(list[n].base ? ROOT : empty)
      const began = process.hrtime.bigint()
      let got = { c: '-' }
      if (wanted[1] || Date.now() < until) {
        try {
          const r = await call(f, list[n])
          if (r) {
            const text = placed(r.text, empty)
            got = { c: r.kind, soft: digest(placed(r.soft, empty)), strong: digest(text), text: text.slice(0, 600), check: r.check.some(c => placed(c, empty) !== c) ? [] : r.check, fault: r.fault }
          }
        } catch (e) { got = { c: 'e', soft: 'unread', strong: 'unread', text: 'unreadable', check: [], fault: false } }
      }
      say({ at: f.at, n, src: list[n].text(f), ...got, micros: Number((process.hrtime.bigint() - began) / 1000n) })
    }
  }
  process.exit(0)
}

const chosen = list => list.slice(0, FUNCTIONS)

// helpers are the texts of what a piece of a file mentions that the file defines, each up to a
// line that is indented no more.
function helpers (text, body) {
  const out = [], seen = new Set()
  const all = [...text.matchAll(/^([ \t]*)(?:export\s+)?(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s+([\w$]+)[^\n]*(?:\n(?:\1[ \t)\]}][^\n]*|[ \t]*(?=\n)))*/gm)].slice(0, 500)
  for (let todo = [body]; todo.length;) {
    const piece = todo.pop()
    for (const [found, , name] of all) {
      if (!seen.has(name) && mentions(piece, name)) { seen.add(name); out.push(found); todo.push(found) }
    }
  }
  return out
}

function about (f, data) {
  const tested = [], touched = []
  let awaited = false
  const reach = [f.plain]
  for (const t of f.tests) {
    const parts = [...t.head.matchAll(TEST)]
    const known = unique([...reach, ...(f.expr === 'M' && !f.owner ? imports(t, f.module) : [])])
    parts.forEach((p, n) => {
      const body = t.head.slice(p.index, n + 1 < parts.length ? parts[n + 1].index : t.head.length)
      if (!known.some(k => mentions(body, k))) return
      tested.push(p[2])
      const same = text => t.base.includes(text.trim())
      const whole = [body, ...helpers(t.head, body)]
      awaited = awaited || !whole.every(same) && whole.some(text => /throw|reject|\bcatch\b/i.test(text))
      if (!same(body)) touched.push(p[2])
    })
  }
  const side = f.module.head.includes(f.text) ? f.module.head : f.module.base
  let line = side.slice(0, Math.max(0, side.indexOf(f.text))).split('\n').length
  if (f.module.typed) {
    const d = defined(f, f.module.source.head)
    line = d ? f.module.source.head.slice(0, d.at).split('\n').length : 1
  }
  return { At: f.at, Name: f.name, Path: f.module.path, Line: line, Method: !!f.owner, Tested: tested, Touched: touched, Awaited: awaited, Sign: f.params.map(p => (p.rest ? '...' : '') + (p.name ? 'x' : p.keys ? '{' + p.keys + '}' : p.text) + (p.value === undefined ? '' : '=')).join(', ') }
}

// pass makes all calls, or some, in processes that are started again where one ends. No function
// is begun after most milliseconds.
async function pass (which, limit, folder, most) {
  const end = Date.now() + most, late = new Set()
  const results = new Map() // by function and input
  let about = null, unloaded = [], left = 0
  const calls = which || null
  const state = { about: true, calls: calls ? [calls[0]] : [], done: {} }
  const run = from => new Promise(resolve => {
    const empty = fs.mkdtempSync(path.join(folder, 'e'))
    const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), 'turn', JSON.stringify(from), empty], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit', 'pipe'], detached: true })
    let current = null, rest = '', timer
    const kill = () => { try { process.kill(-child.pid, 'SIGKILL') } catch {} }
    let hung = false
    const later = ms => { clearTimeout(timer); timer = setTimeout(() => { hung = true; kill() }, ms) }
    later(30000)
    child.stdio[3].on('data', part => {
      rest += part
      let nl
      while ((nl = rest.indexOf('\n')) >= 0) {
        const o = JSON.parse(rest.slice(0, nl))
        rest = rest.slice(nl + 1)
        if (o.about && !about) ({ about, unloaded, left } = o)
        if (o.begin) current = o.begin
        if (o.c) { results.set(o.at + ':' + o.n, o); current = null }
        later(current ? limit : 30000)
      }
    })
    child.on('close', code => { clearTimeout(timer); kill(); resolve({ code, hung, current }) })
  })
  const failed = (end, from) => {
    if (!end.current) return false
    const [at, n] = end.current
    const h = end.hung || end.code === 13 // the event loop ran empty before a promise was settled
    const src = ((about || []).find(a => a.at === at) || { list: [] }).list[n]
    results.set(at + ':' + n, { c: h ? 'h' : 'x', at, n, src: src && src[0], soft: h ? 'h     ' : 'x     ', strong: h ? 'h     ' : 'x     ', text: h ? 'does not return' : 'ends the process', check: [], fault: h, micros: 0 })
    from.done[at] = n + 1
    return h ? 'h' : 'x'
  }
  if (calls) {
    for (const c of calls) failed(await run({ about: !about, calls: [[c[0], [c[1]]]], done: {} }), { done: {} })
    return { about, results }
  }
  await run(state) // what there is
  for (const a of about || []) {
    if (Date.now() > end) {
      late.add(a.at)
      continue
    }
    const from = { about: false, calls: [[a.at, null]], done: {} }
    const ends = { h: 0, x: 0 }
    for (;;) {
      const how = failed(await run(from), from)
      if (!how || ++ends[how] === (how === 'h' ? HANGS : ENDS) || Date.now() > end) break
    }
  }
  return { about, results, unloaded, left, late }
}

async function main (data) {
  if (process.argv[2] === 'turn') return turn(data)
  let which = null, limit = LIMIT, most = Infinity
  const all = /^(?:(\d+)m)?(\d+)s$/.exec(process.env.CALLS_TIME || '')
  if (all) most = ((all[1] || 0) * 60 + +all[2]) * 1000
  delete process.env.CALLS_TIME
  const m = /^(?:(\d+)m)?([\d.]+)s;(.*)$/.exec(process.env.CALLS || '')
  if (m) {
    limit = ((m[1] || 0) * 60 + +m[2]) * 1000
    which = m[3].split(',').filter(Boolean).map(c => c.split(':').map(Number))
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'calls'))
  const first = pass(which, limit, folder, most)
  if (which) { // it may be slow to begin, and a clock of whole seconds has to move on
    await first
    await new Promise(resolve => setTimeout(resolve, 1100))
  }
  const [one, two] = await Promise.all([first, pass(which, limit, folder, most)])
  fs.rmSync(folder, { recursive: true, force: true })
  const merged = (a, b) => {
    if (!a || !b || a.c === '-' || b.c === '-') return '-'
    if (a.c !== b.c || a.strong !== b.strong) return a.c === 'h' || b.c === 'h' ? '-' : '~'
    return a.c
  }
  const say = o => console.log('calls: ' + JSON.stringify(o))
  if (!which && one.about) say({ Name: '', About: { At: -1, Left: one.left } })
  for (const m of which ? [] : one.unloaded) say({ Name: m.path, Why: m.why, About: { At: parseInt(digest(m.path), 16), Name: m.path, Path: m.path } })
  for (const a of one.about || []) {
    if (which) {
      for (const [at, n] of which) {
        const x = one.results.get(at + ':' + n), y = two.results.get(at + ':' + n)
        if (at !== a.at || !x || x.c === '-') continue
        say({ Name: a.key, Index: n, Src: x.src, Stable: merged(x, y) === x.c, Detail: { Class: x.c, Text: x.text, Raised: x.c === 'e' || x.c === 'p', Fault: x.fault, Micros: x.micros, Check: x.check } })
      }
      continue
    }
    if (one.late.has(a.at) || two.late.has(a.at)) {
      say({ Name: a.key, Late: true, About: a.about })
      continue
    }
    let text = ''
    a.list.forEach(([src], n) => {
      const x = one.results.get(a.at + ':' + n), y = two.results.get(a.at + ':' + n)
      text += merged(x, y) + digest(src) + ((x && x.soft) || '').padEnd(6) + ((x && x.strong) || '').padEnd(6)
    })
    say({ Name: a.key, Makeable: a.list.length > 0, Calls: text, Given: a.list.flatMap(([, tests], n) => tests ? [n] : []), Stands: Object.fromEntries(a.list.flatMap(([, tests], n) => tests ? [[n, tests]] : [])), About: a.about })
  }
}

