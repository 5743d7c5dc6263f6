# Nothing is written where a link in the folder of the results points to.
mkdir results elsewhere
echo mine > elsewhere/communication_group.json
ln -s ../elsewhere results/cluster_analysis_output
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --quiet --output results --export msprof-analyze || echo "exit $?"
ls elsewhere
cat elsewhere/communication_group.json
