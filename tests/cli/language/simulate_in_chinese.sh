zh() {
	env LC_ALL=zh_CN.UTF-8 "$FAILSLOW" simulate "$@" || echo "exit $?"
}
zh --keys
zh job tp=2 dp=2 steps=40 fault="compute ranks=1 factor=1.3 onset=10 until=30"
zh --dry-run job tp=2 dp=3 pp=1 steps=20 ranks_per_host=2
zh job step=3
zh job steps=-3
zh job overlap=maybe
zh job chunks=3
zh job fault=compute
zh job fault=comput
zh job family=fsdb
