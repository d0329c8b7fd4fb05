# Calls functions of a project with the same inputs on both sides of a change, and prints
# what can be seen of the results. This file is laid into the tree of either side, with the
# texts of both sides at its end, so that both make the same inputs. It needs nothing but
# the standard library of Python 3.8.
import ast, asyncio, base64, contextlib, dis, doctest, functools, hashlib, importlib, inspect, io, itertools, json, math, os, re
import select, shutil, signal, subprocess, sys, tempfile, time, types

MOST, GIVEN, FUNCTIONS = 200, 60, 20  # inputs of a function, of these that stand in the tree, functions
DEEP, WIDE, LONG = 6, 60, 16000       # of what is printed of a value
BUSY = max(1.0, min(10.0, os.getloadavg()[0] / (os.cpu_count() or 1)))  # a call takes longer by that
LIMIT, TIME, HANGS, ENDS = 1.0 * BUSY, 3.0 * BUSY, 4, 20
FAULTS = (TypeError, LookupError, AttributeError, ZeroDivisionError, RecursionError, NameError)
ROOT = EMPTY = os.getcwd()
NEW = set()  # attributes that objects have with the change alone


# --- what changed

class Fn:
    """A function of a module: by itself, or of a class."""
    def __init__(self, path, node, owner=None, kind="function"):
        self.path, self.node, self.owner, self.kind = path, node, owner, kind
        self.name = owner + "." + node.name if owner else node.name
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        self.body = "".join(ast.dump(n) for n in body)
        self.head = ast.dump(node.args) + type(node).__name__ + "".join(ast.dump(d) for d in node.decorator_list)
        self.names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}

    def parameters(self):
        a = self.node.args
        plain = getattr(a, "posonlyargs", []) + a.args
        defaults = [None] * (len(plain) - len(a.defaults)) + list(a.defaults)
        out = [(p, d, False) for p, d in zip(plain, defaults)]
        if self.kind in ("method", "class", "init", "property"):
            out = out[1:]
        return out + [(p, d, True) for p, d in zip(a.kwonlyargs, a.kw_defaults)]

    def answers(self, old):
        """Says whether what may be called as an older function may be called as this one."""
        if type(self.node) is not type(old.node) or self.kind != old.kind:
            return False
        a, b = old.node.args, self.node.args
        if a.vararg and not b.vararg or a.kwarg and not b.kwarg:
            return False
        was, now = old.parameters(), self.parameters()
        plain = [p.arg for p, _, keyword in was if not keyword]
        if [p.arg for p, _, keyword in now if not keyword][:len(plain)] != plain:
            return False
        needed = {p.arg for p, d, _ in was if d is None}
        names = {p.arg for p, _, _ in now}
        return all(p.arg in names for p, _, _ in was) and all(d is not None or p.arg in needed for p, d, _ in now)

    def takes(self, i):
        """Says whether a call has no argument that a function has no parameter for."""
        plain = sum(not keyword for _, _, keyword in self.parameters())
        names = {p.arg for p, _, _ in self.parameters()}
        a = self.node.args
        return (a.vararg or len(i.args) <= plain) and (a.kwarg or all(k in names for k, _ in i.named))


def kind_of(node):
    named = [d.id for d in node.decorator_list if isinstance(d, ast.Name)]
    if node.name == "__init__":
        return "init"
    for deco, kind in (("staticmethod", "static"), ("classmethod", "class"), ("property", "property"), ("cached_property", "property")):
        if deco in named:
            return kind
    return "method"


class Module:
    def __init__(self, path, text):
        self.path, self.functions, self.classes, self.values = path, {}, {}, {}
        try:
            self.tree = ast.parse(text)
        except (SyntaxError, ValueError):
            self.tree = ast.parse("")
        for n in self.tree.body:
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions[n.name] = Fn(path, n)
            elif isinstance(n, ast.ClassDef):
                self.classes[n.name] = n
                for m in n.body:
                    if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef)) and not any(isinstance(d, ast.Attribute) for d in m.decorator_list):
                        f = Fn(path, m, n.name, kind_of(m))
                        self.functions[f.name] = f
            elif isinstance(n, (ast.Assign, ast.AnnAssign)) and n.value is not None:
                for t in n.targets if isinstance(n, ast.Assign) else [n.target]:
                    if isinstance(t, ast.Name):
                        self.values[t.id] = ast.dump(n.value)


class Test:
    """A function of a test file, with what it uses of that file."""
    def __init__(self, node, owner, names, units):
        self.node, self.owner, self.imported = node, owner, names
        self.text = ast.dump(node)
        self.mentions = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        self.mentions |= {names[n] for n in self.mentions if names.get(n)}
        used, seen = [node], set()
        for n in used:
            for name in sorted(named(n) - seen):
                seen.add(name)
                used += units.get(name, [])
        self.whole = [dumped(n) for n in used]
        self.reached = seen | {names[n] for n in seen if names.get(n)}
        self.raises = any(re.search("[rR]aise[sd]|^suppress$", n) for n in seen) or any(tries(u) for u in used)


dumped = functools.lru_cache(None)(ast.dump)


@functools.lru_cache(None)
def named(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


@functools.lru_cache(None)
def tries(node):
    return any(isinstance(n, ast.Try) and n.handlers for n in ast.walk(node))


def tests_of(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    names = {}  # by what they are called here
    for n in ast.walk(tree):
        if isinstance(n, ast.ImportFrom):
            names.update({a.asname or a.name: a.name for a in n.names})
        elif isinstance(n, ast.Import):
            names.update({(a.asname or a.name).split(".")[0]: None for a in n.names})
    parts = [(owner, m) for n in tree.body for owner, m in [(None, n)] + [(n.name, m) for m in getattr(n, "body", []) if isinstance(n, ast.ClassDef)]]
    units = {}  # helpers and tables
    for _, m in parts:
        if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef)):
            units.setdefault(m.name, []).append(m)
        for t in m.targets if isinstance(m, ast.Assign) else [m.target] if isinstance(m, ast.AnnAssign) else []:
            if isinstance(t, ast.Name):
                units.setdefault(t.id, []).append(m)
    return [Test(m, owner, names, units) for owner, m in parts if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef))]


