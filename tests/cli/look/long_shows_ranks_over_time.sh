export COLUMNS=80
for job in slow_rank slow_dataloader; do
	"$FAILSLOW" "$DATASETS/faults/$job" --long
done
LC_ALL=C.UTF-8 "$FAILSLOW" "$DATASETS/faults/slow_rank" --long >blocks
grep -A 12 'over time' blocks
