# The verdict and its reasons in Chinese.
python3 "$CASES/functions/traces.py" traces kernels=3
LANG=zh_CN.UTF-8 LC_ALL=zh_CN.UTF-8 "$FAILSLOW" functions traces --section compute
