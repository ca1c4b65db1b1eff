"""Places on the net through fsspec: memory, files, and a web server that lists its folders."""

import functools
import http.server
import multiprocessing
import pickle
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from urllib.parse import quote

import fsspec
import numpy as np
import pytest

from segbench import DataError, evaluate, load_results
from segbench.aggregator.pools import process_pool
from segbench.core.errors import ArgumentError
from segbench.loaders.listing import is_file, list_place, source_of
from segbench.loaders.pairing import Inputs, pair
from segbench.loaders.source import masked, read_bytes

NAMES = ["1.npy", "sub dir/2.npy", "ünï #3%.npy"]


@pytest.fixture
def folders(tmp_path):
    rng = np.random.default_rng(0)
    for name in NAMES:
        truth = rng.random((6, 7)) > 0.5
        for side, array in (("gt", truth), ("pred", truth * 0.3 + rng.random((6, 7)))):
            path = tmp_path / "served" / side / name
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, array)
    (tmp_path / "served/gt/readme.txt").write_text("text")
    (tmp_path / "served/gt/.hidden.npy").write_text("hidden")
    return tmp_path / "served"


class Handler(http.server.SimpleHTTPRequestHandler):
    """A directory index; /broken lists a folder that fails, /locked wants a password."""

    def do_GET(self):
        if self.path.startswith("/locked"):
            if self.headers.get("Authorization") is None:
                self.send_error(401)
                return
            self.path = self.path.removeprefix("/locked")
        if self.path.startswith("/broken/"):
            if self.path != "/broken/":
                self.send_error(500)
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b'<a href="?C=N;O=D">Name</a><a href="1.npy">1</a><a href="sub/">sub</a>')
            return
        super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture
def server(folders):
    handler = functools.partial(Handler, directory=str(folders))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


@pytest.fixture
def memory(folders):
    files = fsspec.filesystem("memory")
    files.put(str(folders) + "/", "/served/", recursive=True)
    yield "memory://served"
    files.rm("/served", recursive=True)


def same_as_folders(found, folders):
    expected = evaluate(folders / "gt", folders / "pred")
    assert not found.failed
    assert (found.method, found.signature, found.summary) == ("pred", expected.signature, expected.summary)


def test_memory_and_file_urls_are_folders(folders, memory):
    for root in (memory, f"file://{folders}"):
        found = evaluate(f"{root}/gt", f"{root}/pred/")
        same_as_folders(found, folders)
        assert found.notes[0] == f"{root}/gt: 1 other file left out: .txt (1)"
        assert found.inputs == Inputs(ground_truth=f"{root}/gt", prediction=f"{root}/pred/")


@pytest.mark.parametrize(
    "pool",
    [
        lambda: process_pool(2),
        pytest.param(
            lambda: ProcessPoolExecutor(2, multiprocessing.get_context("fork")),
            marks=pytest.mark.skipif(
                "fork" not in multiprocessing.get_all_start_methods(), reason="nothing can be forked here"
            ),
        ),
    ],
)
def test_a_web_server_and_workers(folders, server, pool):
    alone = evaluate(f"{server}/gt", f"{server}/pred/")
    same_as_folders(alone, folders)
    with pool() as executor:
        same_as_folders(evaluate(f"{server}/gt/", folders / "pred", executor=executor), folders)


def test_one_file_and_names_of_files(folders, server):
    url = f"{server}/gt/sub%20dir/2.npy"
    assert is_file(url)
    assert is_file(f"{url}?sig=1")
    assert not is_file(f"{server}/gt")
    source = pickle.loads(pickle.dumps(source_of(url)))  # noqa: S301  as workers get it
    assert (source.name, source.suffix, str(source)) == ("2.npy", ".npy", url)
    assert read_bytes(source) == (folders / "gt/sub dir/2.npy").read_bytes()
    (file,) = pair(Inputs(ground_truth=url, prediction=str(folders / "pred/1.npy"))).files
    assert file.name == "2"
    assert sorted(entry.stem for entry in list_place(f"{server}/gt").entries) == ["1", "sub dir/2", "ünï #3%"]


def test_an_archive_at_a_url_through_a_chain(folders, memory, server):
    with zipfile.ZipFile(folders / "pred.zip", "w") as archive:
        for name in NAMES:
            archive.write(folders / "pred" / name, name)
    fsspec.filesystem("memory").put(str(folders / "pred.zip"), "/served/pred.zip")
    same_as_folders(evaluate(folders / "gt", f"zip://::{memory}/pred.zip"), folders)
    with pytest.raises(DataError, match=r"download it first, or write zip://::memory://served/pred\.zip"):
        list_place(f"{memory}/pred.zip")
    with pytest.raises(DataError, match=r"cannot be opened .*range requests"):
        list_place(f"zip://::{server}/pred.zip")


