# The verdict and its reasons in Chinese.
python3 "$CASES/hostbound/traces.py" job marks hog=10-20
LANG=zh_CN.UTF-8 LC_ALL=zh_CN.UTF-8 "$FAILSLOW" hostbound job
