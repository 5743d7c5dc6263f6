# Rank 11 left no file. Its group is a slow link where rank 10, which works beside it, comes in time to a group of its own;
# where 11 itself is slow it makes 10 late; and where no rank works beside it nobody can tell.
judge() {
	rm -rf job && "$FAILSLOW" simulate job "$@" dp=4 pp=1 steps=80 ranks_per_host=4 timelines=none noise=0.01 >/dev/null
	rm job/mspti/*.11.csv
	"$FAILSLOW" detect job --now 1750000200000000000 --output out |
		grep -oE "^[A-Z ]+[A-Z](: the link between ranks [0-9, ]+[0-9])?" | head -1
}
judge tp=4 fault="link ranks=7,11 extra_ms=150 onset=30"
judge tp=4 fault="compute ranks=11 factor=1.4 onset=30"
judge tp=4 fault="dataloader ranks=11 extra_ms=500 onset=30"
judge tp=4 fault="link ranks=10,11 extra_ms=20 onset=30"
