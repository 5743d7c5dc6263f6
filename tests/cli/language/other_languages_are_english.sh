LC_ALL=C LANGUAGE=zh_CN "$FAILSLOW" list causes
LC_ALL=zh_TW.UTF-8 "$FAILSLOW" list causes
LC_ALL=zh_CN.UTF-8 FAILSLOW_LOCALEDIR=/absent "$FAILSLOW" list causes
