#!/bin/bash
# Five repetitions of preemption.yaml and two of reference.yaml, in 7 and a half minutes:
#
#   studies/live/preemption/measure.sh BUILD RESULTS
#
# BUILD holds simcli, scene and the libraries of live runs; RESULTS gets runs.tar.gz, kills.csv, table.md and log.txt.
# No run begins that would not end within LIMIT seconds (455). LOAD is that of scene (0.4).
set -u
build=$(realpath "$1") results=$(realpath "$2")
cd "$(dirname "$0")/../../.." || exit
limit=${LIMIT:-455} load=${LOAD:-0.4} single=$(mktemp -d)
trap 'rm -rf "$single"' EXIT
export PYTHONDONTWRITEBYTECODE=1

run() {  # NAME REPETITION SECONDS KEYS_OF_SCENE...
  local name=$1 repetition=$2 takes=$3 sets=()
  shift 3
  if ((SECONDS + takes > limit)); then echo "left out for time: $name $repetition" && return; fi
  for scene in "$@"; do sets+=(--set "$scene.command[0]=$build/scene" --set "$scene.command[6]=\"$load\""); done
  "$build/simcli" live "studies/live/preemption/$name.yaml" --seed "$repetition" --progress none "${sets[@]}" \
      -o "$single/$name-$repetition.sqlite"
}

{
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
  python3 -c 'import torch; print("PyTorch", torch.__version__)'  # also reads its files, which the first start would
  for repetition in 1 2 3 4 5; do
    run preemption "$repetition" 63 clients.scene
    if ((repetition <= 2)); then
      run reference "$repetition" 54 scenarios.scene.clients.scene scenarios.gated.clients.scene
    fi
  done
  echo "took $SECONDS s"
} >"$results/log.txt" 2>&1

for file in "$single"/*.sqlite; do
  "$build/simcli" sql "$file" --csv -c "SELECT '$(basename "$file" .sqlite)' AS file, scenario, kills.* FROM kills
      JOIN runs ON runs.id = kills.run"
done >"$results/kills.csv" 2>>"$results/log.txt"
python3 tests/hardware/live_table.py table "$single"/*.sqlite >"$results/table.md" 2>>"$results/log.txt"
tar -czf "$results/runs.tar.gz" -C "$single" .
cat "$results/table.md"
