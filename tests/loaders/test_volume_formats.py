"""Formats of volumes: arrays and positions as ITK and nibabel read them, and hostile files, each with one error."""

import gzip
import math
import os
import struct
import zlib
from pathlib import Path

import nibabel
import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from volumes_written import SPACING, affine_of, labels_drawn, nifti_with, packed, write_nifti

from segbench.core.errors import DataError
from segbench.loaders.images import decode, read_header
from segbench.loaders.reading import contents_of
from segbench.loaders.source import OF_VOLUMES, LocalFile
from segbench.loaders.volumes import MAX_VOXELS

sitk = pytest.importorskip("SimpleITK")

LABELS = labels_drawn()
TURNED = (math.cos(0.3), -math.sin(0.3), 0, math.sin(0.3), math.cos(0.3), 0, 0, 0, 1)
NIBABEL = Path(nibabel.__file__).parent / "tests" / "data"


def read(path, role="label map", **options):
    file = LocalFile(path)
    return decode(contents_of([file])[file], file, role=role, **options)


def decoded(content, name="a.nii.gz", role="label map"):
    return decode(content, Path(name), role=role)


def by_itk(array, spacing=SPACING, origin=(1, 2, 3), direction=TURNED):
    image = sitk.GetImageFromArray(array)
    image.SetSpacing(spacing[::-1])
    image.SetOrigin(origin)
    image.SetDirection(direction)
    return image


class TestAgreement:
    """With other readers."""

    @pytest.mark.parametrize("compressed", [False, True])
    @pytest.mark.parametrize("ending", sorted(OF_VOLUMES))
    @pytest.mark.parametrize("dtype", ["u1", "i2", "u2", "i4", "f4", "f8"])
    def test_with_itk(self, tmp_path, ending, compressed, dtype):
        image = by_itk(LABELS.astype(dtype))
        path = tmp_path / f"a{ending}"
        sitk.WriteImage(image, str(path), useCompression=compressed)
        found = read(path)
        np.testing.assert_array_equal(found.array, LABELS)
        assert found.array.dtype == (np.uint8 if dtype[0] == "f" else dtype)  # labels of floats are whole
        assert read(path, "prediction").array.dtype == dtype
        assert found.volume
        assert found.geometry.spacing == SPACING
        for index in np.ndindex(2, 2, 2):
            left, back, up = image.TransformIndexToPhysicalPoint(index[::-1])
            ours = np.array(found.geometry.affine) @ (*index, 1)
            np.testing.assert_allclose(ours, (-left, -back, up), atol=1e-5)

    @pytest.mark.parametrize("ending", sorted(OF_VOLUMES))
    def test_headers_say_what_decoding_finds(self, tmp_path, ending):
        path = tmp_path / f"a{ending}"
        sitk.WriteImage(by_itk(LABELS.astype(np.int16)), str(path), useCompression=True)
        header, found = read_header(LocalFile(path), "label map"), read(path)
        assert header.volume == found.array.shape
        assert header.geometry == found.geometry
        assert header.dtype == "int16"
        assert not header.odd
        assert header.shape is None

    @given(
        shape=st.tuples(*[st.integers(1, 6)] * 3),
        dtype=st.sampled_from(["u1", "i1", "<i2", ">i2", "<u2", ">u4", "<i8", ">f4", "<f8"]),
        spacing=st.tuples(*[st.decimals("0.1", "9", places=4).map(float)] * 3),
        version=st.sampled_from([nibabel.Nifti1Image, nibabel.Nifti2Image]),
        seed=st.integers(0, 99),
    )
    def test_with_nibabel(self, shape, dtype, spacing, version, seed):
        array = np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)
        image = version(array.T, affine_of(spacing), dtype=dtype)
        found = decoded(image.to_bytes(), "a.nii", "prediction")
        np.testing.assert_array_equal(found.array, np.asarray(image.dataobj).T)
        assert found.geometry.spacing == spacing
        assert not found.geometry.fault

    @pytest.mark.parametrize("name", ["anatomical.nii", "standard.nii.gz", "reoriented_anat_moved.nii"])
    def test_real_files(self, name):
        image = nibabel.load(NIBABEL / name)
        found = read(NIBABEL / name)
        np.testing.assert_array_equal(found.array, image.get_fdata().T)
        np.testing.assert_allclose(found.geometry.spacing, image.header.get_zooms()[::-1])
        np.testing.assert_allclose(np.array(found.geometry.affine)[:, [2, 1, 0, 3]], image.affine[:3])

    @pytest.mark.parametrize("name", ["example4d.nii.gz", "functional.nii", "example_nifti2.nii.gz"])
    def test_real_files_of_four_dimensions(self, name):
        with refused("other-dimensions", DataError, path=str(NIBABEL / name)):
            read(NIBABEL / name)


