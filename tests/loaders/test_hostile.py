"""Files that once hung, crashed or filled memory; each was found by fuzzing or by reading the libraries underneath."""

import io
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
from refusing import parts_of, refused

from segbench import check
from segbench.core.errors import DataError
from segbench.core.messages import Message
from segbench.loaders.decoded import Header
from segbench.loaders.images import decode, read_header
from segbench.loaders.listing import list_archive, list_place
from segbench.loaders.presets import load_preset

from .encoders import GREY8, npy, tiff


def read(data, name):
    return decode(data, Path(name), role="prediction").array


def header(data, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    return read_header(path, "prediction")


def element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def matrix(kind, dims, content, *, name=b"a", flags=0):
    head = element(6, struct.pack("<II", kind | flags << 8, 0)) + element(5, struct.pack(f"<{len(dims)}i", *dims))
    return element(14, head + element(1, name) + content)


def mat5(*parts):
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"".join(parts)


class TestTiff:
    def test_pages_that_lead_in_a_circle(self):
        entry = struct.pack("<HHII", 256, 4, 1, 3)
        with refused("several-images", DataError, most=100):
            read(b"II*\0\x08\0\0\0" + struct.pack("<H", 1) + entry + struct.pack("<I", 8), "a.tif")

    def test_strips_that_are_not_listed_are_missing(self):
        sound = tiff(GREY8, compression="zlib", rowsperstrip=10)
        rows = struct.pack("<HHII", 278, 4, 1, 10)
        assert sound.count(rows) == 1
        with refused("damaged", DataError, missing=17, expected=19):
            read(sound.replace(rows, struct.pack("<HHII", 278, 4, 1, 1)), "a.tif")

    @pytest.mark.parametrize("tag", [277, 32997])
    def test_channels_and_slices_beyond_memory(self, tag):
        sound = tiff(GREY8, planarconfig="contig")
        channels = struct.pack("<HHII", 277, 3, 1, 1)
        assert sound.count(channels) == 1
        with refused("too-large", DataError, bytes=469225177088):
            read(sound.replace(channels, struct.pack("<HHII", tag, 4, 1, 2**30)), "a.tif")


class TestMat:
    def test_numbers_of_an_unknown_type(self, tmp_path):
        data = mat5(matrix(6, (1, 2), element(8, bytes(16))))
        with refused("damaged", DataError, reason="numbers of type 8"):  # where SciPy ends the process
            read(data, "a.mat")
        assert header(data, "a.mat", tmp_path) == Header((1, 2), size=len(data))

    def test_elements_that_there_are_not(self, tmp_path):
        for data in (
            mat5(element(77, b"")),
            mat5(matrix(1, (1, 1), element(9, bytes(16)))),
            mat5(element(14, element(5, bytes(8)))),
            mat5(matrix(2, (1, 1), element(5, struct.pack("<i", -4)) + element(1, b"abcd"))),
        ):
            with refused("damaged", DataError):
                read(data, "a.mat")
            assert header(data, "a.mat", tmp_path).doubled is False

    def test_cells_within_cells(self):
        inner = matrix(6, (1, 1), element(9, bytes(8)), name=b"")
        for _ in range(200):
            inner = matrix(1, (1, 1), inner, name=b"")
        with refused("damaged", DataError):
            read(mat5(matrix(1, (1, 1), inner)), "a.mat")

    def test_a_bomb_within_a_cell(self, monkeypatch):
        monkeypatch.setattr("segbench.loaders.matlab.MAX_BYTES", 10_000)
        packed = zlib.compress(matrix(1, (1, 1), matrix(9, (200, 200), element(2, bytes(40_000)), name=b"")))
        with refused("damaged", DataError):
            read(mat5(struct.pack("<II", 15, len(packed)) + packed), "a.mat")


def test_a_tiff_of_a_type_that_numpy_lacks_is_a_finding_and_no_traceback(tmp_path):
    sound = tiff(GREY8)
    bits = struct.pack("<HHIH", 258, 3, 1, 8)
    assert sound.count(bits) == 1
    for kind in ("gt", "pred"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "a.tif").write_bytes(sound)
    damaged = sound.replace(bits, struct.pack("<HHIH", 258, 3, 1, 99))
    assert header(damaged, "pred/a.tif", tmp_path).odd
    assert "unreadable" in {finding.kind for finding in check(tmp_path / "gt", tmp_path / "pred").findings}


def test_an_npy_header_with_negative_extents():
    for shape in (b"(-1, 23)", b"(19, -1)"):
        with refused("damaged", DataError):
            read(npy(GREY8).replace(b"(19, 23)", shape), "a.npy")


def test_names_in_an_npz_are_shown_fit_for_a_terminal():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        packed.writestr("a\x1b[31m\n.npy", b"")
        packed.writestr("b.npy", b"")
    with refused("several-arrays", DataError, count=2, names=("a\\x1b[31m\\n", "b")) as caught:
        read(stream.getvalue(), "a.npz")
    assert str(caught.value).isprintable()


class TestTar:
    @pytest.mark.parametrize("size", [-512, -1024, -5])
    @pytest.mark.parametrize("kind", [b"0", b"L", b"x", b"S"])
    def test_members_of_negative_size(self, tmp_path, size, kind):
        info = tarfile.TarInfo("a.png")
        info.type, info.size = kind, 10
        data = bytearray(info.tobuf(tarfile.GNU_FORMAT) + bytes(20_480))
        data[124:136] = b"\xff" + (size + 2**88).to_bytes(11, "big")
        data[148:156] = b" " * 8
        data[148:156] = b"%06o\0 " % sum(data[:512])
        path = tmp_path / "a.tar"
        path.write_bytes(data)
        # Python before 3.11.14 goes on for ever with some of them.
        with pytest.raises(DataError) as caught:
            list_archive(str(path))
        kinds = {part.kind for part in parts_of(caught.value.what, Message)}
        assert kinds in ({"damaged"}, {"unusable-members", "sparse"})

    def test_headers_that_take_the_square_of_their_length(self, tmp_path):
        info = tarfile.TarInfo("x")
        body = b"2 " * 2**19 + b"="
        info.type, info.size = tarfile.XHDTYPE, len(body)
        path = tmp_path / "a.tar"
        path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + body + bytes(-len(body) % 512 + 1024))
        with refused("damaged", DataError, reason="a header of impossible length"):
            list_archive(str(path))


@pytest.mark.parametrize("place", ["a\0b", "a\0.zip", "a\0.tar.gz"])
def test_places_that_hold_a_null(place):
    with refused("invalid-name", DataError):
        list_place(place)


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("a=" + "[" * 8_000, "not-toml", {}),
        ("a=" + "1" * 5000, "not-toml", {}),
        ("#" * 20_000, "too-large", {"most": 8192}),
    ],
)
def test_presets_that_are_deep_or_long(tmp_path, text, kind, values):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with refused(kind, DataError, path=str(path), **values):
        load_preset(str(path))
