LC_ALL=zh_CN.UTF-8 "$FAILSLOW" --help
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" history --help
