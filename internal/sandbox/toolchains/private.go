package toolchains

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A credential is a kind of file or directory that holds secrets.
type credential struct {
	name string // how its path ends, in lower case; * is a part of a name
	// of says by its beginning whether a file is one; nil: it is by its name.
	of  func(text []byte) bool
	dir bool // it is a directory
	// instead is what stands in its place, where programs have it for fatal that they may not
	// read their own settings; nil: nothing.
	instead *string
}

// What stands in the place of settings.
var (
	noSettings    = ""
	mavenSettings = "<settings/>\n"
	nugetSettings = "<configuration/>\n"
)

// credentials are the well-known ones, wherever they lie in what commands see.
var credentials = slices.Concat(
	known(strings.Fields(`
		.ssh/ .gnupg/ .aws/ .azure/ .kube/ .oci/ .password-store/ .sops/ .local/share/keyrings/ .snowsql/ .wrangler/ .vercel/ .netlify/ .railway/ .supabase/
		.config/gcloud/ .config/gh/ .config/hub .config/doctl/ .config/op/ .config/rclone/ .config/glab-cli/ .config/heroku/ .config/configstore/
		.docker/config.json containers/auth.json .dockercfg .cargo/credentials .cargo/credentials.toml credentials.toml credentials.tfrc.json .terraformrc
		.fly/config.yml .pulumi/credentials.json .netrc _netrc .pypirc .git-credentials .gem/credentials .hex/hex.config .pgpass .my.cnf .boto .s3cfg
		.databrickscfg .vault-token .vault_pass .htpasswd .wgetrc .curlrc auth.conf apt/auth.conf.d/
		auth.json application_default_credentials.json service-account*.json service_account*.json
		credentials credentials.json .credentials.json credentials.db access_tokens.db secrets.yml secrets.yaml secrets.json secrets.toml kubeconfig kubelet.conf admin.conf
		token .token *.token token.json token.txt *_token access-token oauth_token .env .env.* *.p12 *.pfx *.kdbx *.ppk *.keytab
		id_rsa id_dsa id_ecdsa id_ed25519 id_*_sk ssh_host_*_key .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history
		.credentials .credentials_* .runner .runner_migrated .service _work/ _diag/ _actions/ gitlab-runner/ gitea-runner/ forgejo-runner/ act_runner/ buildkite-agent/
		etc/shadow etc/shadow- etc/gshadow etc/gshadow- etc/sudoers etc/sudoers.d/ etc/ssl/private/ etc/wireguard/ etc/ppp/chap-secrets etc/ppp/pap-secrets
		etc/NetworkManager/system-connections/ etc/rancher/ etc/kubernetes/pki/ etc/docker/key.json etc/msmtprc etc/exim4/passwd.client`)),
	[]credential{
		{name: "*.pem", of: privateKey},
		{name: "*.key", of: privateKey},
		{name: "*.crt", of: privateKey},
		{name: "*_key", of: privateKey},
		{name: ".npmrc", of: holds("_auth", "_password"), instead: &noSettings},
		{name: "npmrc", of: holds("_auth", "_password"), instead: &noSettings},
		{name: ".yarnrc", of: holds("_auth", "_password"), instead: &noSettings},
		{name: ".yarnrc.yml", of: holds("npmAuth"), instead: &noSettings},
		{name: "bunfig.toml", of: holds("token", "password"), instead: &noSettings},
		{name: "pip.conf", of: urlWithUser, instead: &noSettings},
		{name: "uv.toml", of: urlWithUser, instead: &noSettings},
		{name: ".gitconfig", of: gitSecret, instead: &noSettings},
		{name: "gitconfig", of: gitSecret, instead: &noSettings},
		{name: ".git/config", of: gitSecret, instead: &noSettings},
		{name: "settings*.xml", of: mavenSecret, instead: &mavenSettings},
		{name: "nuget.config", of: holds("password", "apikeys"), instead: &nugetSettings},
		{name: ".bundle/config", of: holds("bundle_"), instead: &noSettings},
		{name: "sources.list", of: urlWithUser, instead: &noSettings},
		{name: "*.sources", of: urlWithUser, instead: &noSettings},
		{name: "*.list", of: urlWithUser, instead: &noSettings},
		{name: "etc/environment", of: holds("token", "secret", "password", "_key="), instead: &noSettings},
		{name: "config.toml", of: holds("token", "password"), instead: &noSettings},
		{name: "gradle.properties", instead: &noSettings},
	},
)

