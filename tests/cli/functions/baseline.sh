# Beside a baseline: kernels that all take longer, a function of Python, copies that are more, one rank; itself; others.
all=0,1,2,3,4,5,6,7
python3 "$CASES/functions/traces.py" before
for fault in kernels=$all python=$all copies=$all kernels=3 model=$all; do
	python3 "$CASES/functions/traces.py" after $fault
	echo "$fault"
	"$FAILSLOW" functions after --baseline before --exit-code | sed -n '/Baseline/,/Computing/p' | sed '$d'
	"$FAILSLOW" functions after --baseline before --exit-code > /dev/null || echo "exit code $?"
done
"$FAILSLOW" functions before --baseline before --exit-code | grep Baseline
"$FAILSLOW" functions before --baseline after --section python --function tokens | grep Baseline
"$FAILSLOW" functions before --baseline "$DATASETS/profile/slow_rank" | grep -A 1 Baseline
