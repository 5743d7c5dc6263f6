# Ranks are numbered in no order, so that the places in pipeline groups say nothing of the stage.
"$FAILSLOW" simulate job tp=2 dp=4 pp=2 ranks_per_host=4 micro_batches=4 pairs=1 schedule=1f1b steps=60 timelines=none \
	seed=2 relabel_by=9 fault="stage ranks=0 factor=1.2 onset=0" >/dev/null
"$FAILSLOW" detect job --now 1750000150000000000 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|why"
