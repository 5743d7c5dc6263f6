# Nobody is suspected: logs do not tell who waits for whom.
mkdir logs
for rank in 0 1 2 3; do cp "$DATASETS/logs/megatron_stamped.log" "logs/worker_$rank.log"; done
head -57 "$DATASETS/logs/megatron_stamped.log" >logs/worker_2.log # its last lines were not written
"$FAILSLOW" detect logs --now 2025-06-15T16:00:00Z
