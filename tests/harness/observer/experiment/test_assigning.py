"""A unit is always in the same arm, and many units are in both to the same number."""

from hashlib import sha256

from misstep_harness.observer.experiment.running import arm_of


def test_the_arm_is_the_parity_of_the_first_eight_bytes_of_a_hash_over_experiment_and_unit() -> None:
    for number in range(20):
        digest = sha256(f"live:engineer-{number}".encode()).hexdigest()
        expected = "guide" if int(digest[:16], 16) % 2 else "control"
        assert arm_of("ab", "live", f"engineer-{number}") == expected


def test_units_are_divided_evenly_and_anew_in_another_experiment() -> None:
    units = [f"session-{number}" for number in range(4_000)]
    first = [arm_of("shadow", "first", unit) for unit in units]
    second = [arm_of("shadow", "second", unit) for unit in units]
    assert abs(first.count("guide") - 2_000) < 130  # four standard errors
    assert abs(sum(a == b for a, b in zip(first, second, strict=True)) - 2_000) < 130
