#!/usr/bin/env bash
# First step of action.yml: tells the runner what is secret, and gets bubblewrap
# to work where this user may. Where not, it says so, and ycbot takes the next
# lower tier of its sandbox, or runs nothing if the pull request is not trusted.
#
# SECRET_TOKEN, SECRET_KEY: what must not be seen in a log. SANDBOX: the tier asked for.
set -euo pipefail

mask() {
  local line
  while IFS= read -r line; do
    [[ -z $line ]] || printf '::add-mask::%s\n' "${line//%/%25}"
  done <<<"$1"
}

may_be_root() { [[ $EUID -eq 0 ]] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo -n "$@"; fi
}

# With the options that ycbot needs, which old ones do not have.
sandbox_works() {
  bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev --perms 0700 --size 1048576 --tmpfs /tmp true 2>/dev/null
}

install_bwrap() {
  if command -v apt-get >/dev/null; then
    # It fails where any of many sources cannot be read, and most have no part in this.
    as_root timeout 300 apt-get -o DPkg::Lock::Timeout=60 -qq update ||
      echo "sandbox: apt-get update failed; bubblewrap is asked for all the same"
    as_root timeout 300 env DEBIAN_FRONTEND=noninteractive \
      apt-get -o DPkg::Lock::Timeout=60 -qq install -y --no-install-recommends bubblewrap
  elif command -v dnf >/dev/null; then
    as_root timeout 300 dnf -q -y install bubblewrap
  elif command -v apk >/dev/null; then
    as_root timeout 300 apk add --quiet bubblewrap
  else
    return 1
  fi
}

# Ubuntu lets a program make user namespaces only where an AppArmor profile says so.
allow_bwrap() {
  local profile=/etc/apparmor.d/bwrap
  [[ $(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2>/dev/null) == 1 ]] || return 1
  command -v apparmor_parser >/dev/null || return 1
  if [[ ! -e $profile ]]; then
    printf '%s\n' 'abi <abi/4.0>,' 'include <tunables/global>' \
      "profile bwrap $(command -v bwrap) flags=(unconfined) { userns, }" |
      as_root tee "$profile" >/dev/null || return 1
  fi
  as_root apparmor_parser -r "$profile"
}

prepare() {
  if command -v bwrap >/dev/null && sandbox_works; then
    echo "sandbox: bubblewrap works"
    return
  fi
  if ! may_be_root; then
    echo "::notice title=ycbot sandbox::bubblewrap does not work here and there is no sudo without a password to change that; a lower tier is used"
    return
  fi
  if ! command -v bwrap >/dev/null; then
    echo "sandbox: installing bubblewrap"
    install_bwrap || true
  fi
  if command -v bwrap >/dev/null && { sandbox_works || { allow_bwrap && sandbox_works; }; }; then
    echo "sandbox: bubblewrap was made to work"
    return
  fi
  if command -v bwrap >/dev/null && [[ $(bwrap --help 2>&1) != *--size* ]]; then
    echo "::notice title=ycbot sandbox::$(bwrap --version) is too old: 0.7 or later is needed; a lower tier is used"
    return
  fi
  echo "::notice title=ycbot sandbox::bubblewrap could not be made to work here; a lower tier is used"
}

mask "${SECRET_TOKEN:-}"
mask "${SECRET_KEY:-}"
case ${SANDBOX:-auto} in
none | basic) echo "sandbox: ${SANDBOX} needs no preparation" ;;
*) prepare ;;
esac