class TestNifti:
    def test_a_factor_scales_scores(self):
        content = nifti_with(LABELS, scl_slope=0.25, scl_inter=-1.0)
        found = decoded(content, "a.nii", "prediction").array
        np.testing.assert_array_equal(found, LABELS * 0.25 - 1)

    def test_labels_by_a_factor_of_24_bits_are_whole(self):
        content = nifti_with(LABELS * np.uint8(10), scl_slope=0.1, scl_inter=0.0)
        found = decoded(content, "a.nii").array
        assert found.dtype == np.uint8
        np.testing.assert_array_equal(found, LABELS)

    @pytest.mark.parametrize("slope", [0.0, math.nan])
    def test_no_factor(self, slope):
        np.testing.assert_array_equal(decoded(nifti_with(LABELS, scl_slope=slope), "a.nii").array, LABELS)

    def test_a_writer_may_leave_out_the_bits_that_the_type_tells(self):
        np.testing.assert_array_equal(decoded(nifti_with(LABELS, bitpix=0), "a.nii").array, LABELS)

    def test_trailing_axes_of_one_entry_are_dropped(self):
        assert decoded(nifti_with(LABELS, dim=(5, 8, 7, 6, 1, 1, 1, 1)), "a.nii").array.shape == LABELS.shape

    def test_an_image_of_two_dimensions_is_no_volume(self):
        found = decoded(nifti_with(LABELS, dim=(2, 8, 42, 1, 1, 1, 1, 1)), "a.nii")
        assert (found.volume, found.array.shape, found.geometry.spacing) == (False, (42, 8), SPACING[1:])

    def test_one_slice_is_a_volume(self):
        found = decoded(nifti_with(LABELS[:1]), "a.nii")
        assert (found.volume, found.array.shape) == (True, (1, 7, 8))

    def test_without_codes_there_is_no_position(self):
        found = decoded(nifti_with(LABELS, qform_code=0, sform_code=0), "a.nii").geometry
        assert (found.affine, found.spacing) == (None, SPACING)

    @pytest.mark.parametrize(("unit", "in_mm"), [("mm", 2.5), ("micron", 0.0025), ("meter", 2500), ("unknown", 2.5)])
    def test_spacings_are_in_mm(self, unit, in_mm):
        image = nibabel.Nifti1Image(LABELS.T.astype(np.uint8), np.diag([2.5, 2.5, 2.5, 1]))
        image.header.set_xyzt_units(xyz=unit)
        geometry = decoded(image.to_bytes(), "a.nii").geometry
        assert geometry.spacing == (in_mm,) * 3
        assert not geometry.fault

    def test_members_of_gzip_are_put_together(self):
        content = nifti_with(LABELS)
        np.testing.assert_array_equal(decoded(packed(content[:400]) + packed(content[400:])).array, LABELS)

    def test_what_is_not_packed_is_read_by_its_content(self):
        np.testing.assert_array_equal(decoded(nifti_with(LABELS), "a.nii.gz").array, LABELS)

    @pytest.mark.parametrize(
        ("fields", "kind"),
        [
            ({"dim": (3, 10000, 10000, 10000, 1, 1, 1, 1)}, "too-large"),
            ({"dim": (4, 8, 7, 3, 2, 1, 1, 1)}, "other-dimensions"),
            ({"dim": (1, 336, 1, 1, 1, 1, 1, 1)}, "other-dimensions"),
            ({"dim": (3, -8, 7, 6, 1, 1, 1, 1)}, "damaged"),
            ({"dim": (3, 0, 7, 6, 1, 1, 1, 1)}, "damaged"),
            ({"dim": (0, 8, 7, 6, 1, 1, 1, 1)}, "damaged"),
            ({"dim": (3, 8, 7, 5, 1, 1, 1, 1)}, "other-length"),
            ({"dim": (3, 8, 7, 7, 1, 1, 1, 1)}, "other-length"),
            ({"datatype": 4, "bitpix": 16}, "other-length"),
            ({"datatype": 32, "bitpix": 64}, "wrong-type"),
            ({"datatype": 128, "bitpix": 24}, "wrong-type"),
            ({"datatype": 2304, "bitpix": 32}, "wrong-type"),
            ({"datatype": 1536, "bitpix": 128}, "wrong-type"),
            ({"datatype": 1, "bitpix": 1}, "wrong-type"),
            ({"datatype": 999}, "wrong-type"),
            ({"datatype": 4}, "damaged"),
            ({"bitpix": 16}, "damaged"),
            ({"bitpix": -8}, "damaged"),
            ({"vox_offset": math.nan}, "damaged"),
            ({"vox_offset": -1e9}, "damaged"),
            ({"vox_offset": 1e30}, "damaged"),
            ({"vox_offset": 400.0}, "other-length"),
            ({"scl_slope": math.inf}, "wrong-scale"),
            ({"scl_slope": 1.5, "scl_inter": math.nan}, "wrong-scale"),
            ({"magic": b"ni1\0"}, "detached"),
            ({"magic": b"\0\0\0\0"}, "damaged"),
            ({"sizeof_hdr": 349}, "other-format"),
        ],
    )
    @pytest.mark.parametrize("pack", [bytes, packed])
    def test_hostile_headers(self, fields, kind, pack):
        if "sizeof_hdr" in fields and pack is packed:
            kind = "damaged"  # what it begins with is gzip's
        with refused(kind, DataError, path="a.nii.gz"):
            decoded(pack(nifti_with(LABELS, **fields)))

    @pytest.mark.parametrize(
        ("fields", "kind"),
        [
            ({"pixdim": (1, math.nan, 0.78, 2.5, 1, 1, 1, 1)}, "wrong-spacing"),
            ({"pixdim": (1, 0, 0.78, 2.5, 1, 1, 1, 1)}, "wrong-spacing"),
            ({"pixdim": (1, -0.7, 0.78, 2.5, 1, 1, 1, 1)}, "wrong-spacing"),
            ({"pixdim": (1, math.inf, 0.78, 2.5, 1, 1, 1, 1)}, "wrong-spacing"),
            ({"pixdim": (1, 0.8, 0.78, 2.5, 1, 1, 1, 1)}, "spacing-differs"),
            ({"pixdim": (1, 0.7009, 0.78, 2.5, 1, 1, 1, 1)}, ""),
            ({"pixdim": (1, 0.7011, 0.78, 2.5, 1, 1, 1, 1)}, "spacing-differs"),
            ({"srow_x": (0.7, 0.02, 0, 0)}, "sheared"),
            ({"srow_x": (0.7, 0.0005, 0, 0)}, ""),
            ({"srow_x": (math.nan, 0, 0, 0)}, "wrong-affine"),
            ({"sform_code": 0, "qform_code": 1, "quatern": (5.0, 5.0, 5.0)}, "wrong-affine"),
        ],
    )
    def test_spacings_that_cannot_be_relied_on(self, fields, kind):
        fault = decoded(nifti_with(LABELS, **fields), "a.nii").geometry.fault
        assert fault.kind == (kind or "text")
        assert bool(fault) == bool(kind)

    @pytest.mark.parametrize("length", [3, 12, 200, -200, -4])
    def test_truncated_gzip(self, length):
        with refused("damaged", DataError):
            decoded(packed(nifti_with(LABELS))[:length])

    def test_a_wrong_checksum(self):
        content = packed(nifti_with(LABELS))
        with refused("damaged", DataError):
            decoded(content[:-8] + b"\0\0\0\0" + content[-4:])

    @pytest.mark.parametrize("at_once", [True, False])
    def test_bombs_are_unpacked_no_further_than_announced(self, at_once, monkeypatch):
        unpacked = []
        decompressobj = zlib.decompressobj

        class Counting:
            def __init__(self, *arguments):
                self.inner = decompressobj(*arguments)

            def decompress(self, data, most):
                part = self.inner.decompress(data, most)
                unpacked.append(len(part))
                return part

            def __getattr__(self, name):
                return getattr(self.inner, name)

        content, zeros = nifti_with(LABELS), bytes(50_000_000)
        bomb = packed(content + zeros) if at_once else packed(content) + packed(zeros)
        monkeypatch.setattr(zlib, "decompressobj", Counting)
        with refused("other-length", DataError):
            decoded(bomb)
        assert sum(unpacked) < 2 * len(content)

    def test_a_sparse_file_of_a_terabyte_is_not_read(self, tmp_path):
        with (tmp_path / "a.nii").open("wb") as file:
            file.write(nifti_with(LABELS))
            file.truncate(10**12)
        with refused("too-large", DataError, found=10**12):
            read(tmp_path / "a.nii")

    @pytest.mark.parametrize("content", [b"hello world" * 50, b"<html>", b"\x89PNG\r\n\x1a\n" + bytes(400)])
    def test_other_files(self, content):
        with refused("other-format", DataError):
            decoded(content)

    def test_the_largest_volume(self):
        assert MAX_VOXELS >= 512 * 512 * 1500

    @given(st.data())
    def test_any_damage_is_our_error(self, data):
        content = bytearray(nifti_with(LABELS))
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, 351))
            content[at] = data.draw(st.integers(0, 255))
        try:
            found = decoded(bytes(content), "a.nii")
        except DataError:
            return
        assert found.array.size in (LABELS.size, LABELS.size // 2, LABELS.size // 4, LABELS.size // 8)


def metaimage(array=LABELS, data=None, **fields):
    """Return a MetaImage file with fields of its header changed; None leaves one out."""
    named = {
        "ObjectType": "Image",
        "NDims": 3,
        "BinaryData": True,
        "BinaryDataByteOrderMSB": False,
        "CompressedData": False,
        "TransformMatrix": "1 0 0 0 1 0 0 0 1",
        "Offset": "1 2 3",
        "ElementSpacing": "0.7 0.78 2.5",
        "DimSize": " ".join(map(str, array.shape[::-1])),
        "ElementType": "MET_UCHAR",
    } | fields
    named["ElementDataFile"] = named.pop("ElementDataFile", "LOCAL")  # ends the header
    header = "".join(f"{name} = {value}\n" for name, value in named.items() if value is not None)
    return header.encode() + (array.tobytes() if data is None else data)


class TestMetaImage:
    @pytest.mark.parametrize(
        ("fields", "kind"),
        [
            ({"DimSize": "10000 10000 10000"}, "too-large"),
            ({"DimSize": "8 7 5"}, "other-length"),
            ({"DimSize": "8 7 7"}, "other-length"),
            ({"DimSize": "8 7"}, "damaged"),
            ({"DimSize": "8 7 nan"}, "damaged"),
            ({"DimSize": "8 7 -6"}, "damaged"),
            ({"DimSize": "8 7 3 2", "NDims": 4}, "other-dimensions"),
            ({"ElementNumberOfChannels": 3}, "wrong-type"),
            ({"ElementType": "MET_UCHAR_ARRAY"}, "wrong-type"),
            ({"ElementType": "MET_SHORT"}, "other-length"),
            ({"BinaryData": False}, "unsupported-encoding"),
            ({"HeaderSize": 10}, "unsupported-encoding"),
            ({"ElementSpacing": "0.7 0.78"}, "damaged"),
            ({"TransformMatrix": "1 0 0"}, "damaged"),
            ({"CompressedData": True}, "damaged"),
        ],
    )
    def test_hostile_headers(self, fields, kind):
        with refused(kind, DataError, path="a.mha"):
            decoded(metaimage(**fields), "a.mha")

    @pytest.mark.parametrize("shape", ["8 7 7", "8 7 5"])
    def test_packed_data_of_another_length(self, shape):
        content = metaimage(data=zlib.compress(LABELS.tobytes()), DimSize=shape, CompressedData=True)
        with refused("other-length", DataError):
            decoded(content, "a.mha")

    @pytest.mark.parametrize(
        ("fields", "kind"),
        [
            ({"ElementSpacing": "0 0.78 2.5"}, "wrong-spacing"),
            ({"ElementSpacing": "nan 0.78 2.5"}, "wrong-spacing"),
            ({"TransformMatrix": "1 .1 0 0 1 0 0 0 1"}, "spacing-differs"),
            ({"TransformMatrix": "1 0 0 0.6 0.8 0 0 0 1"}, "sheared"),
        ],
    )
    def test_spacings_that_cannot_be_relied_on(self, fields, kind):
        assert decoded(metaimage(**fields), "a.mha").geometry.fault.kind == kind

    def test_other_fields_have_any_name(self):
        content = metaimage(**{"dim[0]": "3", "ITK original spacing": "1 1 1"})
        np.testing.assert_array_equal(decoded(content, "a.mha").array, LABELS)

    def test_digits_are_taken_as_written(self):
        found = decoded(metaimage(ElementSpacing="0.7421875 0.3 1.2345678901234"), "a.mha")
        assert found.geometry.spacing == (1.2345678901234, 0.3, 0.7421875)

    def test_without_spacing_there_is_no_geometry(self):
        assert decoded(metaimage(ElementSpacing=None), "a.mha").geometry is None


class TestNrrd:
    @staticmethod
    def content(header="", data=None, sizes="8 7 6", **fields):
        named = {"type": "uint8", "dimension": len(sizes.split()), "sizes": sizes, "encoding": "raw"} | fields
        lines = [f"{name.replace('_', ' ')}: {value}" for name, value in named.items()]
        text = "\n".join(["NRRD0005", *lines, *filter(None, [header])])
        return text.encode() + b"\n\n" + (LABELS.tobytes() if data is None else data)

    def test_spacings_without_positions(self):
        found = decoded(self.content(spacings="0.7 0.78 2.5"), "a.nrrd")
        np.testing.assert_array_equal(found.array, LABELS)
        assert (found.geometry.spacing, found.geometry.affine) == (SPACING, None)

    def test_a_single_layer_of_segments(self):
        directions = "none (0.7,0,0) (0,0.78,0) (0,0,2.5)"
        content = self.content(sizes="1 8 7 6", kinds="list domain domain domain", space_directions=directions)
        found = decoded(content, "a.seg.nrrd")
        np.testing.assert_array_equal(found.array, LABELS)
        assert found.geometry.spacing == SPACING

    @pytest.mark.parametrize(
        ("fields", "kind"),
        [
            ({"sizes": "2 8 7 3", "kinds": "list domain domain domain"}, "several-layers"),
            ({"sizes": "3 8 7 2", "kinds": "RGB-color domain domain domain"}, "several-layers"),
            ({"sizes": "10000 10000 10000"}, "too-large"),
            ({"sizes": "8 7 5"}, "other-length"),
            ({"sizes": "8 7 3 2"}, "other-dimensions"),
            ({"type": "block"}, "wrong-type"),
            ({"type": "int16"}, "other-length"),
            ({"encoding": "bzip2"}, "unsupported-encoding"),
            ({"encoding": "gzip"}, "damaged"),
            ({"byte_skip": -1}, "unsupported-encoding"),
            ({"dimension": 2}, "damaged"),
            ({"spacings": "1 1"}, "damaged"),
            ({"space_directions": "(1,0,0) (0,1,0)"}, "damaged"),
        ],
    )
    def test_hostile_headers(self, fields, kind):
        with refused(kind, DataError, path="a.nrrd"):
            decoded(self.content(**fields), "a.nrrd")

    def test_a_header_without_end(self):
        with refused("damaged", DataError):
            decoded(b"NRRD0004\ntype: uint8\n" * 3, "a.nrrd")

    def test_big_endian(self):
        content = self.content(data=LABELS.astype(">i2").tobytes(), type="short", endian="big")
        np.testing.assert_array_equal(decoded(content, "a.nrrd").array, LABELS)


class TestDetached:
    """Headers whose data lie in a second file."""

    @staticmethod
    def write(folder, data="a.raw", content=None):
        folder.mkdir(exist_ok=True)
        (folder / "a.mhd").write_bytes(metaimage(data=b"", ElementDataFile=data))
        if content is not None:
            (folder / data).write_bytes(content)
        return folder / "a.mhd"

    def test_beside_the_header(self, tmp_path):
        np.testing.assert_array_equal(read(self.write(tmp_path / "f", content=LABELS.tobytes())).array, LABELS)

    @pytest.mark.parametrize("name", ["../a.raw", "/etc/hostname", "sub/../../a.raw", ".", "a\0b"])
    def test_outside_the_folder(self, tmp_path, name):
        (tmp_path / "a.raw").write_bytes(LABELS.tobytes())
        with refused("detached", DataError):
            read(self.write(tmp_path / "f", name))

    def test_a_link_that_leads_outside(self, tmp_path):
        (tmp_path / "a.raw").write_bytes(LABELS.tobytes())
        header = self.write(tmp_path / "f")
        (tmp_path / "f" / "a.raw").symlink_to(tmp_path / "a.raw")
        with refused("detached", DataError):
            read(header)

    def test_no_such_file(self, tmp_path):
        with refused("detached", DataError):
            read(self.write(tmp_path / "f"))

    def test_a_pipe(self, tmp_path):
        header = self.write(tmp_path / "f")
        os.mkfifo(tmp_path / "f" / "a.raw")
        with refused("detached", DataError):
            read(header)

    @pytest.mark.parametrize("size", [0, LABELS.size - 1, LABELS.size + 1, LABELS.size + 10**6])
    def test_data_of_another_length(self, tmp_path, size):
        with refused("other-length", DataError):
            read(self.write(tmp_path / "f", content=bytes(size)))

    def test_digests_are_those_of_both_files(self, tmp_path):
        header = self.write(tmp_path / "f", content=LABELS.tobytes())
        file = LocalFile(header)
        before = contents_of([file])
        (tmp_path / "f" / "a.raw").write_bytes(LABELS[::-1].tobytes())
        assert contents_of([file]) != before

    def test_a_header_of_huge_data(self, tmp_path):
        (tmp_path / "a.mhd").write_bytes(metaimage(data=b"", DimSize="10000 10000 10000", ElementDataFile="a.raw"))
        (tmp_path / "a.raw").write_bytes(b"x")
        with refused("too-large", DataError):
            read(tmp_path / "a.mhd")


class TestArraysAndPages:
    """Formats that hold volumes only if somebody says so."""

    def test_arrays(self, tmp_path):
        for name, save in (("a.npy", np.save), ("a.npz", np.savez_compressed)):
            save(tmp_path / name, LABELS.astype(np.float32))
            found = read(tmp_path / name, as_volume=True)
            np.testing.assert_array_equal(found.array, LABELS)
            assert (found.array.dtype, found.volume, found.geometry) == (np.uint8, True, None)
            with pytest.raises(DataError):
                read(tmp_path / name)

    @pytest.mark.parametrize(
        "options", [{}, {"compression": "zlib"}, {"ome": True}, {"imagej": True}, {"bigtiff": True}]
    )
    def test_pages(self, tmp_path, options):
        metadata = {"axes": "ZYX"} if {"ome", "imagej"} & options.keys() else None
        tifffile.imwrite(tmp_path / "a.tif", LABELS, photometric="minisblack", metadata=metadata, **options)
        found = read(tmp_path / "a.tif", as_volume=True)
        np.testing.assert_array_equal(found.array, LABELS)
        assert found.volume
        with refused("several-images", DataError):
            read(tmp_path / "a.tif")

    @pytest.mark.parametrize("options", [{"ome": True}, {"imagej": True}])
    @pytest.mark.parametrize("axes", ["ZCYX", "TZYX"])
    def test_pages_of_channels_or_times(self, tmp_path, options, axes):
        stack = np.stack([LABELS, LABELS], axis=axes.index("C") if "C" in axes else 0)
        tifffile.imwrite(tmp_path / "a.tif", stack, photometric="minisblack", metadata={"axes": axes}, **options)
        with refused("other-dimensions", DataError):
            read(tmp_path / "a.tif", as_volume=True)

    def test_pages_of_several_sizes(self, tmp_path):
        with tifffile.TiffWriter(tmp_path / "a.tif") as tiff:
            for image in (LABELS[0], LABELS[0, :5]):
                tiff.write(image, photometric="minisblack")
        with refused("several-sizes", DataError):
            read(tmp_path / "a.tif", as_volume=True)

    def test_an_array_that_announces_too_much(self, tmp_path):
        header = {"descr": "|u1", "fortran_order": False, "shape": (10**4, 10**4, 10**4)}
        with (tmp_path / "a.npy").open("wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
        with refused("damaged", DataError):
            read(tmp_path / "a.npy", as_volume=True)


def test_both_extensions_go_from_the_names_of_images():
    from segbench.loaders.source import split_suffix

    assert split_suffix("a/b.c.nii.gz") == ("a/b.c", ".nii.gz")
    assert split_suffix("a/B.NII.GZ") == ("a/B", ".NII.GZ")
    assert split_suffix("a.seg.nrrd") == ("a", ".seg.nrrd")
    assert split_suffix("a.b.nrrd") == ("a.b", ".nrrd")
    assert split_suffix("a/.nii.gz") == ("a/.nii", ".gz")
    assert split_suffix("nii.gz") == ("nii", ".gz")
    assert split_suffix("a.tar.gz") == ("a.tar", ".gz")


def test_a_volume_of_floats_that_are_not_whole_stays(tmp_path):
    array = LABELS.astype(np.float32)
    array[0, 0, 0] = 0.001
    found = read(write_nifti(tmp_path / "a.nii.gz", array))
    assert found.array.dtype == np.float32


def test_a_gzip_header_with_a_long_name():
    content = packed(nifti_with(LABELS))
    named = bytes([*content[:3], 8, *content[4:10]]) + b"n" * 1000 + b"\0" + content[10:]
    assert gzip.decompress(named) == nifti_with(LABELS)
    np.testing.assert_array_equal(decoded(named).array, LABELS)
    assert struct.unpack("<H", content[:2])[0] == 0x8B1F
