# A function of Python takes 5 ms longer on rank 2: it is named, not its caller, and nobody's kernels.
python3 "$CASES/functions/traces.py" traces python=2
"$FAILSLOW" functions traces
