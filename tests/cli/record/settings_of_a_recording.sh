# Settings of the tracer, seen while a recording goes on.
. "$CASES/record/tracefs.bash"
make_tracefs tracefs
export FAILSLOW_TRACEFS=$PWD/tracefs
settings tracefs >before
"$FAILSLOW" record start --cpu 1-2 --buffer-size 512 --clock tai --keep-free 0 --output first.txt --quiet --quiet
settings tracefs | grep -v record.json | diff before - || true
"$FAILSLOW" record stop --quiet --quiet
show_clock tracefs
"$FAILSLOW" record start --stat-runtime --keep-free 0 --output second.txt --quiet --quiet
settings tracefs | grep -v record.json | diff before - || true
"$FAILSLOW" record stop --quiet --quiet
