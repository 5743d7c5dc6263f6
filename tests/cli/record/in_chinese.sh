. "$CASES/record/tracefs.bash"
make_tracefs tracefs
export FAILSLOW_TRACEFS=$PWD/tracefs
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" record --cpu 0 --record-time 0.1 --keep-free 0 --output trace.txt 2>&1 | sed 's/[0-9.]* 秒/T 秒/'
show_clock tracefs
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" record --cpu 5 --keep-free 0 --output other.txt 2>&1 || true
