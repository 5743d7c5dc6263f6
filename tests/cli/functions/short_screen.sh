# Many culprits in several sections still fit 24 lines; --long tells all of them.
python3 "$CASES/functions/traces.py" traces python=1 kernels=5 copies=6
"$FAILSLOW" functions traces > short
"$FAILSLOW" functions traces --long > long
test "$(wc -l < short)" -le 24
cat short
echo
cat long
