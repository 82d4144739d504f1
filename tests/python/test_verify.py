"""Verdicts as Python sees them."""

import mirage as mi
import pytest


def build(op):
    graph = mi.Graph()
    x = graph.input((4, 8))
    getattr(graph, op)(x)
    return graph


def test_a_graph_equals_itself():
    verdict = mi.verify(build("exp"), build("exp"))
    assert (
        verdict
        and verdict.answer == "equivalent"
        and verdict.method == "identical"
        and verdict.all_sizes
    )
    assert (
        str(verdict).startswith("equivalent")
        and verdict.output_order == [0]
        and verdict.witness is None
    )


def test_different_programs_are_not_equivalent():
    verdict = mi.verify(build("exp"), build("square"))
    assert not verdict and verdict.answer == "different" and verdict.reason


def test_programs_of_other_inputs_are_refused():
    other = mi.Graph()
    other.exp(other.input((4, 9)))
    with pytest.raises(ValueError, match="input 0"):
        mi.verify(build("exp"), other)
