# Without valgrind the other figures are there.
PATH=/nowhere "$FAILSLOW" bench --size 1 --runs 1 --only csv --instructions --dir . | tail -n 3
