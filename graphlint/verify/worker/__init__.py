"""What runs inside the worker processes; started as `python -m graphlint.verify.worker.zygote`, never
imported elsewhere."""
