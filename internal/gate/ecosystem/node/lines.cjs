// What V8 counted, or the counters that a runner laid into the sources, of the files that are
// named: a line each. It is given the folder of counts and the names, and ends with how many
// sources of the project it found counted and how many files of counts it could not read.
const fs = require("fs"), path = require("path"), url = require("url")
const [dir, ...names] = process.argv.slice(1)
const own = file => !file.startsWith("..") && !path.isAbsolute(file) && !file.split(path.sep).includes("node_modules")
const sources = new Set()
let lost = 0
const say = (name, functions, able) => console.log(JSON.stringify({ v8: name, functions, able }))
// placed turns the lines and columns of counters into places in the text.
const placed = (name, file) => {
  const lines = fs.readFileSync(name, "utf8").split("\n"), starts = [0], able = new Set()
  for (const l of lines) starts.push(starts[starts.length - 1] + l.length + 1)
  const range = (at, count) => {
    const last = Math.min(at.end.line, lines.length), end = at.end.column ?? lines[last - 1].length
    for (let n = at.start.line; n <= last; n++) able.add(n)
    return { startOffset: starts[at.start.line - 1] + at.start.column, endOffset: starts[last - 1] + Math.min(end, lines[last - 1].length), count }
  }
  const whole = { startOffset: 0, endOffset: starts[lines.length] - 1, count: Object.values(file.s).some(n => n) ? 1 : 0 }
  const statements = Object.entries(file.statementMap).map(([id, at]) => range(at, file.s[id])).filter(r => !r.count)
  const functions = Object.entries(file.fnMap).map(([id, f]) => [range({ start: (f.decl || f.loc).start, end: f.loc.end }, file.f[id])])
  say(name, [[whole, ...statements], ...functions], [...able])
}
for (const each of fs.readdirSync(dir)) if (each.endsWith(".json")) try {
  const doc = JSON.parse(fs.readFileSync(path.join(dir, each)))
  if (!doc.result) lost += names.filter(n => !doc[path.resolve(n)]).length // the runner's settings leave them out
  for (const [key, file] of Object.entries(doc.result ? {} : doc)) {
    const name = path.relative(process.cwd(), key)
    if (own(name)) sources.add(name)
    if (names.includes(name)) placed(name, file)
  }
  for (const s of doc.result || []) {
    if (!s.url.startsWith("file:")) continue
    const name = path.relative(process.cwd(), url.fileURLToPath(s.url))
    if (own(name)) sources.add(name)
    if (names.includes(name)) say(name, s.functions.map(f => f.ranges))
  }
} catch { lost++ }
console.log(JSON.stringify({ v8: "", sources: sources.size, lost }))
