#!/bin/bash
# Prints what preemption.yaml and reference.yaml are predicted to give, means over five seeds, for three lengths of a
# restart:
#
#   studies/live/preemption/predict.sh BUILD >studies/live/preemption/predicted.txt
set -eu
cd "$(dirname "$0")/../../.."
build=$(realpath "$1") folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

predict() {  # TITLE NAME OPTION...
  local title=$1 name=$2
  shift 2
  "$build/simcli" run "studies/live/preemption/$name.yaml" --progress none "$@" -f -o "$folder/r.sqlite" >/dev/null 2>&1
  echo "$title"
  "$build/simcli" sql "$folder/r.sqlite" --csv -c "SELECT scenario, client, metric, printf('%.3f', sum(value) /
      (SELECT count(*) FROM runs AS each WHERE each.scenario = runs.scenario)) AS mean FROM metrics JOIN runs ON
      runs.id = metrics.run WHERE metric IN ('fps_mean', 'frame_time_p99_ms', 'throughput_per_s', 'kills', 'lost_ratio',
      'harvest_ratio') AND NOT (client = 'scene' AND metric = 'throughput_per_s') GROUP BY 1, 2, 3"
}

predict "without kills" reference
for restart in 2s 5s 10s; do predict "restarts of $restart" preemption --set "device.context_create=$restart"; done
