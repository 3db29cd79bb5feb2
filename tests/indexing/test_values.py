"""The value code: every code and its value, and values that have none."""

import pytest

from solver.indexing.values import DRAW, LOST, Metric, Value, decode, encode


@pytest.mark.parametrize(("metric", "codes"), [(Metric.DTM, 1 << 16), (Metric.DTC, 1 << 16), (Metric.WDL, 3)])
def test_every_code_is_that_of_its_value(metric: Metric, codes: int) -> None:
    values = [decode(code, metric) for code in range(codes)]
    assert [encode(value, metric) for value in values] == list(range(codes))
    assert len(set(values)) == codes


@pytest.mark.parametrize("metric", Metric)
def test_parity_says_who_wins(metric: Metric) -> None:
    assert {decode(code, metric).wdl for code in range(2, 500, 2)} == {1}
    assert {decode(code, metric).wdl for code in range(1, 500, 2)} == {-1}
    assert decode(DRAW, metric) == Value(0)


@pytest.mark.parametrize(
    ("metric", "code", "value"),
    [
        (Metric.DTM, 1, Value(-1, 0)),
        (Metric.DTM, 2, Value(1, 1)),
        (Metric.DTM, 205, Value(-1, 204)),
        (Metric.DTC, 1, Value(-1, 0)),
        (Metric.DTC, 2, Value(1, 1)),
        (Metric.DTC, 3, Value(-1, 1)),
        (Metric.DTC, 200, Value(1, 100)),
        (Metric.WDL, 1, Value(-1)),
        (Metric.WDL, 2, Value(1)),
    ],
)
def test_codes_by_hand(metric: Metric, code: int, value: Value) -> None:
    assert decode(code, metric) == value
    assert encode(value, metric) == code


@pytest.mark.parametrize("metric", [Metric.DTM, Metric.DTC])
def test_longer_distances_have_larger_codes(metric: Metric) -> None:
    for first in (1, 2):
        depths = [decode(code, metric).depth for code in range(first, 1000, 2)]
        assert depths == sorted(depths)
        assert len(set(depths)) == len(depths)


def test_a_finished_game_has_the_same_code_under_every_metric() -> None:
    assert [decode(LOST, metric).wdl for metric in Metric] == [-1, -1, -1]
    assert decode(LOST, Metric.DTM) == decode(LOST, Metric.DTC) == Value(-1, 0)


def test_a_depth_does_not_matter_where_none_is_kept() -> None:
    assert encode(Value(1, 17), Metric.WDL) == encode(Value(1), Metric.WDL)
    assert encode(Value(0, 17), Metric.DTM) == DRAW


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        (Metric.DTM, Value(1)),
        (Metric.DTM, Value(-1)),
        (Metric.DTM, Value(1, 2)),
        (Metric.DTM, Value(-1, 3)),
        (Metric.DTM, Value(1, 0)),
        (Metric.DTM, Value(-1, -2)),
        (Metric.DTC, Value(1, 0)),
        (Metric.DTC, Value(1)),
        (Metric.DTC, Value(-1, -1)),
    ],
)
def test_values_without_a_code(metric: Metric, value: Value) -> None:
    with pytest.raises(ValueError, match=r"Value\(wdl="):
        encode(value, metric)
