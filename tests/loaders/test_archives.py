"""Archives are read where they lie, whatever is in them, and nothing is unpacked but .tar.gz."""

import gzip
import io
import os
import pickle
import struct
import subprocess
import sys
import tarfile
import time
import weakref
import zipfile

import numpy as np
import pytest
from noted import noted
from refusing import refused, result_or_error

from segbench.core.errors import DataError
from segbench.loaders.listing import forget_listings, list_archive, list_folder, list_place, listed_once
from segbench.loaders.pairing import Inputs, pair
from segbench.loaders.source import LocalFile, read_bytes

FILES = {"b.png": b"bb", "sub/a.PNG": b"aaa", "c.npy": bytes(range(256)) * 900, "notes.txt": b"text"}


def zipped(path, files, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path, files, links=(), form=tarfile.PAX_FORMAT):
    with tarfile.open(path, "w:gz" if str(path).endswith("gz") else "w", format=form) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target, kind in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            archive.addfile(info)
    return path


def packed(path, files):
    return zipped(path, files) if path.suffix == ".zip" else tarred(path, files)


def contents(listing):
    return {entry.stem + entry.extension: read_bytes(entry.source) for entry in listing.entries}


@pytest.fixture(params=["x.zip", "x.tar", "x.tar.gz", "x.tgz", "X.ZIP"])
def name(request):
    return request.param


@pytest.mark.parametrize("top", ["", "./", "x/"])
def test_members_are_the_files_packed(tmp_path, name, top):
    top = top.replace("x", name[0])
    path = packed(tmp_path / name.lower(), {top + inside: data for inside, data in FILES.items()})
    path = path.rename(tmp_path / name)
    listing = list_archive(str(path))
    expected = {"b.png": b"bb", "sub/a.png": b"aaa", "c.npy": FILES["c.npy"]}
    assert contents(listing) == expected
    assert noted(listing.notes) == [("", "other-files", {"place": str(path), "files": 1, "endings": (".txt (1)",)})]
    sources = [entry.source for entry in listing.entries]
    assert pickle.loads(pickle.dumps(sources)) == sources  # noqa: S301  as workers get them
    assert [source.suffix for source in sources] == [".png", ".npy", ".png"]
    assert str(sources[0]).startswith(f"{path}/")
    assert sorted(path.parent.iterdir()) == [path]


def test_a_folder_with_another_name_than_the_archive_stays_and_the_flag_is_named(tmp_path, name):
    gt = packed(tmp_path / f"g{name.lower()}", {"masks/1.png": b"x", "masks/2.png": b"x"})
    pred = packed(tmp_path / f"p{name.lower()}", {"1.png": b"x", "2.png": b"x"})
    with refused("unpaired", DataError, settings={"gt_pattern": "masks/*"}):
        pair(Inputs(ground_truth=str(gt), prediction=str(pred))).require_complete()


def test_an_archive_pairs_with_a_folder(tmp_path, name):
    gt = packed(tmp_path / name.lower(), {"1.png": b"x", "city/2.png": b"y"})
    pred = tmp_path / "pred"
    for inside in ("1.png", "city/2.npy"):
        (pred / inside).parent.mkdir(parents=True, exist_ok=True)
        (pred / inside).write_bytes(b"p")
    files = pair(Inputs(ground_truth=str(gt), prediction=str(pred), field=str(gt))).files
    assert [file.name for file in files] == ["1", "city/2"]
    assert [read_bytes(file.field) for file in files] == [b"x", b"y"]


def test_forgotten_listings_take_no_memory(tmp_path):
    path = tarred(tmp_path / "x.tar", {"a.png": b"1"})
    with listed_once():
        entries = weakref.ref(list_place(str(path)).entries)
        assert list(entries()) == list(list_place(str(path)).entries)
        forget_listings()
        assert entries() is None