def changed(data):
    """The functions to call, and those that cannot be called as before."""
    todo, resigned = [], []
    for m in data["modules"]:
        was, now = Module(m["path"], m["base"]), Module(m["path"], m["head"])
        NEW.update(attributes(now.tree) - attributes(was.tree))
        other = {n for n in now.values if n in was.values and was.values[n] != now.values[n]}
        for name, f in now.functions.items():
            old = was.functions.get(name)
            if old is None or f.node.name == "main" or f.body == old.body and f.head == old.head and not f.names & other:
                continue
            if not f.answers(old):
                resigned.append(name)
                continue
            f.was, f.modules = old, (was, now)
            todo.append(f)
    left = max(0, len(todo) - FUNCTIONS)
    todo = todo[:FUNCTIONS]
    base = [t for f in data["tests"] for t in tests_of(f["base"])]
    head = [t for f in data["tests"] for t in tests_of(f["head"])]
    for f in todo:
        f.tests = [(t, side) for side, tests in ((True, base), (False, head)) for t in tests if mentions(t, f)]
        reach = callers(f)
        olds = {(t.owner, t.node.name): t for t in base}
        f.tested, f.touched, f.awaited = [], [], False
        for t in head:
            if t.mentions & reach and t.node.name.startswith("test"):
                f.tested.append(t.node.name)
                if (t.owner, t.node.name) not in olds or olds[t.owner, t.node.name].text != t.text:
                    f.touched.append(t.node.name)
            if t.raises and t.reached & reach and ((t.owner, t.node.name) not in olds or olds[t.owner, t.node.name].whole != t.whole):
                f.awaited = True
    return todo, resigned, left


def attributes(tree):
    """The names of attributes, those of classes with their fields."""
    return {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)} | \
        {m.target.id for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for m in n.body if isinstance(m, ast.AnnAssign) and isinstance(m.target, ast.Name)}


def callers(f):
    out = {f.owner if f.kind == "init" else f.node.name}
    grown = True
    while grown and len(out) < 200:
        new = {g.node.name for g in f.modules[1].functions.values() if g.names & out} - out
        out, grown = out | new, bool(new)
    return out


def mentions(test, f):
    return (f.owner if f.kind == "init" else f.node.name) in test.mentions


# --- inputs that stand in the tree

class NotPlain(Exception):
    pass


def value(node, env=None):
    """The value of a literal, with names that stand for literals."""
    if isinstance(node, ast.Constant):
        if node.value is Ellipsis:
            raise NotPlain
        return node.value
    if isinstance(node, ast.Name) and env and node.id in env:
        return env[node.id]
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        make = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
        try:
            return make([value(n, env) for n in node.elts])
        except TypeError:
            raise NotPlain
    if isinstance(node, ast.Dict) and None not in node.keys:
        try:
            return {value(k, env): value(v, env) for k, v in zip(node.keys, node.values)}
        except TypeError:
            raise NotPlain
    if isinstance(node, (ast.UnaryOp, ast.BinOp)):
        sides = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        v = [value(n, env) for n in sides]
        try:
            if isinstance(node.op, ast.USub):
                return -v[0]
            if isinstance(node.op, ast.Add) and len(v) == 2:
                return v[0] + v[1]
            if isinstance(node.op, ast.Mult) and all(isinstance(n, (int, str, list, tuple)) for n in v) and all(n < 5000 for n in v if isinstance(n, int)):
                return v[0] * v[1]
        except TypeError:
            pass
    raise NotPlain


def source(v):
    """A value as it is written; NotPlain where it cannot be."""
    if isinstance(v, float) and (v != v or v in (float("inf"), float("-inf"))):
        return "float(%r)" % str(v)
    if type(v) is set:
        text = "{" + ", ".join(sorted(map(source, v))) + "}" if v else "set()"
    else:
        text = repr(v)
    if len(text) > 2000:
        raise NotPlain
    return text


def environments(test):
    """What names of a test can stand for: assignments, loops over literals, parametrize."""
    env, envs = {}, []
    seen = set()
    for n in ast.walk(test.node):
        if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name):
            name = n.targets[0].id
            try:
                if name not in seen:
                    env[name] = value(n.value, env)
            except NotPlain:
                env.pop(name, None)
            if name in seen:
                env.pop(name, None)
            seen.add(name)
    for n in ast.walk(test.node):
        if isinstance(n, ast.For):
            targets, rows = n.target, n.iter
            names = [targets] if isinstance(targets, ast.Name) else getattr(targets, "elts", [])
            names = [t.id if isinstance(t, ast.Name) else None for t in names]
            single = isinstance(targets, ast.Name)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "parametrize" and len(n.args) > 1:
            try:
                names = value(n.args[0])
            except NotPlain:
                continue
            if isinstance(names, str):
                names = [s.strip() for s in names.split(",") if s.strip()]
            rows, single = n.args[1], len(names) == 1
        else:
            continue
        if isinstance(rows, ast.Name) and rows.id in env:
            values = env[rows.id]
            values = list(values.items()) if isinstance(values, dict) else values
            rows = [ast.Constant(r) if single else ast.Tuple([ast.Constant(x) for x in r], ast.Load()) for r in values if single or isinstance(r, (list, tuple))] if isinstance(values, (list, tuple)) else []
        else:
            rows = getattr(rows, "elts", [])
        for row in rows[:40]:
            if isinstance(row, ast.Call) and isinstance(row.func, ast.Attribute) and row.func.attr == "param":
                row = row.args[0] if single and row.args else ast.Tuple(row.args, ast.Load())
            cells = [row] if single else getattr(row, "elts", [])
            one = dict(env)
            for name, cell in zip(names, cells):
                try:
                    one[name] = value(cell, env)
                except NotPlain:
                    one.pop(name, None)
            envs.append(one)
    return envs[:80] or [env]


