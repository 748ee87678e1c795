#!/usr/bin/env bash
# Plays OpenArena's recorded match demo088-test1 without a window; prints its frames per second.
#   openarena.sh [WIDTH HEIGHT [FPS]]     1920 1080, uncapped, if not given; with FPS the game is paced to that rate
# OPENARENA names the folder with baseoa/, ENGINE the engine, LIMIT the seconds after which the game is ended.
set -euo pipefail
: "${OPENARENA:=/usr/lib/openarena}" "${ENGINE:=/usr/lib/ioquake3/ioquake3}" "${LIMIT:=60}"
width=${1:-1920} height=${2:-1080} fps=${3:-0}
if [ "$fps" -gt 0 ]; then pacing="+set timedemo 0 +set com_maxfps $fps"; else pacing="+set timedemo 1"; fi
home=$(mktemp -d)
log=$home/log
# shellcheck disable=SC2086
HOME=$home SDL_VIDEODRIVER=offscreen stdbuf -oL "$ENGINE" +set fs_basepath "$OPENARENA" +set com_basegame baseoa \
  +set com_homepath .openarena +set com_hunkMegs 512 +set ttycon 0 +set s_initsound 0 +set r_mode -1 \
  +set r_customwidth "$width" +set r_customheight "$height" +set r_fullscreen 0 +set cl_renderer opengl2 \
  +set r_swapInterval 0 $pacing +set nextdemo quit +demo demo088-test1 </dev/null >"$log" 2>&1 &
engine=$!

# An engine that is killed in the middle of a frame can spoil the GPU (docs/live.md). One that hangs in its own shutdown
# ends at the second signal.
end_engine() {
  for signal in TERM TERM KILL; do
    kill -$signal $engine 2>/dev/null || break
    sleep 1.5
  done
  rm -rf "$home"
}
trap end_engine EXIT

# It gets two seconds for its shutdown.
left=$((LIMIT * 10))
while kill -0 $engine 2>/dev/null && [ $left -gt 0 ]; do
  if [ $left -gt 20 ] && grep -q '^[0-9]* frames.* fps' "$log"; then left=20; fi
  left=$((left - 1))
  sleep 0.1
done
rate=$(sed -n 's/^[0-9]* frames.* \([0-9.]*\) fps.*/\1/p' "$log" | tail -n 1)
if [ -z "$rate" ] && [ "$fps" -eq 0 ]; then
  tail -n 20 "$log" >&2
  exit 1
fi
echo "$rate"
