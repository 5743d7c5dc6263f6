# Rank 1 comes late; no function tells why, but its device is idle.
python3 "$CASES/functions/traces.py" traces wait=1
"$FAILSLOW" functions traces