def arguments(call, env):
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise NotPlain
    return [source(value(a, env)) for a in call.args], [(k.arg, source(value(k.value, env))) for k in call.keywords]


class Input:
    def __init__(self, made, args, named, base=False, wild=False):
        self.made, self.args, self.named, self.base, self.wild, self.tests = made, args, named, base, wild, []

    def inner(self):
        return "(" + ", ".join(self.args + ["%s=%s" % k for k in self.named]) + ")"

    def text(self, f):
        if f.kind == "init":
            return f.owner + self.inner()
        if f.kind == "property":
            return self.made + "." + f.node.name
        return (self.made + "." + f.node.name if f.owner else f.node.name) + self.inner()


def of_class(call, owner, test):
    """Says whether a call makes an object of a class."""
    if not isinstance(call, ast.Call):
        return False
    f = call.func
    return isinstance(f, ast.Name) and (test is None and f.id == owner or test is not None and test.imported.get(f.id) == owner) or \
        isinstance(f, ast.Attribute) and f.attr == owner


def raising(node):
    """What stands where an exception is expected."""
    if isinstance(node, (ast.With, ast.AsyncWith)) and any("aises" in ast.dump(i.context_expr) or "suppress" in ast.dump(i.context_expr) for i in node.items):
        return node.body
    if isinstance(node, ast.Try) and node.handlers:
        return node.body
    return node.args if isinstance(node, ast.Call) and "aises" in ast.dump(node.func) else []


def given_in(f, node, test, env, base):
    """The inputs that code has for a function."""
    made = {}
    for n in ast.walk(node):
        if isinstance(n, ast.Assign) and len(n.targets) == 1 and isinstance(n.targets[0], ast.Name) and f.owner and of_class(n.value, f.owner, test):
            try:
                args, named = arguments(n.value, env)
                made[n.targets[0].id] = f.owner + Input("", args, named).inner()
            except NotPlain:
                made.pop(n.targets[0].id, None)
    raised = {id(c) for w in ast.walk(node) for s in raising(w) for c in ast.walk(s)}
    for n in ast.walk(node):
        if not isinstance(n, ast.Call):
            continue
        receiver = ""
        if f.kind == "init":
            if not of_class(n, f.owner, test):
                continue
        elif f.owner:
            if not isinstance(n.func, ast.Attribute) or n.func.attr != f.node.name:
                continue
            on = n.func.value
            if f.kind in ("static", "class"):
                if ast.dump(on).find("'%s'" % f.owner) < 0:
                    continue
                receiver = f.owner
            elif isinstance(on, ast.Name) and on.id in made:
                receiver = made[on.id]
            elif of_class(on, f.owner, test):
                try:
                    receiver = f.owner + Input("", *arguments(on, env)).inner()
                except NotPlain:
                    continue
            else:
                continue
        elif isinstance(n.func, ast.Name):
            if (test.imported.get(n.func.id) if test else n.func.id) != f.node.name:
                continue
        elif isinstance(n.func, ast.Attribute) and n.func.attr == f.node.name:
            root = n.func.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name) or test is None or root.id not in test.imported:
                continue
        else:
            continue
        try:
            args, named = arguments(n, env)
        except NotPlain:
            continue
        yield Input(receiver, args, named, base), id(n) in raised


def given(f):
    """The inputs of both trees. One that only the base has, that raises in a test of the head,
    or stands there where it is not known which test calls, is no promise of the base any more."""
    out, awaited, kept = {}, set(), {}
    def add(found, test):
        for i, raised in found:
            if not f.was.takes(i):
                continue  # the change's new parameters
            key = i.text(f)
            if not i.base and (raised or not test):
                awaited.add(key)
            elif not i.base:
                kept.setdefault(key, []).append(test)
            if key not in out and len(out) < GIVEN:
                out[key] = i
    for side, of in ((True, f.was), (False, f)):
        doc = ast.get_docstring(of.node) or ""
        if ">>>" in doc:
            with contextlib.suppress(ValueError, SyntaxError):
                add(given_in(f, ast.Module([n for e in doctest.DocTestParser().get_examples(doc) for n in ast.parse(e.source).body], []), None, {}, side), f.node.name)
    for t, base in f.tests:
        for env in environments(t):
            add(given_in(f, t.node, t, env, base), t.node.name if t.node.name.startswith("test") else "")
    for key, i in out.items():
        i.base, i.tests = i.base and key in kept and key not in awaited, unique(kept.get(key, []))
    return list(out.values())


# --- inputs that are made

def literals(f):
    out = {int: [], float: [], str: [], bytes: []}
    for node in (f.node, f.was.node):
        for part in node.body + [d for d in node.args.defaults + node.args.kw_defaults if d]:
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                continue
            for n in ast.walk(part):
                if isinstance(n, ast.Constant) and type(n.value) in out and len(str(n.value)) < 100 and len(out[type(n.value)]) < 12:
                    if n.value not in out[type(n.value)]:
                        out[type(n.value)].append(n.value)
    return out


def unique(list_):
    seen, out = set(), []
    for s in list_:
        if s not in seen:
            seen.add(s)
            out.append(s)
    return out


