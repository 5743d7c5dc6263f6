# Files and folders of one job, in any order; captures of several ranks, too.
mkdir job
"$FAILSLOW" simulate job steps=80 tp=1 dp=8 pp=1 timelines=all fault="compute ranks=2 factor=1.6 onset=30" > told
"$FAILSLOW" job --format line
"$FAILSLOW" job/timeline job/mspti --format line
"$FAILSLOW" job/mspti/*.csv job/timeline job/mspti --format line
"$FAILSLOW" "$DATASETS"/profile/slow_rank/*ascend_pt --format line
"$FAILSLOW" profile "$DATASETS"/profile/slow_rank/*_400[0-3]_*ascend_pt --format line || echo "exit code $?"
"$FAILSLOW" job/mspti absent || echo "exit code $?"
