# Rank 7 is slow and left no data; that there is one only shows where rank 6 is alone in its tensor-parallel communicator.
"$FAILSLOW" simulate job tp=2 dp=4 steps=60 seed=5 fault="compute ranks=7 factor=1.4 onset=25" >/dev/null
rm job/mspti/*.7.csv job/model_config.json
"$FAILSLOW" detect job --now 1750000200000000000 --output out
