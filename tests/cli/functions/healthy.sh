# Nobody is named, and --exit-code is quiet.
python3 "$CASES/functions/traces.py" traces
"$FAILSLOW" functions traces --exit-code
