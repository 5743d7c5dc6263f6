for language in C zh_CN.UTF-8; do
	LC_ALL=$language "$FAILSLOW" detect "$DATASETS/faults/slow_rank" --now 2025-06-15T15:08:00Z --format json >$language.json
	LC_ALL=$language "$FAILSLOW" detect "$DATASETS/faults/slow_rank" --now 2025-06-15T15:08:00Z --format line >$language.line
done
cmp C.json zh_CN.UTF-8.json
cmp C.line zh_CN.UTF-8.line
