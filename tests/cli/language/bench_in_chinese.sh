LC_ALL=zh_CN.UTF-8 "$FAILSLOW" bench --size 1 --runs 1 --only cache,detect,detect-again | sed 's/[0-9.]\+/N/g; s/  */ /g'
