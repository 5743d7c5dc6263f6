# A chapter of slow steps only does not show by how much they rose; the sound ones before it do.
echo '{"chapter": {"hours": 0.01}}' >config.json
"$FAILSLOW" simulate job dp=8 tp=1 step_ms=300 timelines=none overlap=true buckets=8 steps=600 fault="compute ranks=4 factor=1.3 onset=200" >truth
grep -o "with it.*" truth
"$FAILSLOW" detect job -c config.json --now 1750000230000000000 --output out | grep -E "^[A-Z]|^ +[0-9]+ +10|ms step$"
python3 -c "
import glob, json
for chapter in json.load(open(glob.glob('out/slow_node_result_*')[0]))['chapters']:
    print(chapter['verdict'], chapter['steps'], chapter['lostMsPerStep'], chapter['isTold'])"
