# Names and keys of filters stay as they are; columns are as wide as they look.
zh() {
	env LC_ALL=zh_CN.UTF-8 "$FAILSLOW" eval "$@" || echo "exit $?"
}
zh quick --limit 3 --baselines none --gates
zh families --filter 'topology=fsdp,fault=clean' --limit 1 --output out
grep '^#' out/report.md
