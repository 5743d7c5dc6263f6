LC_ALL=zh_CN.UTF-8 "$FAILSLOW" simulate --keys >keys
sed -n '$p' keys
LC_ALL=C "$FAILSLOW" simulate --keys | tail -n 1 | cmp - <(sed -n '$p' keys)
