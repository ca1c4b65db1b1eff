"""How fast images are decoded: our loader beside Pillow, imageio, imagecodecs and OpenCV, and whether pixels agree.

    python scripts/benchmarks/bench_decoding.py [--quick]

Bytes are in memory; an edge-like map (mostly dark, noisy) and a photograph-like one, of 481x321 and of 2 megapixels,
in each format. Each ratio is our loader's time over the other's, the median of pairs taken side by side: above 1 the
other is faster. What is not installed is left out. At the end, the share of decoding in `segbench.evaluate` for 8-bit
PNGs.
"""

from __future__ import annotations

import argparse
import importlib
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from measuring import paired
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import gaussian_filter

import segbench
from segbench.loaders.images import decode
from segbench.loaders.source import read_bytes

SIZES = {"481x321": (321, 481), "1920x1080": (1080, 1920)}
Decoder = Callable[[bytes], NDArray[Any]]


def picture(kind: str, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Make values in [0, 1] with the look of an edge detector's map, or of a photograph."""
    rng = np.random.default_rng(0)
    smooth = gaussian_filter(rng.normal(size=shape), 6)
    smooth /= smooth.std()
    if kind == "edges":
        return np.clip(np.exp(-4 * (smooth - 1) ** 2) + rng.normal(0, 0.02, shape) - 0.03, 0, 1)
    texture = gaussian_filter(rng.normal(size=shape), 1)
    return np.clip(0.45 + 0.18 * smooth + 0.03 * texture / texture.std(), 0, 1)


def encoded(soft: NDArray[np.float64]) -> dict[str, tuple[str, bytes]]:
    """Write the picture in every format: extension and bytes by name."""
    eight, sixteen = np.rint(soft * 255).astype(np.uint8), np.rint(soft * 65535).astype(np.uint16)

    def by_pillow(array: NDArray[Any], form: str, **options: int) -> bytes:
        file = io.BytesIO()
        Image.fromarray(array).save(file, form, **options)
        return file.getvalue()

    def by_tifffile(compression: str | None) -> bytes:
        file = io.BytesIO()
        tifffile.imwrite(file, eight, compression=compression)
        return file.getvalue()

    return {
        "PNG 8 bit": (".png", by_pillow(eight, "PNG")),
        "PNG 16 bit": (".png", by_pillow(sixteen, "PNG")),
        "JPEG grey": (".jpg", by_pillow(eight, "JPEG", quality=95)),
        "TIFF plain": (".tif", by_tifffile(None)),
        "TIFF deflate": (".tif", by_tifffile("zlib")),
    }


def decoders(extension: str) -> dict[str, Decoder]:
    """Return what can decode this format here, by name."""
    by_name: dict[str, Decoder] = {"Pillow": lambda data: np.asarray(Image.open(io.BytesIO(data)))}
    for library in ("imageio.v3", "imagecodecs", "cv2"):
        try:
            module: Any = importlib.import_module(library)
        except ImportError:
            continue
        if library == "imageio.v3":
            by_name["imageio"] = lambda data, module=module: module.imread(data, extension=extension)
        elif library == "cv2":
            flag = module.IMREAD_UNCHANGED
            by_name["OpenCV"] = lambda data, m=module, flag=flag: m.imdecode(np.frombuffer(data, np.uint8), flag)
        else:
            name = {".png": "png_decode", ".jpg": "jpeg8_decode", ".tif": "tiff_decode"}[extension]
            by_name["imagecodecs"] = getattr(module, name)
    return by_name


def bench_formats(rounds: int) -> None:
    """Print a row for each format, picture and size."""
    for size, shape in SIZES.items():
        for kind in ("edges", "photograph"):
            for form, (extension, data) in encoded(picture(kind, shape)).items():
                path = Path("image").with_suffix(extension)

                def ours(data: bytes = data, path: Path = path) -> NDArray[Any]:
                    return decode(data, path, role="prediction").array

                cells = []
                for name, decoder in decoders(extension).items():
                    same = np.array_equal(ours(), decoder(data))
                    seconds, _, ratio = paired(ours, lambda d=decoder, data=data: d(data), rounds)
                    cells.append(f"{name} {ratio:5.2f}{' ' if same else '*'}")
                print(f"{size:>9} {kind:<10} {form:<12} ours {seconds * 1000:7.2f} ms   {'  '.join(cells)}")
    print("* other pixels")


def bench_share(rounds: int) -> None:
    """Print how much of an evaluation is decoding."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for kind in ("gt", "pred"):
            (root / kind).mkdir()
        soft = picture("edges", SIZES["481x321"])
        for k in range(100):
            Image.fromarray((soft > 0.5).astype(np.uint8) * 255).save(root / "gt" / f"{k}.png")
            Image.fromarray(np.rint(soft * 255).astype(np.uint8)).save(root / "pred" / f"{k}.png")
        paths = sorted(root.glob("*/*.png"))

        def decode_all() -> None:
            for path in paths:
                decode(read_bytes(path), path, role="prediction")

        def evaluate() -> object:
            return segbench.evaluate(root / "gt", root / "pred")

        evaluate()
        share = paired(decode_all, evaluate, rounds).ratio
        print(f"decoding / evaluate, 100 pairs of 481x321 (8-bit PNG): {share:.2f}")


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="5 rounds instead of 41")
    quick = parser.parse_args().quick
    bench_formats(5 if quick else 41)
    bench_share(3 if quick else 9)
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, Pillow {Image.__version__}")


if __name__ == "__main__":
    main()
