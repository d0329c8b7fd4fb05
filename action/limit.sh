#!/usr/bin/env bash
# Start of the step "Verify": moves the step's own shell, whose process id is $1,
# into a cgroup in which ycbot may limit each command as a whole, so that it stays
# in force when that shell becomes ycbot. Only on GitHub's own runners, which are
# thrown away: elsewhere the shell would leave the cgroup by which the runner's
# service ends what is left of a job. Where it cannot be had the step goes on, and
# the report says that memory is watched only.
#
# YCBOT: the program. INPUT_SANDBOX: the tier asked for.
set -euo pipefail

[[ ${RUNNER_ENVIRONMENT:-} == github-hosted && ${RUNNER_OS:-} == Linux && ${INPUT_SANDBOX:-auto} != none ]] || exit 0
command -v sudo >/dev/null && sudo -n true >/dev/null 2>&1 || exit 0

if said=$(sudo -n timeout 120 "$YCBOT" sandbox prepare --process "$1" 2>&1); then
  printf '%s\n' "$said" | sed 's/^/sandbox: /'
else
  echo "::notice title=ycbot sandbox::no cgroup could be delegated here; memory is watched, and not limited by the kernel"
fi
