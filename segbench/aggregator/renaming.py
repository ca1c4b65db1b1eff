"""Names of methods as they are printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from segbench.aggregator.result import Result
from segbench.core.errors import ArgumentError
from segbench.core.messages import Message, Setting
from segbench.core.names import first_names

_LISTED = 20


def renamed_results(results: Sequence[Result], names: Mapping[str, str]) -> list[Result]:
    """Return results with the names that are printed; an unknown method, or one name for two, is an error."""
    printed = {result.method: names.get(result.method, result.method) for result in results}
    unknown = [name for name in names if name not in printed]
    if unknown:
        raise ArgumentError(
            Message(
                "unknown-method",
                "{names} {unknown}: no method is called so; methods are {known}",
                names=Setting("names", None),
                unknown=unknown,
                known=first_names([*printed], _LISTED),
            )
        )
    shared = [name for name, methods in Counter(printed.values()).items() if methods > 1]
    if shared and names:
        raise ArgumentError(
            Message(
                "same-name",
                "{names}: {methods: and } would both be printed as {shared!r}; give them different names",
                names=Setting("names", None),
                methods=[method for method, name in printed.items() if name == shared[0]],
                shared=shared[0],
            )
        )
    return [replace(result, method=printed[result.method]) for result in results]
