# A range that ends before it begins says so with both ends.
"$FAILSLOW" detect . --from 2025-06-15T15:08:00Z --to 2025-06-15T15:07:00Z
