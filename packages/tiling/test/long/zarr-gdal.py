# Writes a store, or takes one, and reads it, with GDAL's multidimensional API. Jobs are JSON on standard input; objects of
# stores are in base64.
import base64
import json
import pathlib
import sys
import tempfile

import numpy
from osgeo import gdal, osr

gdal.UseExceptions()


def write(path, version, compress, options):
    height, width, bands = 5, 7, 4
    y, x, band = numpy.indices((height, width, bands))
    values = ((x * 31 + y * 17 + band * 7) % 120 - 60).astype(numpy.int8)
    dataset = gdal.GetDriverByName("Zarr").CreateMultiDimensional(path, [], [f"FORMAT=ZARR_V{version}"])
    group = dataset.GetRootGroup()
    doubles = gdal.ExtendedDataType.Create(gdal.GDT_Float64)
    dimensions = []
    for name, kind, size, start, step in [
        ("y", gdal.DIM_TYPE_HORIZONTAL_Y, height, 5599990, -20),
        ("x", gdal.DIM_TYPE_HORIZONTAL_X, width, 400010, 20),
    ]:
        dimension = group.CreateDimension(name, kind, "", size)
        variable = group.CreateMDArray(name, [dimension], doubles)
        variable.Write(start + step * numpy.arange(size, dtype=numpy.float64))
        dimension.SetIndexingVariable(variable)
        dimensions.append(dimension)
    dimensions.append(group.CreateDimension("band", "", "", bands))
    settings = [f"COMPRESS={compress}", "BLOCKSIZE=3,4,4", *options]
    array = group.CreateMDArray("embeddings", dimensions, gdal.ExtendedDataType.Create(gdal.GDT_Int8), settings)
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(32633)
    reference.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    array.SetSpatialRef(reference)
    array.SetNoDataValueDouble(-128)
    array.Write(values)


def read(path):
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
    array = dataset.GetRootGroup().OpenMDArray("embeddings")
    names = [dimension.GetName() for dimension in array.GetDimensions()]
    values = numpy.moveaxis(array.ReadAsArray(), [names.index(name) for name in ("y", "x", "band")], [0, 1, 2])
    classic = array.AsClassicDataset(names.index("x"), names.index("y"))
    reference = array.GetSpatialRef()
    return {
        "values": values.astype(float).ravel().tolist(),
        "affine": list(classic.GetGeoTransform()),
        "epsg": reference and reference.GetAuthorityCode(None),
    }


def run(job):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "store.zarr")
        for key, text in job.get("objects", {}).items():
            path = root / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(base64.b64decode(text))
        if "compress" in job:
            write(str(root), job["version"], job["compress"], job["options"])
        files = [path for path in root.rglob("*") if path.is_file()]
        objects = {str(path.relative_to(root)): base64.b64encode(path.read_bytes()).decode() for path in files}
        return {"objects": objects, "reading": read(str(root))}


print(json.dumps([run(job) for job in json.load(sys.stdin)]))
