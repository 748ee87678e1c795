#!/usr/bin/env bash
# Proves the two commands of the README in an empty Debian 12: makes a minimal root, clones the committed tree into it
# and runs `./dev run` and `./dev test` twice each as root without sudo, the second time without network.
#
#   tests/fresh_root.sh [FOLDER]     FOLDER keeps the root for a look; without it a temporary one is removed at the end
#
# Needs root, debootstrap and apt sources of Debian 12 on the host. Prints the commit and one line with the time of each
# command. A FOLDER that has a clone is taken as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
suite=bookworm
keep=${1:-}
root=${keep:-$(mktemp -d)}
mkdir -p "$root"
root=$(realpath "$root")

cleanup() {
  umount --lazy "$root/dev" "$root/proc" 2>/dev/null || true  # what an interrupted command started may still end
  [ -n "$keep" ] || rm -rf --one-file-system "$root"
}
trap cleanup EXIT

make_root() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' "Release: $suite" | head -n 1)
  debootstrap --variant=minbase "$suite" "$root" "$mirror"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  rm -f "$root/etc/apt/sources.list"
  find /etc/apt -maxdepth 1 -name sources.list -exec cp {} "$root/etc/apt/" \;
  find /etc/apt/sources.list.d \( -name '*.list' -o -name '*.sources' \) -exec cp {} "$root/etc/apt/sources.list.d/" \;
  apt-config dump | grep -E '^Acquire::([a-z]+::Proxy|Check-)' >"$root/etc/apt/apt.conf.d/90host" || true
  git clone --quiet --no-hardlinks . "$root/corun"
}

# inside COMMAND...: runs it in the root, in the clone, with an empty environment
inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
    bash -c 'cd /corun && exec "$@"' bash "$@"
}

# without_network COMMAND...: the same with loopback only
without_network() {
  export root
  export -f inside
  unshare --net bash -c 'ip link set lo up && inside "$@"' bash "$@"
}

timed() {
  local label=$1 start=$SECONDS code=0
  shift
  "$@" || code=$?
  times+=("$(printf '%-28s %5d s  exit %d' "$label" $((SECONDS - start)) "$code")")
  printf '%s\n' "${times[-1]}" >&2
  [ "$code" -eq 0 ] || failed=1
}

times=()
failed=0
[ -e "$root/corun" ] || make_root
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
times+=("$(git -C "$root/corun" log -1 --format='commit %h')")
timed "./dev run, cold" inside ./dev run
timed "./dev run, no network" without_network ./dev run
timed "./dev test, cold" inside ./dev test
timed "./dev test, no network" without_network ./dev test
printf '%s\n' "${times[@]}"
exit $failed
