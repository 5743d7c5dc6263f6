# Of the eight ranks of the first job six are not in the second one; files of others stay.
list() { (cd job && printf '%s\n' * */* | LC_ALL=C sort); }
"$FAILSLOW" simulate job tp=8 dp=1 steps=60 timelines=all compression=gz fault="compute ranks=3 factor=1.5" >/dev/null
touch job/notes.txt job/mspti/notes.csv job/mspti/hccl_activity-10.1.0.1-.x.csv job/timeline/host-a--00000.timeline
"$FAILSLOW" simulate job tp=2 dp=1 steps=60
list
now=$(sed -n 's/.*"now_ns":[^0-9]*\([0-9]*\).*/\1/p' job/truth.json)
rm job/mspti/*.x.csv job/mspti/notes.csv job/timeline/host-a*
"$FAILSLOW" detect job --now "$now" --output out | sed -n 1,3p
