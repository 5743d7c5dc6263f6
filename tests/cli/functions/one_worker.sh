# What the time of a rank went to, and where it stands out.
python3 "$CASES/functions/traces.py" traces kernels=3
"$FAILSLOW" functions traces --worker 3 --section communication
