zh() {
	env LC_ALL=zh_CN.UTF-8 "$FAILSLOW" "$@" || echo "exit $?"
}
zh detect absent
zh profile absent
mkdir job
printf 'a,b\n1,2\n' >job/hccl_activity-10.0.0.1-.0.csv
touch job/hccl_activity-10.0.0.1-.1.csv
zh detect job
# Lines for programs stay English.
zh detect job --log-format logfmt --quiet 2>&1 | sed -n 's/.*level=error/level=error/p'
