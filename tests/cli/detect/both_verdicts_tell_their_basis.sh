# The verdict of perception says, as the other one does, which ranks are missing and what was read.
cp -r "$DATASETS/faults/missing_rank/." .
"$FAILSLOW" detect . --output out --now 1750000039 --quiet
for verdict in out/fail_slow_perception_result_* out/slow_node_result_*; do
	grep -oE '"(ranksExpected|ranksSeen|rowsRead|bytes|instances|clockOffsetMaxMs)": *[0-9.]+' $verdict | tr -d '\n'
	echo
done
