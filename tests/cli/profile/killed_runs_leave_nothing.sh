# What a killed run left is removed by the next one, an hour later; files of others stay.
mkdir -p out/cluster_analysis_output
for folder in out out/cluster_analysis_output; do
	touch -d '2 hours ago' "$folder/.failslow.17.0.tmp" "$folder/.failslow.others"
	touch "$folder/.failslow.18.3.tmp"
done
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --output out --export msprof-analyze --quiet
find out -name '.*' | LC_ALL=C sort
