"""Settings that all tests share."""

import hypothesis

# The first example of a property compiles, which no deadline foresees; and a change is judged by
# the same examples whenever the suite runs.
hypothesis.settings.register_profile("csdl_keras", deadline=None, derandomize=True)
hypothesis.settings.load_profile("csdl_keras")
