#!/bin/sh
# Validates studies/validation/h200.yaml in parts, each on a GPU of its own, all at the same time:
#
#     tests/hardware/validate_parts.sh FOLDER PART...
#
# The first PART (1 to 4) runs on the first GPU, the second on the second, and so on. All four take about 5.5 minutes on
# four GPUs, with five repetitions (four in part 3, which is the longest). Each part publishes its predictions before it
# measures. FOLDER, which is made, then holds of each part its predictions (partN.predictions.json, their hash in
# partN.log) and what was measured (partN.sqlite.gz); scored together, they are a report (docs/validate.md). SIMCLI
# names the program, build/release/simcli if it is not set; PROCESSORS how many each part may pin to, 8 if it is not
# set: the scheduler's and one for each client.
set -eu

[ $# -ge 2 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
folder=$1
shift
experiment=$(dirname "$0")/../../studies/validation/h200.yaml
mkdir -p "$folder"

# About equal in time: of each run, its horizon and 1.7 s.
scenarios() {
  case $1 in
    1) printf '%s\n' "resnet50 and bert" "vit and cnn" "bert with vit and cnn" "streams with copies and vit" \
                     "two of mobilenetv2" "four programs" "requests beside bert" ;;
    2) printf '%s\n' "MPS resnet50 and vit" "MPS bert and encoder" "MPS mobilenetv2 and cnn" "MPS three programs" \
                     "shared by rule" ;;
    3) printf '%s\n' "paced game and bert" "uncapped game and two" "openarena and cnn" ;;
    4) printf '%s\n' "game by rule" ;;
    *) echo "there is no part $1: 1, 2, 3 and 4 are parts" >&2; return 2 ;;
  esac
}

# `validate` exits with 6 where a goal is missed, and with 7 where figures are missing: both are results.
measure() {
  part=$1 gpu=$2 count=${PROCESSORS:-8} code=0 repetitions=5
  [ "$part" != 3 ] || repetitions=4
  first=$((1 + gpu * count))
  scenarios "$part" | {
    while read -r name; do set -- "$@" --only "$name"; done
    shift 2
    ${SIMCLI:-build/release/simcli} validate "$experiment" "$@" --gpu "$gpu" --repetitions "$repetitions" --no-canary \
      --no-budget --processors "$(seq -s, "$first" $((first + count - 1)))" -j "$count" --progress none \
      -o "$folder/part$part.sqlite" --report "$folder/part$part.md" >"$folder/part$part.log" 2>&1
  } || code=$?
  gzip -9 "$folder/part$part.sqlite"
  case $code in 0 | 6 | 7) ;; *) tail -n 3 "$folder/part$part.log" >&2; return "$code" ;; esac
}

for part in "$@"; do scenarios "$part" >/dev/null; done
gpu=0 running=
for part in "$@"; do
  measure "$part" "$gpu" &
  running="$running $!"
  gpu=$((gpu + 1))
done
failed=0
for process in $running; do wait "$process" || failed=1; done
grep -H SHA-256 "$folder"/part*.log
exit $failed
