"""One call of `fit`: seeded, resumable, checked and cached."""
