# Writes stores of version 3 with zarr-python. Jobs are keyword arguments of `create_array`, as JSON on standard input; objects of stores are
# in base64. Values are the ones that zarr-python reads again.
import base64
import json
import pathlib
import sys
import tempfile

import numpy
import zarr
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, TransposeCodec, ZstdCodec

CODECS = {"gzip": GzipCodec, "zstd": ZstdCodec, "blosc": lambda: BloscCodec(cname="zstd", shuffle="shuffle"), "lz4": lambda: BloscCodec(cname="lz4")}


def write(root, job):
    height, width, bands = 5, 7, 4
    y, x, band = numpy.indices((height, width, bands))
    values = ((x * 31 + y * 17 + band * 7) % 120 - 60).astype(job["dtype"])
    group = zarr.create_group(store=root, zarr_format=3, attributes={"proj:code": "EPSG:32633"})
    for name, size, start, step in [("y", height, 5599990, -20), ("x", width, 400010, 20)]:
        axis = group.create_array(name, shape=(size,), dtype="float64", dimension_names=[name])
        axis[:] = start + step * numpy.arange(size, dtype=numpy.float64)
    more = {name: job[name] for name in ("shards", "fill_value") if name in job}
    if "order" in job:
        more["filters"] = [TransposeCodec(order=tuple(job["order"]))]
    if job.get("bigEndian"):
        more["serializer"] = BytesCodec(endian="big")
    if "separator" in job:
        more["chunk_key_encoding"] = {"name": job.get("keys", "default"), "separator": job["separator"]}
    array = group.create_array(
        "embeddings", shape=values.shape, dtype=job["dtype"], chunks=tuple(job["chunks"]),
        compressors=[CODECS[job["codec"]]()] if job.get("codec") else None, dimension_names=["y", "x", "band"], **more,
    )
    array[:] = values
    if job.get("isConsolidated"):
        zarr.consolidate_metadata(root)
    return zarr.open_array(root, path="embeddings", mode="r")[:].astype(float).ravel().tolist()


def run(job):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "store.zarr")
        values = write(str(root), job)
        files = [path for path in root.rglob("*") if path.is_file()]
        objects = {str(path.relative_to(root)): base64.b64encode(path.read_bytes()).decode() for path in files}
        return {"objects": objects, "reading": {"values": values, "affine": [400000, 20, 0, 5600000, 0, -20], "epsg": "32633"}}


print(json.dumps([run(job) for job in json.load(sys.stdin)]))
