import contextlib, io, json, os, sys, time, unittest
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
            name, file = "", getattr(test, "_testMethodName", name).replace(".", "/") + ".py"
            if not os.path.exists(file) and "-s" in sys.argv:
                file = os.path.join(sys.argv[sys.argv.index("-s") + 1], file)
        elif name.startswith(type(test).__module__ + "."):
            name = name[len(type(test).__module__) + 1:]
        if not loader and not hasattr(test, "_testMethodName") and hasattr(test, "description"):
            name, file = "", name
        began = getattr(self, "began", time.monotonic())
        json.dump({"file": file, "name": name, "status": status, "text": text, "s": time.monotonic() - began}, out)
        out.write("\n"); out.flush()
    def addSuccess(self, test):
        super().addSuccess(test); self.tell(test, "pass")
    def addFailure(self, test, err):
        super().addFailure(test, err); self.tell(test, "fail", self.failures[-1][1])
    def addError(self, test, err):
        super().addError(test, err); self.tell(test, "fail", self.errors[-1][1])
    def addSkip(self, test, reason):
        super().addSkip(test, reason); self.tell(test, "skip")
    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err); self.tell(test, "pass")
    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test); self.tell(test, "fail", "it was expected to fail and passes")
    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.tell(test, "fail", (self.failures + self.errors)[-1][1])
class Loader(unittest.TestLoader):
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
        result = super().run(test)
        json.dump({"end": True}, out)
        out.write("\n"); out.flush()
        return result
sys.path.insert(0, "")
unittest.main(module=None, argv=["python -m unittest"] + sys.argv[1:], testRunner=Runner, testLoader=Loader())
