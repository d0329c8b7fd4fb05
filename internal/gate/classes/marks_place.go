package classes

import "github.com/ycbot/ycbot/internal/pattern"

// What marks are called by which code that is verified can be distinguished from code in use.
const (
	asksWhere = "asks where it runs"
	asksWhen  = "asks when it runs"
)

// placeRules are how code compares the place, the process, the account, the machine or the date with one
// that it knows.
var placeRules = []markRule{
	// What the kernel says of a process and of a machine.
	{"", asksWhere, pattern.New(`(?i)/proc/(self|1)/(ns|root|sched|[ug]id_map|loginuid|oom_score_adj)\b|(?:read|list)\w*\(\s*["']/proc/?["']|/sys/(class/net|fs/cgroup)\b`)},
	// The number of a process or of a user, compared with a number.
	{"", asksWhere, pattern.New(`(?i)(\bprocess\.p?pid|\bgetpp?id\(\)|\bProcess\.pp?id)\s*(<|>|[!=]==?|%|in\b)\s*[\d(\[]|\bgete?[ug]id\(\)\s*(<|>|[!=]==?)=?\s*[1-9]`)},
	// The name of a machine or of a user.
	{"", asksWhere, pattern.New(`(?i)(\bgethostname\(\)|\bos\.hostname\(\)|\bplatform\.node\(\)|\bgetuser\(\)|\buserInfo\(\)\.(username|homedir|uid))\s*([!=]==?\s*["'\d]|(not\s+)?in\b|\.(starts_?with|ends_?with|includes|match)\()`)},
	// Interfaces of the network.
	{"", asksWhere, pattern.New(`(?i)(\bnetworkInterfaces\(\)|\bif_nameindex\(\))\)?(\.length|\)?\s*[<>=])`)},
	// Where its files lie.
	{"", asksWhere, pattern.New(`(?i)(\b__dirname|\b__file__|\bcwd\(\)|\bgetcwd\(\)|\bGetwd\(\))(\.length|\.(starts_?with|includes|match|count|index_?of)\(|\)\s*[<>])|["']\s+(not\s+)?in\s+(__file__|\w*\.?getcwd\(\))`)},
	// Whether it runs in a checkout of git.
	{"", asksWhere, pattern.New(`(?i)\.git(/(HEAD|config|index))?["'\])]+.*\bis_?file\(|\bis_?file\(.*["'/]\.git["']|["'/]\.git/HEAD\b`)},
	// Whether the project's tests lie beside it.
	{"", asksWhere, pattern.New(`(?i)(exists(Sync)?|is_?dir|access(Sync)?|stat(Sync)?)\(.*["'/](tests?|specs?|__tests__|conftest\.py|pytest\.ini|(jest|vitest)\.config\.\w+)/?["']|["'/](tests?|specs?|__tests__)/?["']\)*\.(is_(dir|file)|exists)\(`)},
	// The home, the user or the folder that variables name.
	{"", asksWhere, pattern.New(`(?i)(\benviron|\benv|\bgetenv)\W{1,3}(get\W{1,3})?(HOME|USER|USERNAME|LOGNAME|HOSTNAME|PWD|TMPDIR)\b.{0,12}?(\.(starts_?with|ends_?with|includes|match)\(|[!=]==?\s*["'][^"'\s])`)},
	// A date that stands in the line.
	{"", asksWhen, pattern.New(`(\bDate\.now\(\)|\bnew Date\(\)(\.getTime\(\))?|\btime\.time\(\)|\b(datetime|date)\.(utc)?(now|today)\([^)]*\)(\.date\(\))?|\btime\.Now\(\)(\.Unix\(\))?)\s*(<|>|\.(Before|After)\()[^\n]*\b(20[2-9]\d|1[6-9]\d{8}(\d{3})?|1\.[6-9]\d*e(9|12))\b`)},
	// How long a process runs already.
	{"", asksWhen, pattern.New(`\b(process\.uptime|time\.process_time|performance\.now)\(\)\s*[<>]=?\s*\d`)},
}
