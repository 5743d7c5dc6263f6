# All ranks of a host become slower by the same factor. One of them is a fast device, and costs little as the others are slower still.
for seed in 2 4; do
	rm -rf job
	"$FAILSLOW" simulate job tp=4 dp=4 pp=1 ranks_per_host=4 micro_batches=2 steps=100 noise=0.01 hetero=0.03 timelines=none \
		step_ms=2000 seed=$seed fault="compute ranks=4-7 factor=1.15 onset=40" >/dev/null
	"$FAILSLOW" detect job --now 1750000463834462986 --output out | grep -oE "^[A-Z ]+: host [0-9.]+ \(ranks [0-9-]+\)"
done
