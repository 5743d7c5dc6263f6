cp -r "$DATASETS/profile/slow_rank" set
find set -exec stat --format='%n %s %y' {} + | sort > before
"$FAILSLOW" profile set --quiet --output results --export msprof-analyze
find set -exec stat --format='%n %s %y' {} + | sort | diff before -