def test_file_lists_hold_urls_and_lie_at_urls(folders, server):
    row = f"1,{server}/gt/1.npy,pred/1.npy\n2,gt/sub%20dir/2.npy,pred/sub%20dir/2.npy\n"
    (folders / "pairs.csv").write_text(f"name,ground_truth,prediction\n{row}")
    assert len(evaluate(pairs=f"{server}/pairs.csv").counts) == 2
    (folders / "pairs.csv").write_text(f"name,ground_truth,prediction\n{row.splitlines()[0]}")
    assert evaluate(pairs=folders / "pairs.csv").method == "pairs"


def test_what_fails_names_the_url(server):
    for url, found in [
        (f"{server}/none", "there is no such folder"),
        (f"{server}/broken/", "cannot be listed .*500"),
        (f"{server}/locked/gt", "cannot be listed .*401"),
        ("http://127.0.0.1:1/gt", "cannot be listed"),
        ("memory://nowhere", "there is no such folder|lists no file"),
    ]:
        with pytest.raises(DataError, match=found) as caught:
            list_place(url)
        assert caught.value.path == url
    for url, found in [(f"{server}/no.png", "there is no such file"), ("http://127.0.0.1:1/a.png", "cannot be read")]:
        with pytest.raises(DataError, match=found) as caught:
            read_bytes(source_of(url))
        assert caught.value.path == url


@pytest.mark.parametrize("command", ["nms", "pixels"])
def test_a_url_without_a_host_is_one_sentence(command, folders):
    arguments = [sys.executable, "-m", "segbench", command, "ftp://", folders / "pred"]
    found = subprocess.run(arguments, capture_output=True, text=True, cwd=folders, check=False)
    assert found.returncode == 2
    assert "ftp:// cannot be used: it names no host" in found.stderr
    assert "Traceback" not in found.stderr


def test_passwords_and_keys_are_shown_to_nobody(folders, server, tmp_path, capsys):
    host = server.removeprefix("http://")
    secret = f"http://me:secret@{host}"
    file = tmp_path / "r.segbench"
    with pytest.raises(DataError) as caught:
        evaluate(f"{secret}/none", f"{secret}/pred")
    assert caught.value.path == f"http://***@{host}/none"
    with pytest.raises(DataError) as caught:
        list_place(f"{secret}/broken/")
    assert "secret" not in str(caught.value)
    result = evaluate(f"{secret}/locked/gt", f"{secret}/locked/pred/", results=file)
    same_as_folders(result, folders)
    assert result.inputs.ground_truth == f"http://***@{host}/locked/gt"
    (folders / "pred/1.npy").write_bytes(b"junk")
    with pytest.warns(UserWarning, match="1 of 3"):
        failed = evaluate(f"{secret}/gt", f"{secret}/pred", results=file)
    one = evaluate(
        folders / "gt/sub dir/2.npy", f"{server}/pred/sub%20dir/2.npy?sig=secret", results=file, method="one"
    )
    assert one.inputs.prediction == f"{server}/pred/sub%20dir/2.npy?***"
    said = f"{failed} {failed.failed} {failed.notes} {failed.inputs} {one} {load_results(file)} {capsys.readouterr()}"
    assert "secret" not in said
    assert b"secret" not in file.read_bytes() + b"".join(p.read_bytes() for p in tmp_path.glob("r.segbench-*"))
    assert "secret" not in repr(list_place(f"{secret}/gt/").entries)
    assert "secret" not in masked("x 'zip://::https://a:secret@h/p.zip?k=secret' s3://secret@b/c#secret")


def test_what_is_not_installed_is_named(monkeypatch):
    with pytest.raises(ArgumentError, match="s3://bucket/gt needs another package: Install s3fs"):
        list_place("s3://bucket/gt")
    with pytest.raises(ArgumentError, match="nothing://x cannot be used: Protocol not known"):
        list_place("nothing://x")
    for module in ("fsspec", "fsspec.core"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ArgumentError, match=r"pip install 'segbench\[remote\]'"):
        list_place("memory://not-seen-before/gt")


def test_names_on_a_server_stay_inside(monkeypatch, server):
    page = f'<a href="{quote("..", safe="")}%2F..%2Fx.npy">x</a>'.encode()
    monkeypatch.setattr(Handler, "list_directory", lambda self, _: _page(self, page))
    (entry,) = list_place(f"{server}/gt").entries
    assert entry.stem == "x"
    assert Path(entry.source.inside).parts == ("x.npy",)


def _page(handler, page):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    handler.wfile.write(page)
