# Their steps are explained by checkpoints, however long these take; the job is slower all the same.
"$FAILSLOW" simulate job tp=4 dp=2 steps=100 ckpt=10 timelines=all fault="storage ranks=all extra_ms=6000 onset=50" >/dev/null
"$FAILSLOW" detect job --output out --now 2025-06-15T15:09:59Z --exit-code | sed -n '/^JOB/,/rows  /p'
grep -oE '"(onsetStep|of)": *[^,]*' out/fail_slow_perception_result_*
