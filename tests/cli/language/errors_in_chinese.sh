zh() {
	env LC_ALL=zh_CN.UTF-8 "$FAILSLOW" "$@" || echo "exit $?"
}
zh bench --only jsn
zh detect --nonsense
zh detect --jobs many
echo '{}' >case.json
zh report case.json
zh detect "$DATASETS/faults/slow_rank" --now 2025-06-15T15:08:00Z --output out --quiet
zh report out/failslow_slow_rank.json --svg waits
zh report out/failslow_slow_rank.json --svg pie
# A folder of the peer's files that is a link is refused.
mkdir elsewhere results
ln -s ../elsewhere results/cluster_analysis_output
zh profile "$DATASETS/profile/slow_rank" --output results --quiet --export msprof-analyze
