from csdl_keras.training.schedule import Stage, run_stages


class Jobs:
    """Jobs whose stages are letters; those of two jobs with the same beginning are equal."""

    def __init__(self, failing=(), keeps=True, done=()):
        self.failing, self.keeps = failing, keeps
        self.done, self.run = set(done), []

    def next_stage(self, job):
        if "?" in job:
            raise OSError(f"no {job}")
        for end in range(1, len(job) + 1):
            if job[:end] not in self.done:
                return Stage(job[:end], (self.work, job[:end]), size=len(job))
        return None

    def work(self, key):
        self.run.append(key)
        if key in self.failing:
            raise RuntimeError(key)
        return key

    def results(self, jobs):
        found = []
        for finished in run_stages(jobs, self.next_stage):
            if finished.error is None and self.keeps:
                self.done.add(finished.result)
            found.append((sorted(finished.jobs), finished.error and str(finished.error)))
        return found


class TestRunStages:
    def test_equal_stages_run_once_and_the_longest_first(self):
        jobs = Jobs()
        found = jobs.results(["ab", "ac", "def", "d"])
        assert jobs.run == ["d", "a", "de", "ab", "ac", "def"]
        assert found[:2] == [(["d", "def"], None), (["ab", "ac"], None)]

    def test_what_is_done_does_not_run(self):
        jobs = Jobs(done=("a", "ab"))
        assert jobs.results(["ab", "ac"]) == [(["ac"], None)]
        assert jobs.run == ["ac"]

    def test_a_failure_costs_the_jobs_that_need_it(self):
        jobs = Jobs(failing=("a",))
        found = jobs.results(["ab", "ac", "de", "f?"])
        assert found == [(["f?"], "no f?"), (["ab", "ac"], "a"), (["de"], None), (["de"], None)]
        assert jobs.run == ["a", "d", "de"]

    def test_a_result_that_is_not_kept_runs_once(self):
        assert Jobs(keeps=False).results(["ab"]) == [(["ab"], None)]
