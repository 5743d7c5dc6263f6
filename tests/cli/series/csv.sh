awk 'BEGIN { print "time,value"; for (i = 0; i < 60; i++) print "2025-06-" (i + 1) "," (i < 40 ? 100 : 130) + (i * 7) % 5 }' > times.csv
"$FAILSLOW" series --format csv times.csv
