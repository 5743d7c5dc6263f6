# Rank 6 copies 21 times as often.
python3 "$CASES/functions/traces.py" traces copies=6
"$FAILSLOW" functions traces
