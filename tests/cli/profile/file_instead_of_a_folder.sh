# A file of a capture is read by itself; another file is refused.
cp "$DATASETS"/profile/slow_rank/*_4000_*/ASCEND_PROFILER_OUTPUT/step_trace_time.csv .
echo no capture > notes.csv
"$FAILSLOW" profile step_trace_time.csv --format line
"$FAILSLOW" step_trace_time.csv --format line
cp "$DATASETS"/profile/slow_rank/*_4000_*/ASCEND_PROFILER_OUTPUT/op_statistic.csv .
"$FAILSLOW" op_statistic.csv step_trace_time.csv --format line
mkdir broken
: > broken/rank0.json
"$FAILSLOW" profile broken || echo "exit code $?"
"$FAILSLOW" functions broken/rank0.json || echo "exit code $?"
"$FAILSLOW" profile notes.csv
