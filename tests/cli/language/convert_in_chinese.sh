for data in faults/hang profile/slow_rank; do
	LC_ALL=zh_CN.UTF-8 "$FAILSLOW" convert "$DATASETS/$data" -o job.json || echo "exit $?"
done
