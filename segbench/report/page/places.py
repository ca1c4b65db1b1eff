"""How the page writes the places of files: ``GT`` and ``PRED/method``, for blind review, or as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from segbench.aggregator.result import Result
from segbench.loaders.inputs import Inputs


class Places:
    """Writes the places of results and of photographs in commands and messages, real ones if `real`."""

    def __init__(self, results: Sequence[Result], images: str | None, *, real: bool) -> None:
        self._real = real
        known: dict[str, str] = {} if images is None else {images: "IMAGES"}
        for inputs in (result.inputs for result in results if result.inputs):
            for part in (inputs, *inputs.merged):
                hidden = self.inputs(part)
                known |= {
                    place: getattr(hidden, name)
                    for name in ("ground_truth", "prediction", "field", "pairs")
                    if (place := getattr(part, name))
                }
        self._known = sorted(known.items(), key=lambda item: -len(item[0]))

    def inputs(self, inputs: Inputs) -> Inputs:
        """Give inputs with the places to be written."""
        if self._real:
            return inputs
        return replace(
            inputs,
            ground_truth="GT" if inputs.ground_truth else "",
            prediction=inputs.prediction and f"PRED/{PurePath(inputs.prediction).name}",
            field=inputs.field and "FIELD",
            pairs=inputs.pairs and PurePath(inputs.pairs).name,
            merged=tuple(map(self.inputs, inputs.merged)),
        )

    def text(self, text: str) -> str:
        """Give a message with the places to be written."""
        for real, written in () if self._real else self._known:
            # A folder may be called `p`, and is only replaced where a path begins.
            text = re.sub(rf"(?<![\w./-]){re.escape(real)}(?![\w.-])", written.replace("\\", r"\\"), text)
        return text
