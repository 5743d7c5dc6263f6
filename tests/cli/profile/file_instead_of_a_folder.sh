cp "$DATASETS"/profile/slow_rank/*_4000_*/ASCEND_PROFILER_OUTPUT/step_trace_time.csv .
"$FAILSLOW" profile step_trace_time.csv
