#!/usr/bin/env bash
# Second and third step of action.yml: finds the ycbot that belongs to this commit of the
# action ("find"), or builds it, and puts its path into the output "bin".
#
# The file "release" beside this script names the release that is made of this very commit;
# tags and commit ids of the action both have it. That release's program for this machine is
# held against its SHA256SUMS and, where gh can, against GitHub's build provenance. Where
# the file is empty it is built from the action's own source, with the Go that its go.mod
# names; "key" is then what a cache of the program may be called, and "dir" its folder.
set -euo pipefail

fail() {
  echo "::error title=ycbot::$1"
  exit 1
}

# Where the runner unpacked the action names its repository, also when another composite
# action uses this one: github.action_repository is that one's then.
if [[ $GITHUB_ACTION_PATH =~ /_actions/([^/]+/[^/]+)/([^/]+)$ ]]; then
  ACTION_REPOSITORY=${BASH_REMATCH[1]}
fi
ACTION_REPOSITORY=${ACTION_REPOSITORY:-ycbot/ycbot}

# A job may use the action at two commits: each has its own program.
dir=${RUNNER_TEMP:?}/ycbot-bin/${GITHUB_ACTION_PATH//[^[:alnum:]]/-}
bin=$dir/ycbot
lacking=$RUNNER_TEMP/ycbot-lacking # why a release that is named was not taken
mkdir -p "$dir"

digest() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d' ' -f1
}

# download NAME TO: fails where the release or the file is not there, with curl's words in
# the file "said".
download() {
  curl -fsSL --proto "${YCBOT_RELEASES_PROTO:-=https}" --connect-timeout 10 --max-time 300 --retry 2 -o "$2" \
    "${YCBOT_RELEASES:-https://github.com}/$ACTION_REPOSITORY/releases/download/$tag/$1" 2>"$dir/said"
}

# lacks WHY: the release is named, and cannot be taken. The step that builds says it, too.
lacks() {
  echo "::warning title=ycbot::$1"
  echo "$1" >"$lacking"
  return 1
}

# provenance FILE: that GitHub attests that this repository's release workflow made it. A
# machine without gh, or whose gh is too old, has the checksum alone.
provenance() {
  if [[ -z ${GH_TOKEN:-} || -n ${YCBOT_RELEASES:-} ]] || ! command -v gh >/dev/null || ! gh attestation --help >/dev/null 2>&1; then
    echo "ycbot: provenance not checked: no gh that can, no token, or a mirror of the releases"
    return 0
  fi
  local try
  for try in 1 2 3; do
    if gh attestation verify "$1" --repo "$ACTION_REPOSITORY" --signer-workflow "$ACTION_REPOSITORY/.github/workflows/release.yml" >/dev/null 2>"$dir/why"; then
      echo "ycbot: made by the release workflow of $ACTION_REPOSITORY, says GitHub's attestation"
      return 0
    fi
    sleep "$try"
  done
  tail -n 3 "$dir/why"
  return 1
}

release() {
  local tag machine asset want
  tag=$(tr -d '[:space:]' 2>/dev/null <"$GITHUB_ACTION_PATH/action/release") || return 1
  [[ $tag =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || return 1
  machine=$(uname -m)
  case $machine in
  x86_64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  esac
  asset=ycbot-$(uname -s | tr '[:upper:]' '[:lower:]')-$machine.gz
  echo "ycbot: fetching $asset of release $tag of $ACTION_REPOSITORY"
  command -v curl >/dev/null || lacks "there is no curl to fetch release $tag of $ACTION_REPOSITORY with" || return 1
  download SHA256SUMS "$dir/SHA256SUMS" ||
    lacks "SHA256SUMS of release $tag of $ACTION_REPOSITORY cannot be downloaded ($(tail -n 1 "$dir/said")); YCBOT_RELEASES names a mirror" || return 1
  want=$(awk -v name="$asset" '$2 == name || $2 == "*" name { print $1 }' "$dir/SHA256SUMS")
  [[ $want =~ ^[0-9a-f]{64}$ ]] || lacks "release $tag of $ACTION_REPOSITORY has no $asset for this machine" || return 1
  download "$asset" "$dir/$asset" || fail "$asset is listed in the release $tag of $ACTION_REPOSITORY and cannot be downloaded"
  [[ $(digest <"$dir/$asset") == "$want" ]] || fail "$asset of the release $tag is not what SHA256SUMS says: it is not run"
  provenance "$dir/$asset" || fail "$asset of the release $tag has no build provenance of $ACTION_REPOSITORY that GitHub confirms: it is not run"
  gzip -dc "$dir/$asset" >"$bin.new" || fail "$asset of the release $tag cannot be unpacked"
  rm -f "$dir/$asset"
  chmod 755 "$bin.new"
  mv "$bin.new" "$bin"
  echo "ycbot: release $tag of $ACTION_REPOSITORY, $want"
}

# key names the program by all that it is made of.
key() {
  (cd "$GITHUB_ACTION_PATH" && find . -name .git -prune -o -type f \( -name '*.go' -o -name 'go.*' -o -path '*/internal/*' -o -path './agents/*' -o -path './app/*' -o -path './cmd/*' \) -print0 |
    LC_ALL=C sort -z | xargs -0 cat | digest)
}

# What the workflow set for its own builds has no say here.
build() {
  local why="no release belongs to this commit"
  if [[ -s $lacking ]]; then
    why=$(cat "$lacking")
    command -v go >/dev/null || fail "$why, and there is no Go to build it with: put actions/setup-go before the action"
  fi
  command -v go >/dev/null || fail "no release of ycbot belongs to this commit of the action, and there is no Go to build it with. Use a release tag of the action, or put actions/setup-go before it."
  echo "ycbot: $why: compiling it with $(GOTOOLCHAIN=local go version 2>/dev/null || echo go), which takes some minutes without a cache"
  local began=$SECONDS compiler waited=0
  # shellcheck disable=SC2046 # each flag is a word
  env -u GOOS -u GOARCH -u GOEXPERIMENT GOFLAGS='' GOWORK=off GOTOOLCHAIN=auto CGO_ENABLED=0 \
    go build -C "$GITHUB_ACTION_PATH" $(cat "$GITHUB_ACTION_PATH/cmd/ycbot/build.flags") -ldflags='-s -w' -o "$bin" ./cmd/ycbot &
  compiler=$!
  while kill -0 "$compiler" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    ((waited % 20)) || echo "ycbot: still compiling ($((SECONDS - began)) s)"
  done
  wait "$compiler" || fail "ycbot could not be built from the action's source. It needs Go 1.21 or later, which fetches the version that go.mod names."
  echo "ycbot: built from source in $((SECONDS - began)) s"
}

case ${1:-} in
find)
  rm -f "$lacking"
  printf 'dir=%s\n' "$dir" >>"$GITHUB_OUTPUT"
  if release; then
    exit 0
  fi
  command -v go >/dev/null && printf 'key=ycbot-program-%s-%s-%s\n' "$(uname -s)" "$(uname -m)" "$(key)" >>"$GITHUB_OUTPUT"
  exit 0
  ;;
esac
if [[ -x $bin ]] && "$bin" version >/dev/null 2>&1; then
  echo "ycbot: $("$bin" version | head -n 1)"
else
  build
fi
printf 'bin=%s\n' "$bin" >>"$GITHUB_OUTPUT"