def test_shards_are_one_folder(tmp_path):
    folder = tmp_path / "shards"
    (folder / "more").mkdir(parents=True)
    tarred(folder / "s-000.tar", {"b.png": b"b", "b.json": b"{}"})
    tarred(folder / "s-001.tar.gz", {"a.png": b"a"})
    zipped(folder / "more/s.zip", {"c.png": b"c"})
    (folder / "README").write_text("beside")
    listing = list_place(str(folder))
    assert contents(listing) == {"a.png": b"a", "b.png": b"b", "c.png": b"c"}
    assert noted(listing.notes)[0] == ("", "files-beside-archives", {"place": str(folder), "files": 1})
    tarred(folder / "s-002.tar", {"a.png": b"again"})
    with refused("repeated-names", DataError, count=2):
        pair(Inputs(ground_truth=str(folder), prediction=str(folder)))
    (folder / "s-003.tar").write_bytes(b"junk")
    (folder / "s-004.zip").write_bytes(b"junk")
    with refused("unusable-archives", DataError, count=2, total=6) as caught:
        list_folder(folder)
    for problem, name in zip(caught.value.values["problems"], ("s-003.tar", "s-004.zip"), strict=True):
        assert problem.kind == "damaged"
        assert str(problem).startswith(f"{folder / name}: ")


@pytest.mark.parametrize(
    ("member", "stem"),
    [
        ("../../x.png", "x"),
        ("/etc/x.png", "etc/x"),
        ("a/../../x.png", "a/x"),
        ("with space 'and \"quotes.png", "with space 'and \"quotes"),
        ("two\nlines.png", "two\nlines"),
        ("<img onerror=x>.png", "<img onerror=x>"),
        ("ünï.png", "ünï"),
    ],
)
def test_odd_names_are_only_names(tmp_path, name, member, stem):
    path = packed(tmp_path / name.lower(), {member: b"data"})
    (tmp_path / "x.png").write_bytes(b"not this one")
    (entry,) = list_archive(str(path)).entries
    assert entry.stem == stem
    assert read_bytes(entry.source) == b"data"


def test_names_that_are_no_text(tmp_path):
    tar = tarred(tmp_path / "a.tar", {"\udcff\udcfe.png": b"data"}, form=tarfile.GNU_FORMAT)
    made = zipped(tmp_path / "a.zip", {"aa.png": b"data"}).read_bytes().replace(b"aa.png", b"\xff\xfe.png")
    (tmp_path / "a.zip").write_bytes(made)
    for path in (tar, tmp_path / "a.zip"):
        (file,) = pair(Inputs(ground_truth=str(path), prediction=str(path))).files
        file.name.encode()
        assert read_bytes(file.prediction) == b"data"


def test_clutter_is_passed_over(tmp_path, name):
    files = {"__MACOSX/._a.png": b"", ".hidden/a.png": b"", "Thumbs.db": b"", "a.png": b"a"}
    listing = list_archive(str(packed(tmp_path / name.lower(), files)))
    assert contents(listing) == {"a.png": b"a"}
    assert listing.notes == ()


def test_links_are_refused_all_at_once(tmp_path):
    links = [("l.png", "/etc/passwd", tarfile.SYMTYPE), ("h.png", "a.png", tarfile.LNKTYPE), ("l.txt", "a", b"2")]
    path = tarred(tmp_path / "a.tar", {"a.png": b"a"}, links)
    with refused("unusable-members", DataError, count=2) as caught:
        list_archive(str(path))
    assert [(problem.kind, problem.values) for problem in caught.value.values["problems"]] == [
        ("link", {"member": "l.png", "target": "/etc/passwd"}),
        ("link", {"member": "h.png", "target": "a.png"}),
    ]
    assert "--dereference" in str(caught.value.hint)
    info = zipfile.ZipInfo("l.png")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with refused("unusable-members", DataError, count=1) as caught:
        list_archive(str(tmp_path / "a.zip"))
    assert [(problem.kind, problem.values["member"]) for problem in caught.value.values["problems"]] == [
        ("link", "l.png")
    ]


