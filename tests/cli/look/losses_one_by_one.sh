# A long summary tells each occasion on which time was lost: when, how often, on which ranks, in which phase.
look() {
	"$FAILSLOW" simulate job tp=1 dp=4 pp=1 steps=200 step_ms=500 noise=0.01 "$@" > out
	"$FAILSLOW" job --long | sed -n '/^  time/,/^  [wn]/p'
	rm -r job
}
look seed=3 write=steps fault="spike onset=12 extra_ms=3000 period=20" fault="spike onset=31 until=32 extra_ms=5000"
look seed=4 write=log fault="spike onset=31 until=32 extra_ms=29000" fault="restart onset=81 back=7 extra_ms=250000"
look seed=6 fault="dataloader ranks=2 factor=3 onset=40"
look seed=7 warm_up=2 steps=60 write=log # first steps are long in each job
look seed=5 # nothing is lost
