from __future__ import annotations

from ctxweb.beside import BackOff


def test_the_pause_doubles_until_a_process_lives_for_a_minute() -> None:
    back_off = BackOff()
    assert [back_off.after(lived) for lived in (0, 0, 60, 0, 0, 0, 0)] == [1, 2, 4, 8, 16, 30, 30]
    assert [back_off.after(lived) for lived in (60.1, 0)] == [0.5, 1]
