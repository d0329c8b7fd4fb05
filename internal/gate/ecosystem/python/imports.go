package python

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// imports are the modules that a line imports: those after from, or a list after import.
var imports = pattern.New(`(?m)^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))`)

// topImports are those of a file that none of its lines can guard.
var topImports = pattern.New(`(?m)^(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))`)

// importOthers says whether tests of a project import a module that comes neither with Python nor with
// the tree: without one they need nothing that tools would install for them. What the product
// imports is for its own manifest to say; where it has none, it counts as well.
func importOthers(s *ecosystem.Survey, dir string) bool {
	own, said := map[string]bool{}, isPackage(s, dir)
	var read []string
	for _, name := range s.Below(dir) {
		if path.Ext(name) != ".py" || ecosystem.IgnoredDir(path.Dir(name)) {
			continue
		}
		own[strings.TrimSuffix(path.Base(name), ".py")] = true
		for up := path.Dir(name); up != "."; up = path.Dir(up) {
			own[path.Base(up)] = true
		}
		if isPythonTest(name) || !said && !steersPython(name) && !notForTests.MatchString(name) {
			read = append(read, name)
		}
	}
	return slices.ContainsFunc(read, func(name string) bool {
		lines := topImports
		if isPythonTest(name) {
			lines = imports
		}
		for _, m := range lines.FindAllSubmatch(s.Read(dir, name), -1) {
			for module := range strings.SplitSeq(string(m[1])+string(m[2]), ",") {
				first, _, _ := strings.Cut(strings.TrimSpace(module), ".")
				if first, _, _ = strings.Cut(first, " "); first != "" && !own[first] && !strings.Contains(" "+library+" ", " "+first+" ") {
					return true
				}
			}
		}
		return false
	})
}

// library are the modules that come with Python (https://docs.python.org/3/py-modindex.html), with those
// that came with older ones.
const library = "__future__ _thread abc aifc annotationlib argparse array ast asynchat asyncio asyncore atexit audioop base64 " +
	"bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections " +
	"colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes " +
	"curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno " +
	"faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc getopt getpass gettext glob " +
	"graphlib grp gzip hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools " +
	"json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder " +
	"msilib msvcrt multiprocessing netrc nis nntplib ntpath numbers operator optparse os ossaudiodev pathlib pdb " +
	"pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd " +
	"py_compile pyclbr pydoc pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched " +
	"secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 " +
	"ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile " +
	"telnetlib tempfile termios textwrap threading time timeit tkinter token tokenize tomllib trace traceback " +
	"tracemalloc tty turtle types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser " +
	"winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo"
