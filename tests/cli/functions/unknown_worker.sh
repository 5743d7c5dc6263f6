# A rank that is not in the set is refused.
python3 "$CASES/functions/traces.py" traces
"$FAILSLOW" functions traces --worker 3,9
