LC_ALL=zh_CN.UTF-8 "$FAILSLOW" list detectors
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" list formats
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" list metrics
