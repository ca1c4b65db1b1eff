"""segbench benchmarks edge detectors and segmentation models: images to counts, counts to curves and metrics.

Everything public is a name of this module and is loaded when first used. Begin with:

- ``evaluate(gt, pred, protocol)``: the `Result` of two folders; ``result.summary`` has its metrics.
- ``Pixels``, ``Labels``, ``Boundaries``, ``Regions``, ``Saliency``, ``Contours``, ``Centerlines``, ``Objects``,
  ``Anomalies``: the protocols, with their settings.
- ``Accumulator(protocol)``: the same batch by batch, in a training loop.
- ``compare_results([ours, theirs])``: which is better, and how sure that is.
- ``count(ground_truth, prediction, protocol)``: the counts of one image, for metrics and curves such as ``auc_pr``.
- ``load_results(file)``: what a run saved; ``export_report(results, file)``: the page.
"""

from segbench._version import __version__ as __version__


def __getattr__(name: str) -> object:
    """Load a public name; the list of all is read with the first, so that the command line starts without it."""
    import lazy_loader

    load, listed, names = lazy_loader.attach_stub(__name__, __file__)

    def load_or_answer(name: str) -> object:
        """Load a public name, or say what to write for one that there is not."""
        try:
            return load(name)
        except AttributeError as error:
            if name.startswith("_") or name in names:
                raise
            from segbench.protocols.guesses import name_meant

            meant = name_meant(name, names)
            raise AttributeError(f"{error}; {meant}" if meant else str(error), name=name, obj=error.obj) from None

    globals().update(__getattr__=load_or_answer, __dir__=listed, __all__=[*names, "__version__"])
    return globals()["__all__"] if name == "__all__" else load_or_answer(name)


def __dir__() -> list[str]:
    """Name all that is public."""
    __getattr__("__all__")
    return list(globals()["__all__"])
