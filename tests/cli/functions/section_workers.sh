# Launches of rank 2 take long: a table of all workers, one of two, and one worker in words.
python3 "$CASES/functions/traces.py" traces calls=2
"$FAILSLOW" functions traces --section workers
echo
"$FAILSLOW" functions traces --section workers --worker 2,5
echo
"$FAILSLOW" functions traces --long
echo
LANG=zh_CN.UTF-8 LC_ALL=zh_CN.UTF-8 "$FAILSLOW" functions traces --section workers --worker 2
