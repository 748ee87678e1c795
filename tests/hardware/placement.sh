#!/usr/bin/env bash
# On which SMs blocks lie while another program runs under MPS, by threads and shared memory of both (placement.cu).
#   placement.sh FILE       writes what studies/mps-carveout/placement.csv holds; 20 s, needs nvcc and the MPS daemon
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
output=$(realpath "${1:?which file to write?}")
folder=$(mktemp -d)
export CUDA_MPS_PIPE_DIRECTORY=$folder CUDA_MPS_LOG_DIRECTORY=$folder
cleanup() {
  echo quit | nvidia-cuda-mps-control || true
  rm -rf "$folder"
}
nvcc -arch=native -O2 -o "$folder/placement" placement.cu
nvidia-cuda-mps-control -d
trap cleanup EXIT

shapes="96:32:0 96:64:0 96:128:0 96:256:0 96:512:0 96:1024:0 96:64:1000 96:128:500 96:128:1024 96:128:2048 96:128:3072
  96:128:8192 96:256:1024 96:256:5000 96:256:30000 96:512:1024 96:1024:1024 96:1024:32768"

# beside THREADS [SHARED]: kernels of 20 us with a block on each SM
beside() {
  local label=t$1${2:+s$2} neighbour
  rm -f "$folder/stop"
  timeout 30 "$folder/placement" neighbour 132 "$1" "${2:-0}" -1 20 "$folder/stop" &
  neighbour=$!
  sleep 0.5
  timeout 20 "$folder/placement" blocks "$label" $shapes >>"$output"
  touch "$folder/stop"
  wait "$neighbour"
}

echo label,blocks,threads,shared_bytes,duration_us,sms,on_the_fullest,began_within_us >"$output"
"$folder/placement" blocks alone $shapes >>"$output"
for threads in 32 64 128 256 512 1024; do beside $threads; done
for shared in 1 500 1024 2048 3000 6000 9000 11000 16000; do beside 128 $shared; done
for shared in 1024 10000 40000; do beside 512 $shared; done
