cp -r "$DATASETS/faults/slow_dataloader" job
before=$(find job -type f -exec sha256sum {} + | sort)
"$FAILSLOW" convert job -q -o job.json
"$FAILSLOW" convert job -q -o job.pftrace
test "$before" = "$(find job -type f -exec sha256sum {} + | sort)"
