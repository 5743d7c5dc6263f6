# Categories that say nothing: the user tells what processes and categories are; names of processes stand behind all else.
python3 "$CASES/functions/ack.py" traces reads=2 form=other
lanes="--lane ^os$=syscall --lane ^Interp=python --lane ^Library=cudalib --lane ^Device=kernel"
"$FAILSLOW" functions traces $lanes
"$FAILSLOW" profile traces $lanes --format line
"$FAILSLOW" functions traces --lane '^os$=cpu' --lane Device=kernel --section python --format json |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["python"])'
"$FAILSLOW" functions traces
