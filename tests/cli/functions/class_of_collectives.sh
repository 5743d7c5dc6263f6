# Only collectives of a class are told; another class has none.
python3 "$CASES/functions/traces.py" traces kernels=4
"$FAILSLOW" functions traces --class ring --long
echo
"$FAILSLOW" functions traces --class tree --long
