# Sentences of a handler of signals, and of one that OpenMP's end of the program calls.
zh="env LC_ALL=zh_CN.UTF-8 $FAILSLOW"
mkfifo endless
exec 3<> endless
echo '{"max_run_minutes": 0.0002, "fail_slow_perception_path": "results", "slow_node_detection_path": "results"}' > config.json
for form in text logfmt; do
	code=0
	$zh detect --config config.json --log-format "$form" - < endless 2> messages || code=$?
	echo "exit code $code"
	sed 's/time=[^ ]*/time=TIME/; s/, file=.*//; s/stage=[^,]*/stage=STAGE/' messages
done
# OpenMP's stacks are larger than any address space.
OMP_STACKSIZE=200000G $zh detect "$DATASETS/faults/slow_rank" -j 2 --output results --quiet 2> messages || echo "exit code $?"
grep '^failslow: ' messages