// known are credentials that are known by their names alone; a name that ends in
// a slash is that of a directory, another that of a file.
func known(names []string) []credential {
	var out []credential
	for _, name := range names {
		plain, dir := strings.CutSuffix(strings.ToLower(name), "/")
		out = append(out, credential{name: plain, dir: dir})
	}
	return out
}

func privateKey(text []byte) bool { return bytes.Contains(text, []byte("PRIVATE KEY-----")) }

// holds says whether a text has one of the words in it, in whatever case.
func holds(words ...string) func([]byte) bool {
	return func(text []byte) bool {
		text = bytes.ToLower(text)
		return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(strings.ToLower(word))) })
	}
}

// urlWithUser says whether a text has an address with a user in it, as those with
// passwords and tokens have. The user of ssh is none without a password, as in ssh://git@.
func urlWithUser(text []byte) bool {
	for {
		before, rest, ok := bytes.Cut(text, []byte("://"))
		if !ok {
			return false
		}
		end := bytes.IndexAny(rest, "/ \t\r\n\"'")
		if end < 0 {
			end = len(rest)
		}
		user, _, found := bytes.Cut(rest[:end], []byte("@"))
		if found && (bytes.Contains(user, []byte(":")) || !bytes.HasSuffix(before, []byte("ssh"))) {
			return true
		}
		text = rest
	}
}

func gitSecret(text []byte) bool { return urlWithUser(text) || holds("extraheader", "password")(text) }

// mavenSecret says whether settings of Maven have a password outside of the
// comments that every installation comes with.
func mavenSecret(text []byte) bool {
	var left []byte
	for len(text) > 0 {
		before, rest, ok := bytes.Cut(text, []byte("<!--"))
		left = append(left, before...)
		if !ok {
			break
		}
		_, text, _ = bytes.Cut(rest, []byte("-->"))
	}
	return holds("<password>", "<passphrase>", "<privatekey>", "<httpheaders>")(left)
}

const (
	maxKnown    = 64 << 10 // bytes of a file that are looked at to know it
	maxPrivate  = 60_000   // entries that are looked at for secrets in all
	deepPrivate = 5        // directories below a toolchain that are looked into
)

// codeDirs hold a toolchain's own code: no one puts a credential deeper in them
// than in what lies there directly.
var codeDirs = []string{"lib", "lib32", "lib64", "libexec", "include", "src", "share", "pkg", "jmods", "node_modules"}

// A search for secrets goes through directories that commands see.
type privateSearch struct {
	left    int // entries still to be looked at
	out     []string
	byName  map[string][]credential // those whose last part is a plain name
	byMatch []credential            // the others
}

// Private finds what to hide in what commands see of the host: the well-known
// credentials by name and place, in the system's directories and where a toolchain is
// open to all users files that only their owner may read, and of the paths in hide those
// that lie in it. A command has the uid of this program, so it could read what is this
// program's own.
func (t Set) Private(hide []string) []string {
	s := &privateSearch{left: maxPrivate, byName: map[string][]credential{}}
	for _, c := range credentials {
		if last := filepath.Base(c.name); strings.Contains(last, "*") {
			s.byMatch = append(s.byMatch, c)
		} else {
			s.byName[last] = append(s.byName[last], c)
		}
	}
	for _, r := range privateRoots {
		s.walk(r.dir, r.depth, r.closed)
	}
	for _, path := range t.Read {
		s.toolchain(path)
	}
	for _, path := range hide {
		path = filepath.Clean(path)
		if UnderSystem(path) || slices.ContainsFunc(t.Read, func(dir string) bool { return Within(dir, path) && dir != path }) {
			s.out = append(s.out, path)
		}
	}
	slices.Sort(s.out)
	return slices.Compact(s.out)
}

