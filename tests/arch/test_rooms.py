"""The picture of the rooms is that of the code, and shows a house: no arrow up, no circle."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter

import pytest

from scripts import rooms

CONTRACTS = re.findall(r"<!-- rooms: ([^>]+) -->", rooms.FILE.read_text(encoding="utf-8"))


def test_the_picture_is_that_of_the_code():
    """After moving something: python scripts/rooms.py."""
    text = rooms.FILE.read_text(encoding="utf-8")
    assert len(CONTRACTS) == 2
    assert text == rooms.written(text)


@pytest.mark.parametrize("contract", CONTRACTS)
def test_no_arrow_points_up_and_none_leads_back(contract):
    house = rooms.house(contract)
    assert rooms.rising(house) == []
    assert rooms.circles(house) == []


def test_no_modules_import_each_other_in_a_circle():
    """Inside a room, too, and for types alone."""
    graph = rooms.imports()
    order = TopologicalSorter({module: graph.find_modules_directly_imported_by(module) for module in graph.modules})
    assert graph.modules <= set(order.static_order())


def test_an_arrow_up_and_a_circle_would_be_found():
    up = {"high": {"low", "beside"}, "beside": set(), "low": {"high"}}
    house = rooms.House((rooms.Storey(("high", "beside"), together=False), rooms.Storey(("low",), together=False)), up)
    assert rooms.rising(house) == ["high → beside", "low → high"]
    assert rooms.circles(house) == ["high → low → high", "low → high → low"]