def test_pipes_and_devices_are_counted_as_in_folders(tmp_path):
    path = tarred(tmp_path / "a.tar", {"a.png": b"a"}, [("p.png", "", tarfile.FIFOTYPE), ("d", "", tarfile.CHRTYPE)])
    listing = list_archive(str(path))
    assert contents(listing) == {"a.png": b"a"}
    left_out = {"place": str(path), "files": 2, "endings": ("pipes and devices (2)",)}
    assert noted(listing.notes) == [("", "other-files", left_out)]


def test_encrypted_and_oddly_packed_members_are_refused_all_at_once(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("locked.png", b"aaaa")
        archive.writestr("squeezed.png", b"bbbb", zipfile.ZIP_LZMA)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)
    with refused("unusable-members", DataError, count=2) as caught:
        list_archive(str(path))
    assert [(problem.kind, problem.values["member"]) for problem in caught.value.values["problems"]] == [
        ("encrypted", "locked.png"),
        ("other-compression", "squeezed.png"),
    ]


def test_bombs_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("segbench.loaders.archives.MAX_BYTES", 1000)
    for path in (
        zipped(tmp_path / "a.zip", {"a.png": bytes(1001)}),
        tarred(tmp_path / "a.tar", {"a.png": bytes(1001)}),
    ):
        with refused("unusable-members", DataError, count=1) as caught:
            list_archive(str(path))
        (problem,) = caught.value.values["problems"]
        assert (problem.kind, problem.values["bytes"], problem.values["most"]) == ("too-large", 1001, 1000)


def test_a_member_that_unpacks_to_more_than_it_says_is_refused(tmp_path):
    path = zipped(tmp_path / "a.zip", {"a.png": bytes(10**6)})
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<L", 10**6), struct.pack("<L", 10)))
    (entry,) = list_archive(str(path)).entries
    with refused("damaged", DataError) as caught:
        read_bytes(entry.source)
    assert caught.value.path == f"{path}/a.png"


def test_a_header_that_claims_gigabytes_is_not_believed(tmp_path):
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 2**33
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    with refused("damaged", DataError, reason="a header of impossible length"):
        list_archive(str(tmp_path / "a.tar"))


@pytest.mark.parametrize("size", [0, 3, 600, 5000])
def test_garbage(tmp_path, name, size):
    path = tmp_path / name
    path.write_bytes(np.random.default_rng(size).bytes(size))
    with pytest.raises(DataError) as caught:
        list_archive(str(path))
    assert caught.value.path == str(path)
    assert str(caught.value).isprintable()


