"""Tests, in as many processes as there are cores: in each, threads would wait for each other."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
