#!/bin/sh
# Stands for nvidia-cuda-mps-control: `-f` is the daemon, which is its own server; no argument its front end, which
# reads commands and fails where no daemon answers. Terminations of clients go to the file CORUN_FAKE_CUDA_LOG.
# FAKE_MPS, a list of words: broken (the daemon ends at once), deaf (it never answers), stubborn (it does not quit, nor
# end when asked).
pipe=$CUDA_MPS_PIPE_DIRECTORY/control
if [ "$1" = -f ]; then
  case $FAKE_MPS in *broken*) echo "no device for this daemon" > "$CUDA_MPS_LOG_DIRECTORY/control.log"; exit 1 ;; esac
  case $FAKE_MPS in *stubborn*) trap '' TERM ;; esac
  case $FAKE_MPS in *deaf*) ;; *) echo $$ > "$pipe" ;; esac
  while [ ! -e "$pipe.quit" ]; do sleep 0.01; done
  exit 0
fi
[ -e "$pipe" ] || { echo "Cannot find MPS control daemon process"; exit 1; }
while read -r command; do
  echo "$command" >> "$CUDA_MPS_LOG_DIRECTORY/commands"
  case $FAKE_MPS in *stubborn*) continue ;; esac
  case $command in
    quit) touch "$pipe.quit" ;;
    get_server_list) cat "$pipe" ;;
    terminate_client*) sleep 0.1; [ -z "$CORUN_FAKE_CUDA_LOG" ] || echo "$command" >> "$CORUN_FAKE_CUDA_LOG" ;;
  esac
done
exit 0
