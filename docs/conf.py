"""Settings of the documentation; ``python -m sphinx -W --keep-going -n docs site`` builds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.addnodes import index
from sphinx.transforms import SphinxTransform

import segbench

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator as HTMLTranslator

    from segbench.cli.command import Command

project = "segbench"
project_copyright = "the developers of segbench"
version = release = segbench.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
]
templates_path = ["_templates"]
default_role = "autolink"
highlight_language = "text"
smartquotes = False  # --option must stay as it is typed
nitpick_ignore_regex = [
    ("py:obj", r"[a-z_]+"),  # parameters
    ("py:obj", r"(segbench\.\w+|concurrent|skimage)\..*"),  # inner modules and other libraries
]

nb_execution_mode = "off"  # tests/test_notebooks.py executes them, and compares what is stored
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # the parameters' own text says types, with shapes
autosummary_generate = ["api"]
numpydoc_show_class_members = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

html_theme = "furo"
html_math_renderer = "mathml"  # by the browser itself, so that pages need no network
html_title = f"segbench {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]


SYNONYMS = {
    "answers": "significance, significant, better, winner",
    "batch": "resume, interrupted",
    "clusters": "slurm, dask, parallel",
    "commands/nms": "non-maximum suppression, thinning",
    "comparing": "statistical test, bootstrap, confidence interval, error bar, p-value, wilcoxon, t-test, bonferroni",
    "faq": "colab, jupyter, kaggle, seaborn",
    "figure": "qualitative, qualitative results, examples of images",
    "ground_truth": "ignore index, ignore_index, ignore label, field of view",
    "metrics/auc-pr": "auprc, pr auc",
    "metrics/auc-roc": "auroc, roc auc",
    "metrics/average-precision": "ap",
    "metrics/calibration-error": "calibration, ece",
    "metrics/coco-ap": "map, mean average precision, coco",
    "metrics/dice": "dice, dsc, f1, f-score, f1 score, dice score",
    "metrics/hausdorff": "hd95, hd, hausdorff",
    "metrics/iou": "iou, jaccard",
    "metrics/miou": "miou, mean iou",
    "metrics/nsd": "surface dice, nsd, normalized surface dice",
    "metrics/pq": "panoptic quality, pq",
    "metrics/surface-distance": "assd, asd, masd",
    "notebooks/frameworks": "lightning, hugging face, huggingface, transformers, ddp, distributed",
    "overlays": "visualization, visualize, error map",
    "paper": "latex table",
    "plots": "violin, boxplot, box plot, histogram, bar plot, matplotlib",
    "presets": "cityscapes, drive, coco-stuff, pascal voc, ade20k",
    "random": "seeds, seed, cross-validation, cross validation, folds, patients, patient",
    "repairs": "resize, rescale, logits, sigmoid",
    "saliency": "camouflaged, camouflage",
    "training_loops": "wandb, tensorboard, mlflow, gpu, cuda, validation loop",
    "volumes": "3d, nifti, ct, mri, nnunet, nnu-net, medical",
}
"""Words that readers search for, by the page that answers them; the search shows this page first."""


def setup(app: Sphinx) -> None:
    """Add the pages of commands, formulas, and the dark variants of pictures."""
    app.connect("source-read", _add_commands)
    app.add_html_math_renderer("mathml", (_write_formula, _nothing), (_write_formula, _nothing))
    app.add_transform(DarkPictures)
    app.add_transform(ShortCode)
    app.add_transform(Synonyms)
    app.connect("build-finished", _name_landmarks)


_NAMED = {
    # Long lines and wide tables are scrolled, with keys too.
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    'role="heading"': 'role="heading" aria-level="2"',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
}
"""What the theme leaves out for readers who hear a page, and what they need."""


def _name_landmarks(app: Sphinx, problem: Exception | None) -> None:
    """Name the parts of each page that was written."""
    if problem is None:
        for page in Path(app.outdir).rglob("*.html"):
            text = page.read_text("utf-8")
            for lacking, named in _NAMED.items():
                text = text.replace(lacking, named)
            page.write_text(text, "utf-8")


def _write_formula(page: HTMLTranslator, formula: nodes.Element) -> None:
    """Write a formula in MathML, converted by docutils."""
    block = isinstance(formula, nodes.math_block)
    mathml = tex2mathml(formula.astext(), as_block=block)
    page.body.append(f'<div class="formula" tabindex="0">{mathml}</div>' if block else mathml)
    raise nodes.SkipNode


def _nothing(_: HTMLTranslator, __: nodes.Element) -> None:
    """Write nothing after a formula."""


class DarkPictures(SphinxTransform):
    """Show NAME-dark.png instead of NAME.png on dark pages, where there is one."""

    default_priority = 400

    def apply(self, **_: Any) -> None:  # noqa: ANN401  as Sphinx declares it
        """Put the dark picture beside each light one; Furo shows one of them."""
        folder = Path(self.env.doc2path(self.env.docname)).parent
        for light in list(self.document.findall(nodes.image)):
            path = Path(light["uri"])
            other = path.with_stem(f"{path.stem}-dark")
            if (folder / other).exists():
                dark = light.deepcopy()
                dark["uri"] = str(other)
                light["classes"].append("only-light")
                dark["classes"].append("only-dark")
                light.parent.insert(light.parent.index(light) + 1, dark)


class ShortCode(SphinxTransform):
    """Mark short code, which the style sheet keeps in one line: browsers break ``--option`` after its dashes."""

    default_priority = 400

    def apply(self, **_: Any) -> None:  # noqa: ANN401  as Sphinx declares it
        """Mark inline code of up to 24 characters."""
        for code in self.document.findall(nodes.literal):
            if len(code.astext()) <= 24:
                code["classes"].append("short")


class Synonyms(SphinxTransform):
    """Add what a page is searched for to the index, which the search ranks above titles and text."""

    default_priority = 400

    def apply(self, **_: Any) -> None:  # noqa: ANN401  as Sphinx declares it
        """Put entries in front of the page."""
        words = SYNONYMS.get(self.env.docname)
        if words:
            entries = [("single", word, "", "main", None) for word in words.split(", ")]
            self.document.insert(0, index(entries=entries))


def _add_commands(_: Sphinx, page: str, source: list[str]) -> None:
    """Add what a command's help says to its page, and the list of commands to their index."""
    import click

    from segbench.cli.command import commands_of
    from segbench.cli.commands import app

    folder, _, name = page.rpartition("/")
    if folder != "commands":
        return
    context = click.Context(app, info_name="segbench")
    if name == "index":
        source[0] += "".join(_list_of(app.rows(context, everything=True)))
    else:
        title, _, text = source[0].partition("\n")
        made = commands_of(context)[name]
        source[0] = f"{title}\n\n{_escaped(made.help or '')}\n{text}" + "".join(_options(made))