def test_damaged_archives_never_lose_images_in_silence(tmp_path, name):
    rng = np.random.default_rng(0)
    files = {f"{i:02}.png": rng.bytes(700) for i in range(12)}
    path = packed(tmp_path / name.lower(), files)
    sound = path.read_bytes()
    spots = [len(sound) // 3, len(sound) // 2, len(sound) - 2000, *rng.integers(len(sound), size=40).tolist()]
    for spot in spots:
        for data in (sound[:spot], sound[:spot] + bytes([sound[spot] ^ 255]) + sound[spot + 1 :]):
            path.write_bytes(data)
            listing = result_or_error(lambda path=path: list_archive(str(path)))
            if isinstance(listing, DataError):
                assert listing.path.startswith(str(path))
                continue
            assert len(listing.entries) == 12 or listing.notes
            for entry in listing.entries:
                found = result_or_error(lambda entry=entry: read_bytes(entry.source))
                if isinstance(found, DataError):
                    assert found.path.startswith(str(path))
                elif name != "x.tar":  # which has no checksum of what its members hold
                    assert found in files.values()


def test_a_damaged_header_within_a_tar_is_no_end(tmp_path):
    path = tarred(tmp_path / "a.tar", {"a.png": b"a", "b.png": b"b", "c.png": b"c"})
    data = bytearray(path.read_bytes())
    data[1024 + 150] ^= 1
    path.write_bytes(data)
    with refused("damaged", DataError, reason="no header at byte 1024"):
        list_archive(str(path))


def test_an_archive_that_changes_during_the_run(tmp_path, name):
    path = packed(tmp_path / name.lower(), {"a.png": b"a"})
    (entry,) = list_archive(str(path)).entries
    packed(path, {"z.png": b"zz", "a.png": b"a"})
    os.utime(path, ns=(1, 1))
    with refused("changed", DataError):
        read_bytes(entry.source)
    path.unlink()
    with refused("missing", DataError, expected="file"):
        read_bytes(entry.source)


def test_missing_and_empty_archives(tmp_path, name):
    with refused("missing", DataError, expected="file"):
        list_archive(str(tmp_path / name))
    with refused("no-images", DataError, listed=(".txt (1)",)):
        list_archive(str(packed(tmp_path / name.lower(), {"a.txt": b"a"})))


def test_a_gzipped_archive_is_unpacked_once_and_removed_at_the_end(tmp_path):
    rng = np.random.default_rng(1)
    files = {f"{i:02}.png": rng.bytes(5000) for i in range(20)}
    tarred(tmp_path / "plain.tar", files)
    data = (tmp_path / "plain.tar").read_bytes()
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(data[:9000]) + gzip.compress(data[9000:]) + bytes(100))  # several streams, padding
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    script = """
import pickle, sys
from pathlib import Path
from segbench.loaders.listing import list_archive
entries = [entry.source for _ in range(3) for entry in list_archive(sys.argv[1]).entries]
assert len(list(Path(sys.argv[2]).iterdir())) == 1
entries = pickle.loads(pickle.dumps(entries))
Path(entries[0].archive.unpacked).unlink()  # as on another machine
print(sum(len(source.read_bytes()) for source in reversed(entries)))
"""
    environment = os.environ | {"TMPDIR": str(temporary)}
    command = [sys.executable, "-c", script, path, temporary]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [str(3 * 20 * 5000)]
    assert not list(temporary.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="such locks are none there")
def test_what_a_killed_process_had_unpacked_is_removed_and_nothing_else(tmp_path, monkeypatch):
    import fcntl

    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    killed, running, own = (temporary / f"segbench-{name}.tar" for name in ("unpacked-a", "unpacked-b", "a"))
    for path in (killed, running, own):
        path.write_bytes(b"a")
    with running.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        list_archive(str(tarred(tmp_path / "killed.tar.gz", {"a.png": b"a"})))
    assert [path.exists() for path in (killed, running, own)] == [False, True, True]


@pytest.mark.skipif(os.name == "nt", reason="such locks are none there")
def test_what_was_killed_before_it_unpacked_anything_is_removed_after_an_hour(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old, new = (tmp_path / f"segbench-unpacked-{name}.tar" for name in "ab")
    for path in (old, new):
        path.touch()
    os.utime(old, (0, time.time() - 3700))
    list_archive(str(tarred(tmp_path / "one.tar.gz", {"a.png": b"a"})))
    assert [path.exists() for path in (old, new)] == [False, True]


def test_a_gzipped_archive_that_unpacks_to_too_much_or_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = tarred(tmp_path / "a.tar.gz", {"a.png": bytes(10**6)})
    sound = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("segbench.loaders.archives.MAX_UNPACKED", 500_000)
        with refused("too-large", DataError, most=500000):
            list_archive(str(path))
    for damaged in (sound[:-5], sound[:-8] + bytes(8), sound[:40]):
        path.write_bytes(damaged)
        with refused("damaged", DataError):
            list_archive(str(path))
    assert not list((tmp_path / "temporary").iterdir())


def test_two_members_of_one_name(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for data in (b"old", b"newer"):
            info = tarfile.TarInfo("a.png")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    with refused("repeated-names", DataError, count=2):
        pair(Inputs(ground_truth=str(path), prediction=str(path)))


def test_a_folder_that_is_called_like_an_archive(tmp_path):
    folder = tmp_path / "gt.zip"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"a")
    assert contents(list_place(str(folder))) == {"a.png": b"a"}
    assert isinstance(list_place(str(folder)).entries[0].source, LocalFile)
