#!/usr/bin/env bash
# Rehearses a release without publishing anything: makes what .goreleaser.yaml says, checks
# the programs, archives, checksums and a provenance statement, installs a program as the
# Action does from a server on this machine, upgrades an App's data and goes back, and makes
# the image without an engine. Needs Go, git, curl, jq and the network; for the image
# buildah and mmdebstrap, as root. What cannot be rehearsed here is said in a line: GitHub's
# signature of the provenance, and the upload.
#
#   test/rehearse/run.sh [OLDER]   OLDER: the commit to upgrade from; else the last tag, else HEAD~1
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tag=v0.0.0-rehearsal.1
older=${1:-$(git describe --tags --abbrev=0 HEAD^ 2>/dev/null || git rev-parse HEAD~1)}
work=$(mktemp -d)
server=''
finish() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  chmod -R u+w "$work" && rm -rf "$work"
}
trap finish EXIT
step() { printf '\n== %s (%s s)\n' "$*" "$SECONDS"; }
fail() { echo "rehearsal: $*" >&2; exit 1; }
want() { [[ $2 == *"$1"* ]] || fail "want \"$1\" in: $2"; }

step "the commit and its tag"
git clone -q . "$work/src"
cd "$work/src"
git checkout -q --detach
echo "$tag" >action/release
git -c user.name=rehearsal -c user.email=rehearsal@localhost commit -qam "release: $tag"
git tag "$tag"

step "programs, archives, checksums"
tool() { sed -n "s#.*go install \($1@v[^ ]*\).*#\1#p" .github/workflows/release.yml; }
skip=publish,announce,docker
if command -v syft >/dev/null; then :; else skip+=,sbom && echo "left out: lists of contents, as there is no syft"; fi
go run "$(tool github.com/goreleaser/goreleaser/v2)" release --clean --skip="$skip" --timeout 30m >"$work/goreleaser.log" 2>&1 ||
  { tail -n 30 "$work/goreleaser.log" >&2; fail "goreleaser failed"; }
cd dist
sha256sum --quiet --check SHA256SUMS
for machine in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do
  grep -q " ycbot-$machine.gz\$" SHA256SUMS || fail "SHA256SUMS has no ycbot-$machine.gz"
  files=$(tar -tzf "ycbot_${tag#v}_${machine/-/_}.tar.gz")
  for name in ycbot LICENSE README.md SECURITY.md docs/operate.md docs/report.schema.json; do
    grep -qx "$name" <<<"$files" || fail "the archive for $machine has no $name"
  done
done
wc -c ycbot-*.gz ycbot_*.tar.gz

step "the same programs from the same commit"
first=$(zcat ycbot-linux-amd64.gz | sha256sum)
# shellcheck disable=SC2046 # each flag is a word
again=$(cd .. && CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build $(cat cmd/ycbot/build.flags) -ldflags="-s -w -X main.release=$tag" -o "$work/again" ./cmd/ycbot && sha256sum <"$work/again")
[[ $first == "$again" ]] || fail "another build of the commit has other bytes: $first, $again"

step "provenance"
# What the workflow has GitHub sign, in the form of slsa.dev/spec/v1.0/provenance.
jq -n --rawfile sums SHA256SUMS --arg commit "$(git rev-parse HEAD)" --arg tag "$tag" '{
  _type: "https://in-toto.io/Statement/v1",
  subject: [$sums | split("\n")[] | select(test("  ycbot-.*\\.gz$")) | split("  ") | {name: .[1], digest: {sha256: .[0]}}],
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {buildDefinition: {buildType: "https://actions.github.io/buildtypes/workflow/v1",
    externalParameters: {workflow: {ref: "refs/tags/\($tag)", path: ".github/workflows/release.yml"}},
    resolvedDependencies: [{digest: {gitCommit: $commit}}]}}}' >provenance.json
jq -r '.subject[] | "\(.digest.sha256)  \(.name)"' provenance.json | sha256sum --quiet --check
[[ $(jq '.subject | length' provenance.json) == 4 ]] || fail "the provenance does not name four programs"
echo "not rehearsed: GitHub signs it, and gh attestation verify holds it against the program"

step "the Action installs it"
mkdir -p "$work/www/ycbot/ycbot/releases/download/$tag" "$work/runner"
cp SHA256SUMS ycbot-*.gz "$work/www/ycbot/ycbot/releases/download/$tag"
cat >"$work/serve.go" <<'GO'
package main

import ("fmt"; "net"; "net/http"; "os")

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil { panic(err) }
	fmt.Println(l.Addr())
	panic(http.Serve(l, http.FileServer(http.Dir(os.Args[1]))))
}
GO
go build -o "$work/serve" "$work/serve.go"
"$work/serve" "$work/www" >"$work/address" &
server=$!
until [[ -s $work/address ]]; do sleep 0.1; done
install() { # as the two steps of action.yml do
  env RUNNER_TEMP="$work/runner" GITHUB_ACTION_PATH="$work/src" GITHUB_OUTPUT="$work/output" ACTION_REPOSITORY=ycbot/ycbot \
    YCBOT_RELEASES="http://$(<"$work/address")" YCBOT_RELEASES_PROTO==http bash "$work/src/action/install.sh" "$@"
}
said=$(install find)
want "release $tag" "$said"
install ''
bin=$(sed -n 's/^bin=//p' "$work/output")
want "$tag" "$("$bin" version)"
printf 'x' >>"$work/www/ycbot/ycbot/releases/download/$tag/ycbot-linux-$(uname -m | sed 's/x86_64/amd64/;s/aarch64/arm64/').gz"
if said=$(install find 2>&1); then fail "a program with another checksum was installed"; fi
want "not what SHA256SUMS says" "$said"

step "the program does its main job"
code=0
report=$(cd "$work" && HOME=$work "$bin" demo 2>&1) || code=$?
grep '^VERDICT:' <<<"$report" || fail "ycbot demo ended with $code and no verdict"

step "upgrade from $older, and back"
git -C "$work/src" worktree add -q "$work/older" "$older"
(cd "$work/older" && CGO_ENABLED=0 go build -o "$work/before" ./cmd/ycbot)
(cd "$work/src" && go test -count=1 ./cmd/ycbot -run '^TestAppUpgrade$' -before "$work/before")

step "image"
if ! command -v buildah >/dev/null || ! command -v mmdebstrap >/dev/null || [[ $EUID -ne 0 ]]; then
  echo "left out: the image, which wants buildah and mmdebstrap, as root"
else
  "$work/src/test/rehearse/image.sh" "$work/src" "$tag" "$work/image"
fi

step "rehearsed: $tag of $(git -C "$work/src" rev-parse --short HEAD^)"
