# The document of one section, for a worker that stands out and one that does not.
python3 "$CASES/functions/traces.py" traces calls=3
"$FAILSLOW" functions traces --section runtime --worker 0,3 --format json
