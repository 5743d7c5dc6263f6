# Two ranks are slow in different functions; both are named, the others wait.
python3 "$CASES/functions/traces.py" traces python=2 kernels=5
"$FAILSLOW" functions traces --long --exit-code
