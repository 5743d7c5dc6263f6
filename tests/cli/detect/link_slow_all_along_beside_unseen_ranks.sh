# A link slow from the first step on, with nothing but groups of unseen members beside it: what those take is the transfer at most.
# Ranks 8 and 0 left no file, the group of 9, 11, 13, 15 is slow; then 3 of a slow group itself, and 2, which works beside it, came in
# time; where 8 itself is slow and was not seen, nobody is named.
judge() {
	lost=$1
	shift
	rm -rf job out && "$FAILSLOW" simulate job "$@" tp=2 dp=4 steps=60 ranks_per_host=4 timelines=none noise=0.01 >/dev/null
	for rank in $lost; do rm job/mspti/*."$rank".csv; done
	"$FAILSLOW" detect job --now 1750000200000000000 --output out |
		grep -oE "^[A-Z ]+[A-Z](: the link between ranks [0-9, ]+[0-9])?" | head -1
}
judge "0 8" pp=2 fault="link ranks=11,13 extra_ms=400 onset=0"
judge "3" pp=1 fault="link ranks=1,5 extra_ms=400 onset=0"
judge "8" pp=2 fault="compute ranks=8 factor=1.4 onset=0"
judge "0 8" pp=2 fault="compute ranks=8 factor=1.4 onset=0"
