python3 "$DATASETS/generate_profile.py" written
diff -r written "$DATASETS/profile/slow_rank"
