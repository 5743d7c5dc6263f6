. "$CASES/record/tracefs.bash"
make_tracefs tracefs
export FAILSLOW_TRACEFS=$PWD/tracefs
same() { sed "s|$PWD|.|; s/for [0-9.]* s/for T s/; s/pid=[0-9]*/pid=N/"; }
"$FAILSLOW" record stop 2>&1 | same
"$FAILSLOW" record start --output trace.txt | same
show_clock tracefs
"$FAILSLOW" record start --output other.txt 2>&1 | same
"$FAILSLOW" record --output other.txt 2>&1 | same
"$FAILSLOW" record stop >told
same <told
"$FAILSLOW" record stop 2>&1 | same
ls
