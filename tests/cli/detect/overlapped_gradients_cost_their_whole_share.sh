# In truth 12.9 % of the step are lost: other replicas run the second bucket when the slow one has ended the first.
"$FAILSLOW" simulate job tp=2 dp=4 pp=2 overlap=true buckets=2 schedule=1f1b micro_batches=4 steps=60 fault="compute ranks=3 factor=1.3 onset=20" >/dev/null
"$FAILSLOW" detect job --now 1750000154959570996 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
