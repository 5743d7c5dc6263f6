# A trace without fields is refused by name.
printf '# tracer: nop\n#\n27252 1 1334125974657 type: 366\n' > raw.txt
"$FAILSLOW" hostbound raw.txt
