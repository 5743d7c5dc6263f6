awk 'BEGIN { for (i = 0; i < 20; i++) print (i < 10 ? 10 : 20) + i % 3 }' | "$FAILSLOW" series - --p-max 1e-12
