# A job whose log tells its end is over: what slowed it is told in the past, and nobody is paged.
"$FAILSLOW" simulate job write=log steps=80 fault="compute ranks=3 factor=1.25 onset=31" seed=7 >out.txt
"$FAILSLOW" detect --config job/model_config.json --now 2025-06-15T16:20:00Z --exit-code=state
echo "exit code $?"
# The same job, cut before its last step, stands still.
head -n -1 job/log/training.log >cut.log
"$FAILSLOW" detect cut.log --now 2025-06-15T16:20:00Z
