#!/usr/bin/env bash
# Runs every fuzz target of the module, or of the packages that are given, for FUZZTIME (5s; or a count, such as 20000x),
# one after another: those that "^func Fuzz" finds, so that none is left out. What fails
# is written to testdata/fuzz of its package, where "go test" runs it from then on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
failed=() count=0

# An engine older than Go 1.27 may say that a target failed, and name its own time alone,
# when the time ends while a worker answers (https://go.dev/issue/75804). Nothing else may
# be said: a finding has its input, a panic its stack.
time_ended() {
  grep -qx '    context deadline exceeded' "$1" &&
    ! grep -qvxE "fuzz: elapsed: .*|--- FAIL: $2 \\([0-9.]+s\\)|    context deadline exceeded|FAIL" "$1"
}

while IFS= read -r dir; do
  # Built once for all targets of the package, as "go test -fuzz" does for each.
  if ! go test -c -vet=off -fuzz=. -o "$temp/fuzz.test" "./$dir"; then
    failed+=("$dir (it does not compile)")
    continue
  fi
  while IFS= read -r name; do
    count=$((count + 1))
    if (cd "$dir" && "$temp/fuzz.test" -test.run='^$' -test.fuzz="^$name\$" -test.fuzztime="${FUZZTIME:-5s}" \
      -test.fuzzminimizetime=100x -test.fuzzcachedir="$temp/$name" -test.timeout=2m) >"$temp/out" 2>&1 || time_ended "$temp/out" "$name"; then
      printf '%-24s %-26s %s\n' "$dir" "$name" "$(grep -o 'execs: [0-9]*' "$temp/out" | tail -n 1)"
    else
      cat "$temp/out"
      failed+=("$dir $name")
    fi
  done < <(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -d' ' -f2)
done < <(grep -rlE --include='*_test.go' '^func Fuzz' "${@:-.}" | sed 's#^\./##; s#/[^/]*$##' | sort -u)
if ((${#failed[@]})); then
  printf 'fuzz: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
echo "fuzz: $count targets"
((count))
