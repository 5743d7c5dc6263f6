# Of two workers nobody knows which is right.
python3 "$CASES/functions/traces.py" traces ranks=2 kernels=1
"$FAILSLOW" functions traces
