# One rank in eight left no file, and work moves between ranks: waits for those that were not seen come and go.
"$FAILSLOW" simulate job tp=4 dp=4 pp=4 ranks_per_host=8 micro_batches=8 pairs=1 schedule=1f1b p2p=send-receive steps=40 noise=0.01 \
	hetero=0.01 timelines=first step_ms=1500 seed=63604940860131 lost=8 fault='sequence factor=0.352197 onset=0' >/dev/null
"$FAILSLOW" detect job --now 1750000200000000000 --output out | grep -oE "^[A-Z ]+:"
