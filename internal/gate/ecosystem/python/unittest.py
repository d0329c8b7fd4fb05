import contextlib, io, json, os, re, sys, time, traceback, unittest
out = open(os.environ.pop("RESULTS"), "w")
top = os.getcwd()
class Result(unittest.TextTestResult):
    def startTest(self, test):
        super().startTest(test)
        self.began, self.told = time.monotonic(), False
    def tell(self, test, status, text=""):
        self.told = True
        mod = sys.modules.get(type(test).__module__)
        file = getattr(mod, "__file__", None) or ""
        name = test.id()
        if not file.startswith(top + os.sep): # its class is of a library, as of examples in documents
            file = getattr(test, "_loaded_from", file)
            if isinstance(test, getattr(sys.modules.get("doctest"), "DocFileCase", ())):
                file, name = os.path.abspath(test._dt_test.filename), test._dt_test.name
        loader = type(test).__name__ in ("_FailedTest", "ModuleImportFailure", "LoadTestsFailure")
        if loader:
            parts = getattr(test, "_testMethodName", name).split(".")
            while len(parts) > 1 and not os.path.exists("/".join(parts) + ".py") and os.path.exists("/".join(parts[:-1]) + ".py"):
                parts.pop()
            name, file = "", "/".join(parts) + ".py"
            if not os.path.exists(file) and start:
                file = os.path.join(start, file)
        elif name.startswith(type(test).__module__ + "."):
            name = name[len(type(test).__module__) + 1:]
        if not loader and not hasattr(test, "_testMethodName") and hasattr(test, "description"):
            name, file = "", name
        began = getattr(self, "began", time.monotonic())
        json.dump({"file": file, "name": name, "status": status, "text": text, "s": time.monotonic() - began}, out)
        out.write("\n"); out.flush()
    def spread(self, test, status, text):
        """What is said of a class or module is so of its tests: of the last one where it tears down."""
        of = re.match(r"(setUp|tearDown)(?:Class|Module) \((.+)\)$", test.id())
        within = [] if not of else [t for t in self.tests if of.group(2) in (type(t).__module__, type(t).__module__ + "." + type(t).__qualname__)]
        for t in within[-1:] if of and of.group(1) == "tearDown" else within:
            self.tell(t, status, text)
        return bool(within)
    def addSuccess(self, test):
        super().addSuccess(test); self.tell(test, "pass")
    def addFailure(self, test, err):
        super().addFailure(test, err); self.tell(test, "fail", self.failures[-1][1])
    def addError(self, test, err):
        super().addError(test, err)
        if not self.spread(test, "fail", self.errors[-1][1]):
            self.tell(test, "fail", self.errors[-1][1])
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if not self.spread(test, "skip", ""):
            self.tell(test, "skip")
    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err); self.tell(test, "pass")
    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test); self.tell(test, "fail", "it was expected to fail and passes")
    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.tell(test, "fail", (self.failures + self.errors)[-1][1])
def unloaded(name, text):
    def fails(self):
        raise ImportError(text)
    return type("_FailedTest", (unittest.TestCase,), {name: fails})(name)
def leaves(tests):
    for t in tests:
        if isinstance(t, unittest.TestSuite):
            yield from leaves(t)
        else:
            yield t
start = "" # where discovery begins
for i, a in enumerate(sys.argv):
    if a in ("-s", "--start-directory"):
        start = sys.argv[i + 1]
    elif a.startswith("--start-directory="):
        start = a.split("=", 1)[1]
    elif i == 2 and sys.argv[1] == "discover" and a[0] != "-":
        start = a
only = None # the files to which discovery is narrowed
if "--" in sys.argv:
    at = sys.argv.index("--")
    only = set(os.path.abspath(f) for f in sys.argv[at + 1:])
    del sys.argv[at:]
class Loader(unittest.TestLoader):
    def _match_path(self, path, full_path, pattern):
        return super()._match_path(path, full_path, pattern) and (only is None or os.path.abspath(full_path) in only)
    def loadTestsFromName(self, name, module=None):
        try:
            if module is None and os.path.exists(name.replace(".", "/") + ".py"):
                __import__(name) # of what it lacks unittest says the last part of the name alone
            return super().loadTestsFromName(name, module)
        except KeyboardInterrupt:
            raise
        except BaseException: # as discovery has it, which goes on with the other files
            return self.suiteClass([unloaded(name, "Failed to import test module: " + name + "\n" + traceback.format_exc())])
    def loadTestsFromModule(self, module, *args, **kwargs):
        tests = super().loadTestsFromModule(module, *args, **kwargs)
        each = [tests]
        for t in each:
            if isinstance(t, unittest.TestSuite):
                each.extend(t)
            elif getattr(module, "__file__", None) and not hasattr(t, "_loaded_from"):
                with contextlib.suppress(Exception):
                    t._loaded_from = module.__file__
        return tests
class Runner(unittest.TextTestRunner):
    resultclass = Result
    def run(self, test):
        Result.tests = list(leaves(test))
        result = super().run(test)
        json.dump({"end": True}, out)
        out.write("\n"); out.flush()
        return result
sys.path.insert(0, "")
if sys.argv[1:2] == ["manage.py"]: # of Django, whose runner takes these
    import runpy
    from django.test.runner import DiscoverRunner
    DiscoverRunner.test_runner, DiscoverRunner.test_loader = Runner, Loader()
    DiscoverRunner.get_resultclass = lambda self: Result
    sys.argv = sys.argv[1:]
    sys.path[0] = top
    runpy.run_path("manage.py", run_name="__main__")
else:
    unittest.main(module=None, argv=["python -m unittest"] + sys.argv[1:], testRunner=Runner, testLoader=Loader())