def _list_of(panels: dict[str, list[tuple[str, str]]]) -> Iterator[str]:
    """Yield a table for each group of commands, with links to their pages."""
    for panel, rows in panels.items():
        if panel != "Options":
            lines = (f"| [{name}]({name}.md) | {_escaped(meaning)} |\n" for name, meaning in rows)
            yield f"\n## {panel}\n\n| command | |\n|---|---|\n" + "".join(lines)
    hidden = "\n".join(name for panel, rows in panels.items() if panel != "Options" for name, _ in rows)
    yield f"\n```{{toctree}}\n:hidden:\n\n{hidden}\n```\n"


def _options(made: Command) -> Iterator[str]:
    """Yield a table for each group of a command's options, and its examples."""
    import click

    for panel, rows in made.rows(click.Context(made, info_name=made.name), everything=True).items():
        yield f"\n## {panel}\n\n| typed | meaning |\n|---|---|\n"
        for typed, meaning in rows:
            yield f"| {_words(typed.replace('|', chr(92) + '|'))} | {_escaped(meaning)} |\n"
    if made.examples:
        yield "\n## Examples\n\n```sh\n" + "\n".join(made.examples) + "\n```\n"


def _words(typed: str) -> str:
    """Set each word that is typed as code, so that lines break between them."""
    return "`" + re.sub(r"(,?) ", r"`\1 `", typed) + "`"


def _escaped(text: str) -> str:
    """Let Markdown show a text as it is."""
    return re.sub(r"([*_<\[\]|`#])", r"\\\1", text)
