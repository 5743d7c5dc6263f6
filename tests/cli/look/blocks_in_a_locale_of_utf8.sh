# The same picture in blocks and in ASCII: the locale decides, and a console or a dumb terminal has no blocks.
export COLUMNS=80
"$FAILSLOW" "$DATASETS/faults/slow_link" >ascii
LC_ALL=C.UTF-8 "$FAILSLOW" "$DATASETS/faults/slow_link" >blocks
diff ascii blocks || true
LC_ALL= LC_CTYPE= LANG=en_US.utf8 "$FAILSLOW" "$DATASETS/faults/slow_link" | cmp - blocks
LC_ALL=C LANG=C.UTF-8 "$FAILSLOW" "$DATASETS/faults/slow_link" | cmp - ascii
LC_ALL=de_DE.ISO-8859-1 "$FAILSLOW" "$DATASETS/faults/slow_link" | cmp - ascii
LC_ALL=C.UTF-8 TERM=linux "$FAILSLOW" "$DATASETS/faults/slow_link" | cmp - ascii
LC_ALL=C.UTF-8 TERM=dumb "$FAILSLOW" "$DATASETS/faults/slow_link" | cmp - ascii
