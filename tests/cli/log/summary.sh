# Stamps tell the times: the summary is the same wherever the log was copied to.
"$FAILSLOW" "$DATASETS/logs/megatron_stamped.log"
# A log without stamps that was written two hours ago is no job that hangs, unless the present is told.
cp "$DATASETS/logs/megatron.log" .
touch -d '2 hours ago' megatron.log
"$FAILSLOW" megatron.log --format line
"$FAILSLOW" megatron.log --format line --now "$(date -u +%FT%TZ)" | cut -c1-5
