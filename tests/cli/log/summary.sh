# Stamps tell the times: the summary is the same wherever the log was copied to.
"$FAILSLOW" "$DATASETS/logs/megatron_stamped.log"
