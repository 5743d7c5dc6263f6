# Nor is a folder made where a link points to.
mkdir out
ln -s "$PWD/absent" out/cluster_analysis_output
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --quiet --output out --export msprof-analyze
