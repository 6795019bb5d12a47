"""Frames remember what was made of them, each for itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discreet.lab.study.frame import StudyFrame
from discreet.lab.study.models.truth import counted


def test_a_frame_remembers_what_was_made_of_it_and_no_other_frame_does(make_frame: Callable[..., StudyFrame]) -> None:
    frame = make_frame({"region": [0, 1, 1], "answer": [0, 1, 2], "size": [0, 5, 9]})
    made = counted(frame, frame.column("answer"))
    assert counted(frame, frame.column("answer")) is made
    fewer = frame.sample(np.array([1, 2]))
    assert counted(fewer, fewer.column("answer")).tolist() == [[0, 0, 0], [0, 1, 1]]
    heavier = replace(frame, weights=2 * frame.weights)
    assert counted(heavier, heavier.column("answer")).tolist() == (2 * made).tolist()
    answers = replace(frame.column("answer"), positions=np.array([0, 0, 0]))
    assert counted(frame, answers).tolist() == [[1, 0, 0], [2, 0, 0]]