class Maker:
    def __init__(self, f, have):
        self.f, self.words, self.have = f, literals(f), have

    def ints(self):
        return [0, 1, -1, 2, 3] + [m for n in self.words[int] if abs(n) <= 10 ** 6 for m in (n, n + 1, n - 1)] + [-2, 5, 7, 10, 100, 255, 1000]

    def strings(self):
        w = self.words[str]
        return ["", "a", "b"] + w + ["ab", "é", "A", " ", "0", "1", "-1", "a b", "a,b", "a/b", "\n", "a=b", "1.5", ".", "日本", "a\nb", "  a ", "aa", "[]", "{}", "\x00"] + \
            [x for s in w if s for x in (s + "a", "a" + s, "a" + s + "b", s + s)]

    def basic(self, name):
        floats = [0.0, 1.0, -1.0, 0.5, 2.5] + self.words[float] + [1.5, -0.5, 1e-9, 1e15, float("inf"), float("nan")]
        plain = {
            "int": self.ints(), "float": floats + self.ints(), "str": self.strings(), "bool": [True, False], "bytes": [b"", b"a", b"ab\n", b"\xff"] + self.words[bytes],
            "complex": [0j, 1j], "None": [None], "object": [0, "", "a", None, [], 1.5],
        }
        plain["Any"] = plain["object"]
        return [source(v) for v in plain[name]] if name in plain else None

    def annotated(self, a, deep=0):
        """Values of an annotation in the order of their size; None: it cannot be made."""
        if isinstance(a, ast.Constant) and isinstance(a.value, str):
            try:
                a = ast.parse(a.value, mode="eval").body
            except SyntaxError:
                return None
        if isinstance(a, ast.Constant) and a.value is None:
            return ["None"]
        if isinstance(a, ast.Index):
            a = a.value
        if isinstance(a, ast.BinOp) and isinstance(a.op, ast.BitOr):
            return self.either([a.left, a.right], deep)
        name = a.id if isinstance(a, ast.Name) else a.attr if isinstance(a, ast.Attribute) else ""
        inner = []
        if isinstance(a, ast.Subscript):
            name = a.value.id if isinstance(a.value, ast.Name) else getattr(a.value, "attr", "")
            part = a.slice.value if type(a.slice).__name__ == "Index" else a.slice
            inner = part.elts if isinstance(part, ast.Tuple) else [part]
        if name == "Optional":
            return self.either([ast.Constant(None)] + inner, deep)
        if name == "Union":
            return self.either(inner, deep)
        if name == "Literal":
            return [source(n.value) for n in inner if isinstance(n, ast.Constant)]
        if deep > 2:
            return None
        item = lambda i: self.annotated(inner[i], deep + 1) if i < len(inner) else [source(v) for v in (1, "a", 2, "b", 0)]
        if name in ("list", "List", "Sequence", "Iterable", "Collection", "MutableSequence", "tuple", "Tuple", "set", "Set", "frozenset", "FrozenSet", "Iterator"):
            return self.lists(name.lower(), inner, item)
        if name in ("dict", "Dict", "Mapping", "MutableMapping"):
            keys, values = item(0) or [], item(1) or []
            return ["{}"] + ["{%s: %s}" % (k, v) for k, v in itertools.islice(zip(keys[1:], values), 12)] + \
                ["{%s: %s, %s: %s}" % (keys[i + 1], values[i], keys[i], values[i]) for i in range(min(len(keys) - 1, len(values), 4))]
        if name == "Callable":
            return ["(lambda *a: None)", "(lambda *a: a[0] if a else None)"]
        return self.basic(name) or self.objects(name, deep + 1)

    def either(self, nodes, deep):
        lists = [v for v in (self.annotated(n, deep) for n in nodes) if v]
        return unique(v for row in itertools.zip_longest(*lists) for v in row if v is not None) or None

    def lists(self, name, inner, item):
        if name == "tuple" and inner and not (isinstance(inner[-1], ast.Constant) and inner[-1].value is Ellipsis):
            cells = [item(i) for i in range(len(inner))]
            if not all(cells):
                return None
            return ["(" + ", ".join(c[n % len(c)] for c in cells) + ",)" for n in range(max(map(len, cells)))][:20]
        cells = item(0)
        if not cells:
            return None
        rows = [[], cells[:1], cells[1:2], cells[1:3], cells[2:0:-1], cells[:3], cells[1:2] * 2, cells[3:6], cells[:8], cells[8:12], cells[1:2] * 5] + [[c] for c in cells[2:14]]
        make = {"tuple": "tuple([%s])", "set": "set([%s])", "frozenset": "frozenset([%s])", "iterator": "iter([%s])"}.get(name, "[%s]")
        return unique(make % ", ".join(r) for r in rows)

    def objects(self, name, deep=0):
        """Expressions for objects of a class of the module."""
        was, now = self.f.modules
        c = was.classes.get(name)
        if c is None or name not in now.classes or deep > 2:
            return None
        out = []
        for t, base in self.f.tests:
            for env in environments(t)[:3]:
                for n in ast.walk(t.node):
                    if of_class(n, name, t):
                        with contextlib.suppress(NotPlain):
                            out.append(name + Input("", *arguments(n, env)).inner())
        bases = [b.id if isinstance(b, ast.Name) else getattr(b, "attr", "") for b in c.bases]
        if any("Enum" in b or b.endswith("Flag") for b in bases):
            return [name + "." + n.targets[0].id for n in c.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)][:8]
        init = was.functions.get(name + ".__init__")
        for b in bases:
            init = init or was.functions.get(b + ".__init__")
        if init:
            lists = [self.parameter(p, d, []) for p, d, _ in init.parameters() if d is None]
            keywords = [p.arg for p, d, k in init.parameters() if k and d is None]
        else:
            fields = [n for n in c.body if isinstance(n, ast.AnnAssign) and n.value is None] if "dataclass" in ast.dump(ast.Module(c.decorator_list, [])) or "NamedTuple" in bases else []
            lists, keywords = [(self.annotated(n.annotation, deep), False) for n in fields], []
        if all(v for v, _ in lists):
            lists = [v for v, _ in lists]
            for at in itertools.islice(tuples(lists), 6):
                cells = [row[i] for row, i in zip(lists, at)]
                n = len(cells) - len(keywords)
                out.append(name + "(" + ", ".join(cells[:n] + ["%s=%s" % k for k in zip(keywords, cells[n:])]) + ")")
        return unique(out)[:10] or None

    def parameter(self, p, default, seen):
        """Values for a parameter, and whether they are guessed."""
        if p.annotation is not None:
            return self.annotated(p.annotation), False
        seen = list(seen)
        if default is not None:
            with contextlib.suppress(NotPlain):
                seen.append(source(value(default)))
        out, near, kinds = [], [], set()
        for s in unique(seen)[:20]:
            with contextlib.suppress(ValueError, SyntaxError):
                v = ast.literal_eval(s)
                out.append(s)
                kinds.add(type(v).__name__)
                near += around(v)
                if isinstance(v, str) and len(out) < 4:
                    near += [source(v + w) for w in self.words[str]]
        kinds.discard("NoneType")
        if not kinds:
            wild = [0, 1, "", "a", [], None, {}, True, 1.5, [1, 2], "a b", -1, ["a", "b"], {"a": 1}, (), b"a"]
            return unique(out + [source(v) for v in wild] + [source(v) for w in ("str", "int") for v in self.words[str if w == "str" else int]]), True
        plain = [v for k in sorted(kinds) for v in (self.basic(k) or [])[:80]]
        return unique(v for row in itertools.zip_longest(out, plain, near) for v in row if v is not None), False


