# A journal that is a link makes the state of another place count: the alarm is told once more, then known there.
export XDG_STATE_HOME=$PWD/elsewhere
run() {
	"$FAILSLOW" detect "$DATASETS/faults/slow_rank" --now 1750000100 --output results --exit-code --quiet 2>stderr && code=0 || code=$?
	echo "exit code $code, $(grep -c 'another file is used until it is' stderr || true) message"
}
run
run
ln -s /nowhere results/failslow_state.db-journal
run
run
rm results/failslow_state.db-journal
run