// toolchain looks into what is shown of a toolchain, under its own name and under
// that which links lead to.
func (s *privateSearch) toolchain(path string) {
	real := Resolve(path)
	info, err := os.Stat(real)
	if err != nil || UnderSystem(real) && UnderSystem(path) {
		return
	}
	found := len(s.out)
	switch {
	case info.IsDir():
		s.walk(real, deepPrivate, apart)
	case s.secret(real, false):
		s.out = append(s.out, real)
	}
	if real == path {
		return
	}
	for _, p := range s.out[found:] {
		s.out = append(s.out, path+p[len(real):])
	}
}

// privateRoots are the system directories in which secrets may lie.
var privateRoots = []struct {
	dir    string
	depth  int
	closed func(path string, d fs.DirEntry) bool // by its mode; nil: the mode says nothing
}{
	{"/etc", 8, closed}, {"/usr/local/etc", 8, closed}, {"/usr/etc", 4, closed}, {"/usr/local", 2, nil},
}

// walk collects the secrets in dir.
func (s *privateSearch) walk(dir string, depth int, closed func(string, fs.DirEntry) bool) {
	// What cannot be read here cannot be read by the command either.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if s.left--; s.left < 0 {
			return fs.SkipAll
		}
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		switch {
		case path != dir && (s.secret(path, d.IsDir()) || closed != nil && closed(path, d)):
			s.out = append(s.out, path)
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir() && strings.Count(path[len(dir):], "/") >= depth,
			d.IsDir() && path != dir && depth == deepPrivate && slices.Contains(codeDirs, filepath.Base(filepath.Dir(path))):
			return fs.SkipDir
		}
		return nil
	})
}

// closed says whether only the owner, and maybe a group, may read a file or directory.
func closed(_ string, d fs.DirEntry) bool {
	info, err := d.Info()
	if err != nil {
		return false
	}
	if d.IsDir() {
		return info.Mode().Perm()&0o005 != 0o005
	}
	return info.Mode().Perm()&0o004 == 0
}

// apart says whether a file of a toolchain is closed and no program, in a
// directory that is open: someone closed it. With a umask of 077 all are closed.
func apart(path string, d fs.DirEntry) bool {
	if d.IsDir() || !closed(path, d) {
		return false
	}
	info, err := d.Info()
	if err != nil || info.Mode().Perm()&0o111 != 0 {
		return false
	}
	dir, err := os.Stat(filepath.Dir(path))
	return err == nil && dir.Mode().Perm()&0o005 == 0o005
}

// StandIn is the text that stands in the place of a file that is hidden, so that programs whose
// settings it has begin without it.
func StandIn(path string) (text string, ok bool) {
	base := strings.ToLower(filepath.Base(path))
	for _, c := range credentials {
		if ok, err := filepath.Match(filepath.Base(c.name), base); c.instead != nil && err == nil && ok && ends(strings.ToLower(path), c.name) {
			return *c.instead, true
		}
	}
	return "", false
}

// secret says whether a file or directory is a known credential.
func (s *privateSearch) secret(path string, dir bool) bool {
	base := strings.ToLower(filepath.Base(path))
	for _, list := range [][]credential{s.byName[base], s.byMatch} {
		for _, c := range list {
			if ok, err := filepath.Match(filepath.Base(c.name), base); err != nil || !ok || c.dir != dir {
				continue
			}
			if ends(strings.ToLower(path), c.name) && (c.of == nil || c.of(beginningOf(path))) {
				return true
			}
		}
	}
	return false
}

// ends says whether the last names of path are those of the pattern.
func ends(path, pattern string) bool {
	want, names := strings.Split(pattern, "/"), strings.Split(path, "/")
	return len(names) >= len(want) && match(want, names[len(names)-len(want):])
}

// beginningOf reads what a file begins with; nothing where that fails.
func beginningOf(path string) []byte {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, min(info.Size(), maxKnown))
	n, _ := f.Read(b)
	return b[:n]
}