def around(v):
    """Values near one that stands in the tree."""
    out = []
    if isinstance(v, bool):
        out = [not v]
    elif isinstance(v, int):
        out = [v + 1, v - 1, -v, 0]
    elif isinstance(v, float):
        out = [-v, v + 0.5, 0.0]
    elif isinstance(v, (str, bytes)):
        out = [v[:0], v[1:], v[:-1], v + v]
        if isinstance(v, str):
            out += [v.upper(), " " + v, v + "\n"]
    elif isinstance(v, (list, tuple)):
        out = [v[:0], v[1:], v[:-1], v[::-1], v + v[:1]]
    elif isinstance(v, dict):
        out = [{}] + [{k: x for k, x in v.items() if k != gone} for gone in list(v)[:3]]
    elif isinstance(v, set):
        out = [set()]
    res = []
    for x in out:
        with contextlib.suppress(NotPlain):
            res.append(source(x))
    return res


def tuples(lists):
    """Places in lists, those of the smallest sum first."""
    most = sum(len(v) - 1 for v in lists)
    for total in range(min(most, 400) + 1):
        yield from splits([len(v) for v in lists], total)


def splits(sizes, total):
    if not sizes:
        if total == 0:
            yield ()
        return
    for i in range(min(sizes[0] - 1, total) + 1):
        for rest in splits(sizes[1:], total - i):
            yield (i,) + rest


def inputs(f):
    """All inputs of a function, the same ones on both sides; none: they cannot be made."""
    have = given(f)
    m = Maker(f, have)
    out = {i.text(f): i for i in have}
    receivers = [""]
    if f.kind in ("method", "property"):
        receivers = unique([i.made for i in have] + (m.objects(f.owner) or []))
    elif f.owner and f.kind != "init":
        receivers = [f.owner]
    hints = {p.arg: p.annotation for p, _, _ in f.parameters()}
    params, vararg = f.was.parameters(), f.was.node.args.vararg
    lists, wild = [], False
    for n, (p, d, keyword) in enumerate(params):
        seen = [i.args[n] for i in have if not keyword and n < len(i.args)] + [v for i in have for k, v in i.named if k == p.arg]
        values, guessed = m.parameter(ast.arg(p.arg, p.annotation or hints[p.arg]), d, seen)
        if not values:
            if d is None:
                return list(out.values())
            values, guessed = [None], False
        elif d is not None:
            values = [None] + values  # left out
        lists.append(values[:120])
        wild = wild or guessed
    if vararg and f.kind != "property":
        lists.append([None] + (m.parameter(vararg, None, [a for i in have for a in i.args[len(params):]])[0] or [])[:20])
        params = params + [(vararg, None, False)]
    if not receivers:
        return list(out.values())
    # one argument of a given input at a time
    for i in have[:12]:
        for n, a in enumerate(i.args[:4]):
            with contextlib.suppress(ValueError, SyntaxError):
                for near in around(ast.literal_eval(a))[:5]:
                    new = Input(i.made, i.args[:n] + [near] + i.args[n + 1:], i.named)
                    if len(out) < MOST * 2 // 3:
                        out.setdefault(new.text(f), new)
    for at in tuples([receivers] + lists):
        if len(out) >= MOST:
            break
        args, named, skipped = [], [], False
        for (p, d, keyword), row, i in zip(params, lists, at[1:]):
            v = row[i]
            if v is None:
                skipped = True
            elif keyword or skipped and p is not vararg:
                named.append((p.arg, v))
            elif not skipped:
                args.append(v)
        new = Input(receivers[at[0]], args, named, wild=wild)
        out.setdefault(new.text(f), new)
    return list(out.values())


# --- calling

ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+|\b0x[0-9a-f]{8,}\b")


ORDERED = True  # dicts have the order in which they were made


def softly(make):
    """What a text is where the order of dicts is not a part of it."""
    global ORDERED
    ORDERED = False
    try:
        return make()
    finally:
        ORDERED = True


