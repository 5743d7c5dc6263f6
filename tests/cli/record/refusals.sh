# Each names what is wrong and what helps; nothing is left behind.
. "$CASES/record/tracefs.bash"
export FAILSLOW_TRACEFS=$PWD/tracefs
try() {
	[ ! -d tracefs ] || show_clock tracefs
	code=0
	"$FAILSLOW" record --record-time 0.1 --keep-free 0 --output trace.txt "$@" 2>&1 || code=$?
	echo "exit code $code"
}
try
make_tracefs tracefs
try --cpu 3
try --cpu 1-
try --clock tick
try begin
try --keep-free 1000000000
echo sched:sched_switch >tracefs/set_event
try
: >tracefs/set_event
echo function >tracefs/current_tracer
try
echo nop >tracefs/current_tracer
sed -i 's|0/0|12/12|' tracefs/trace
try
sed -i 's|12/12|0/0|' tracefs/trace
rm tracefs/events/sched/sched_switch/enable
try
cat tracefs/tracing_on tracefs/events/sched/sched_waking/enable
mkdir -p tracefs/events/sched/sched_switch
echo 0 >tracefs/events/sched/sched_switch/enable
echo kept >trace.txt
try
cat trace.txt
rm trace.txt
touch trace.txt.part
try
ls
