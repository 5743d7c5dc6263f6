# A folder in the place of failslow_slow_rank.json: the exported files are written all the same, and the failure is told.
mkdir -p results/failslow_slow_rank.json/kept
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --quiet --output results --export msprof-analyze || echo "exit code $?"
ls results results/cluster_analysis_output