def form(v, deep=0, seen=()):
    """A value as text that is the same for the same value."""
    t = type(v)
    if t in (int, float, complex, bool, str, bytes, type(None), bytearray, range, slice):
        try:
            return repr(v)
        except ValueError:
            return "a large int " + hex(v)[:40]
    if id(v) in seen or deep > DEEP:
        return "…"
    seen += (id(v),)
    many = lambda it: [form(x, deep + 1, seen) for x in itertools.islice(it, WIDE)] + (["…%d" % len(v)] if hasattr(v, "__len__") and len(v) > WIDE else [])
    if t is list:
        return "[" + ", ".join(many(v)) + "]"
    if t is tuple:
        return "(" + ", ".join(many(v)) + ("," if len(v) == 1 else "") + ")"
    if isinstance(v, (set, frozenset)):
        return (t.__name__ if t is not set else "") + ("{" + ", ".join(sorted(form(x, deep + 1, seen) for x in v)[:WIDE]) + "}" if v else "set()")
    if isinstance(v, dict):
        items = [form(k, deep + 1, seen) + ": " + form(x, deep + 1, seen) for k, x in itertools.islice(v.items(), WIDE)]
        text = "{" + ", ".join(items if ORDERED else sorted(items)) + "}"
        return text if t is dict else t.__name__ + "(" + text + ")"
    if isinstance(v, BaseException):
        return t.__name__ + "(" + ", ".join(many(v.args)) + ")"
    if isinstance(v, type):
        return v.__name__
    if isinstance(v, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType)):
        return getattr(v, "__qualname__", None) or v.__name__
    if isinstance(v, io.IOBase):
        return t.__name__ + "(" + (form(v.getvalue()) if hasattr(v, "getvalue") and not v.closed else "") + ")"
    module = getattr(t, "__module__", "")
    own = module.split(".")[0] not in STANDARD
    if not own and t.__repr__ is not object.__repr__:
        return ADDRESS.sub("at 0x…", repr(v))[:LONG]
    parts = {}
    with contextlib.suppress(Exception):
        parts.update(vars(v))
    for c in t.__mro__:
        slots = c.__dict__.get("__slots__", ())
        for s in [slots] if isinstance(slots, str) else slots:
            with contextlib.suppress(AttributeError):
                if s not in ("__dict__", "__weakref__"):
                    parts[s] = getattr(v, s)
    content = ""
    if isinstance(v, (list, tuple)):
        content = form(list(v), deep + 1, seen) + ", "
    elif isinstance(v, (str, int, float, bytes)):
        content = t.__mro__[1].__name__ + ", " if not isinstance(v, str) else repr(str.__str__(v)) + ", "
    if not parts and not content:
        with contextlib.suppress(Exception):
            return ADDRESS.sub("at 0x…", repr(v))[:LONG]
    return t.__name__ + "(" + content + ", ".join("%s=%s" % (k, form(x, deep + 1, seen)) for k, x in list(parts.items())[:WIDE] if not own or k not in NEW) + ")"


STANDARD = getattr(sys, "stdlib_module_names", None) or {"builtins", "collections", "datetime", "decimal", "fractions", "pathlib", "re", "uuid", "enum", "functools", "itertools", "io", "ipaddress", "types", "typing", "array"}


def came_of(v):
    """What a call returned, where that has to be run first."""
    if inspect.iscoroutine(v):
        v = asyncio.run(v)
    if isinstance(v, types.GeneratorType) or type(v).__name__.endswith("_iterator") or type(v) in (map, filter, zip, enumerate, reversed):
        items = list(itertools.islice(v, WIDE))
        return Items(type(v).__name__, items)
    return v


class Items:
    """What an iterator gave."""
    def __init__(self, kind, items):
        self.kind, self.items = kind, items


def purposely(e):
    """Says whether a statement raised an exception, in whatever file."""
    t = e.__traceback__
    while t.tb_next is not None:
        t = t.tb_next
    code = t.tb_frame.f_code.co_code
    return t.tb_lasti >= 0 and code[t.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def call(f, i, module):
    """One call: class, soft, strong, text, statements that hold it, fault."""
    ns = dict(vars(module))
    try:
        on = eval(i.made, ns) if i.made else module
        args = [eval(a, ns) for a in i.args]
        named = {k: eval(v, ns) for k, v in i.named}
    except BaseException:
        return None
    before = form([args, named])
    out, err = io.StringIO(), io.StringIO()
    kind, fault, result, text, soft = "r", False, None, "", ""
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            if f.kind == "property":
                result = came_of(getattr(on, f.node.name))
            elif f.kind == "init":
                result = came_of(getattr(module, f.owner)(*args, **named))
            else:
                result = came_of(getattr(on, f.node.name)(*args, **named))
    except BaseException as e:
        fault = isinstance(e, FAULTS) and not purposely(e)
        kind = "p" if fault else "e"
        if i.wild and fault and isinstance(e, (TypeError, AttributeError)):
            return None
        said = ADDRESS.sub("at 0x…", str(e))
        text, soft = "raises " + type(e).__name__ + (": " + said if said else ""), "raises " + type(e).__name__
    after = form([args, named])
    def whole(text):
        if kind == "r":
            text = "%s of %s" % (result.kind, form(result.items)) if isinstance(result, Items) else form(result)
        if after != before:
            text += ", and leaves its arguments as " + form(args + list(named.values()))[1:-1]
        if f.kind == "method" and kind == "r":
            text += ", and leaves " + form(on) if f.owner and mutates(f) else ""
        if out.getvalue():
            text += ", and prints " + repr(out.getvalue())
        return text
    return kind, softly(lambda: whole(soft)), whole(text), statements(f, i, kind, result, text), fault


def mutates(f):
    return any(isinstance(n, (ast.Attribute, ast.Subscript)) and isinstance(n.ctx, (ast.Store, ast.Del)) for g in (f, f.was) for n in ast.walk(g.node))


def statements(f, i, kind, result, text):
    """A test that holds what a call did."""
    name = f.owner or f.node.name
    module, _ = place(f.path)
    plain = re.sub(r"\W+", "_", (f.owner + "_" if f.owner else "") + f.node.name.strip("_")).lower()
    wants = sorted({name} | {c for c in f.modules[1].classes if re.search(r"\b%s\b" % c, i.text(f))})
    lines = ["def test_%s_as_before():" % plain, "    from %s import %s" % (module, ", ".join(wants))]
    expr = i.text(f)
    if isinstance(f.node, ast.AsyncFunctionDef):
        lines.append("    import asyncio")
        expr = "asyncio.run(%s)" % expr
    if kind == "r":
        if isinstance(result, Items):
            expr, result = "list(%s)" % expr, result.items
        try:
            if ast.literal_eval(repr(result)) == result and len(repr(result)) < 2000:
                return lines + asserts(expr, result)
        except Exception:
            pass
        with contextlib.suppress(Exception):
            if not ADDRESS.search(repr(result)) and len(repr(result)) < 2000:
                lines.append("    assert repr(%s) == %r" % (expr, repr(result)))
                return lines
        return lines + ["    " + expr]
    kind = re.match(r"raises (\w+)", text).group(1)
    lines += ["    try:", "        " + expr, "    except %s:" % kind if hasattr(__builtins__, kind) else "    except Exception as e:"]
    lines += ["        return"] if hasattr(__builtins__, kind) else ["        assert type(e).__name__ == %r" % kind, "        return"]
    return lines + ["    raise AssertionError(\"it raises nothing\")"]


def asserts(expr, v):
    """Statements that hold a plain value, and nothing that only equals it: 2 is 2.0 and True."""
    if v is None or isinstance(v, bool):
        return ["    assert %s is %r" % (expr, v)]
    if type(v) in (int, float, complex, str, bytes) and not (isinstance(v, float) and v == 0):
        return ["    got = " + expr, "    assert type(got) is %s and got == %r" % (type(v).__name__, v)]
    kinds = {type(n.value) for n in ast.walk(ast.parse(repr(v))) if isinstance(n, ast.Constant)}
    sets = any(isinstance(n, (ast.Set, ast.Call)) for n in ast.walk(ast.parse(repr(v))))  # which have no order
    if kinds & {int, float, complex, bool} and not sets:
        return ["    assert repr(%s) == %r" % (expr, repr(v))]
    return ["    assert %s == %r" % (expr, v)]


def place(path):
    """The name of a module, and the folder that it is imported from."""
    parts = path[:-3].split("/")
    top = len(parts) - 1
    while top > 0 and os.path.exists(os.path.join(ROOT, *parts[:top], "__init__.py")):
        top -= 1
    if top == len(parts) - 1 and top > 0:  # no package around it: from the folders that tests have
        for first in (["src"], []):
            if parts[:len(first)] == first and len(parts) > len(first) + 1 and all(p.isidentifier() for p in parts[len(first):]):
                top = len(first)
                break
    names = parts[top:]
    if names[-1] == "__init__" and len(names) > 1:
        names = names[:-1]
    return ".".join(names), os.path.join(ROOT, *parts[:top])


def load(path):
    name, folder = place(path)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = importlib.import_module(name)
    if os.path.realpath(module.__file__) != os.path.realpath(os.path.join(ROOT, path)):
        raise ImportError("%s is %s" % (name, module.__file__))
    return module


def placed(text):
    """A text without what differs between the sides by its place alone."""
    places = {ROOT: "$TREE", EMPTY: "$EMPTY", os.path.expanduser("~"): "$HOME", tempfile.gettempdir(): "$TMPDIR"}
    for p, word in sorted([q for p, word in places.items() for q in ((p, word), (os.path.realpath(p), word))], key=lambda q: -len(q[0])):
        if len(p) > 1:
            text = text.replace(p, word)
    return text


def one(f, i, module):
    began = time.perf_counter()
    os.chdir(ROOT if i.base else EMPTY)
    try:
        got = call(f, i, module)
    except BaseException as e:  # of what is printed
        got = ("e", "unreadable", "unreadable: " + type(e).__name__, [], False)
    if got is None:
        return {"c": "-"}
    kind, soft, strong, check, fault = got
    soft, strong = placed(soft), placed(strong)
    if any(placed(c) != c for c in check):
        check = []  # it would hold for this place alone
    return {"c": kind, "soft": digest(soft), "strong": digest(strong), "text": strong[:600], "check": check, "fault": fault, "micros": int((time.perf_counter() - began) * 1e6)}


def digest(text):
    return hashlib.sha1(text[:LONG].encode("utf-8", "backslashreplace")).hexdigest()[:6]


def several(f, list_, module, limit, alone=False, end=math.inf):
    """The calls of a function in processes of their own, so that one that ends ends no other."""
    results, at, hangs, ends = [], 0, 0, 0
    until = time.monotonic() + (1e9 if alone else TIME)
    while at < len(list_):
        before = at
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(r)
            with contextlib.suppress(Exception):
                import resource
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            null = os.open(os.devnull, os.O_RDWR)
            for n in (0, 1, 2):
                os.dup2(null, n)
            for i in list_[at:at + 1] if alone else list_[at:]:
                os.write(w, (json.dumps(one(f, i, module)) + "\n").encode())
            os._exit(0)
        os.close(w)
        buffer, ended = b"", ""
        while not ended:
            ready, _, _ = select.select([r], [], [], limit)
            if not ready:
                ended = "h"
                break
            part = os.read(r, 1 << 16)
            if not part:
                ended = "x"
            buffer += part
            while b"\n" in buffer:
                line, buffer = buffer.split(b"\n", 1)
                results.append(json.loads(line))
                at += 1
            if time.monotonic() > until:
                ended = "-"
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(r)
        if at >= len(list_):
            break
        if ended == "-" or hangs == HANGS or ends == ENDS or time.monotonic() > end:
            results += [{"c": "-"}] * (len(list_) - at)
            break
        if alone and at > before:
            continue  # it made its one call
        hangs, ends = hangs + (ended == "h"), ends + (ended == "x")
        results.append({"c": ended, "text": "does not return" if ended == "h" else "ends the process", "soft": ended, "strong": ended, "check": [], "fault": ended == "h", "micros": 0})
        at += 1
    return results


def turn(data, out, which, limit, most):
    """One process with all calls, or some of them. No function is begun after most seconds."""
    end = time.monotonic() + most
    todo, _, _ = changed(data)
    modules = {}
    with open(out, "w") as file:
        for n, f in enumerate(todo):
            if which is not None and not any(a == n for a, _ in which):
                continue
            if time.monotonic() > end:
                file.write(json.dumps({"at": n, "late": True, "indices": [], "results": []}) + "\n")
                continue
            if f.path not in modules:
                try:
                    modules[f.path] = load(f.path)
                except BaseException as e:
                    modules[f.path] = (placed("%s: %s" % (type(e).__name__, e)).splitlines() or [""])[0][:160]
                    print("%s cannot be imported: %s" % (f.path, modules[f.path]), file=sys.stderr)
            if isinstance(modules[f.path], str):
                file.write(json.dumps({"at": n, "why": modules[f.path], "indices": [], "results": []}) + "\n")
                continue
            list_ = inputs(f)
            wanted = range(len(list_)) if which is None else [b for a, b in which if a == n and b < len(list_)]
            results = several(f, [list_[i] for i in wanted], modules[f.path], limit, which is not None, end)
            file.write(json.dumps({"at": n, "indices": list(wanted), "results": results}) + "\n")
            file.flush()


def merged(one_, two):
    c = one_["c"]
    if "-" in (c, two["c"]):
        return "-"
    if c != two["c"] or one_["strong"] != two["strong"]:
        return "-" if "h" in (c, two["c"]) else "~"
    return c


def main(data):
    calls, given = os.environ.pop("CALLS", ""), os.environ.pop("CALLS_TIME", "")
    which, limit, most = None, LIMIT, math.inf
    m = re.match(r"(?:(\d+)m)?(\d+)s$", given)
    if m:
        most = int(m.group(1) or 0) * 60 + int(m.group(2))
    if calls:
        m = re.match(r"(?:(\d+)m)?([\d.]+)s;(.*)", calls)
        limit = int(m.group(1) or 0) * 60 + float(m.group(2))
        which = [tuple(map(int, c.split(":"))) for c in m.group(3).split(",") if c]
    if len(sys.argv) > 1:
        global EMPTY
        folder, n = sys.argv[1:]
        del sys.argv[1:]  # they are no arguments of what is loaded
        EMPTY = os.path.join(folder, "empty" + n)
        os.mkdir(EMPTY)
        return turn(data, os.path.join(folder, n), which, limit, most)
    folder = tempfile.mkdtemp()
    running = []
    for n in ("1", "2"):
        if calls and running:
            running[0].wait()  # it may have been slow to begin
            time.sleep(1.1)  # a clock of whole seconds has moved on
        env = dict(os.environ, PYTHONHASHSEED=n, PYTHONDONTWRITEBYTECODE="1")
        if calls:
            env["CALLS"] = calls
        if given:
            env["CALLS_TIME"] = given
        running.append(subprocess.Popen([sys.executable, os.path.abspath(__file__), folder, n], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=None if n == "1" else subprocess.DEVNULL))
    for p in running:
        p.wait()
    turns = []
    for n in ("1", "2"):
        with contextlib.suppress(OSError), open(os.path.join(folder, n)) as file:
            turns.append({t["at"]: t for t in map(json.loads, file)})
    shutil.rmtree(folder, ignore_errors=True)
    todo, resigned, left = changed(data)
    say = lambda a: print("calls: " + json.dumps(a), flush=True)
    if which is None:
        say({"Name": "", "About": {"At": -1, "Resigned": resigned, "Left": left}})
    for n, f in enumerate(todo):
        if len(turns) < 2 or any(n not in t for t in turns):
            continue
        list_, first, second = inputs(f), turns[0][n], turns[1][n]
        pairs = list(zip(first["indices"], first["results"], second["results"]))
        if which is None:
            text = "".join(merged(a, b) + digest(list_[i].text(f)) + (a.get("soft", "") + " " * 6)[:6] + (a.get("strong", "") + " " * 6)[:6] for i, a, b in pairs)
            say({"Name": f.path + " " + f.name, "Makeable": bool(list_), "Late": bool(first.get("late") or second.get("late")), "Why": first.get("why") or second.get("why") or "", "Calls": text, "Given": [i for i, x in enumerate(list_) if x.base], "Stands": {i: x.tests for i, x in enumerate(list_) if x.base},
                 "About": {"At": n, "Name": f.name, "Path": f.path, "Line": f.node.lineno, "Method": bool(f.owner), "Tested": f.tested, "Touched": f.touched, "Awaited": f.awaited}})
            continue
        for i, a, b in pairs:
            if a["c"] == "-":
                continue
            say({"Name": f.path + " " + f.name, "Index": i, "Src": list_[i].text(f), "Stable": merged(a, b) == a["c"], "Detail": {
                "Class": a["c"], "Text": a["text"], "Raised": a["text"].startswith("raises ") and a["c"] in "ep", "Fault": a["fault"], "Micros": a["micros"], "Check": a["check"]}})


