"""Stacks files on the grid of the finest one, as gdalwarp does it. One JSON document in, one out."""
import base64
import json
import sys

import numpy
from osgeo import gdal

gdal.UseExceptions()
job = json.load(sys.stdin)
NONE = -1e30


def opened(name):
    path = f"/vsimem/{name}"
    gdal.FileFromMemBuffer(path, base64.b64decode(job["files"][name]))
    return gdal.Open(path)


files = {name: opened(name) for name in job["files"]}
used = list(dict.fromkeys(band["file"] for band in job["bands"]))
area = {name: abs(files[name].GetGeoTransform()[1] * files[name].GetGeoTransform()[5]) for name in used}
finest = files[min(used, key=lambda name: area[name])]
affine = finest.GetGeoTransform()
width, height = finest.RasterXSize, finest.RasterYSize
bounds = (affine[0], affine[3] + height * affine[5], affine[0] + width * affine[1], affine[3])


def same(data):
    size = (data.RasterXSize, data.RasterYSize) == (width, height)
    return size and all(abs(a - b) < 1e-9 for a, b in zip(data.GetGeoTransform(), affine))


def warped(name, band, kernel, nodata):
    data = files[name]
    one = gdal.Translate("", data, format="VRT", bandList=[band + 1])
    found = gdal.Warp(
        "", one, format="MEM", outputBounds=bounds, width=width, height=height, resampleAlg=kernel, errorThreshold=0,
        srcNodata="none" if nodata is None else repr(nodata), dstNodata=NONE, outputType=gdal.GDT_Float64)
    return found.ReadAsArray()


def encoded(array, kind):
    return base64.b64encode(numpy.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def stacked(band):
    data = files[band["file"]]
    own = data.GetRasterBand(band["band"] + 1)
    nodata = own.GetNoDataValue()
    if nodata is None:
        nodata = band.get("nodata")
    values = own.ReadAsArray().astype(float) if same(data) else warped(band["file"], band["band"], "bilinear", nodata)
    valid = values != NONE
    if same(data) and nodata is not None:
        valid &= values != nodata
    return {
        "resampled": not same(data), "values": encoded(values, "<f8"), "valid": encoded(valid, "u1"),
        "scale": own.GetScale(), "offset": own.GetOffset(),
    }


def excluded(mask):
    if mask is None:
        return numpy.zeros((height, width), bool)
    values = warped(mask["file"], 0, "near", None)
    flags = numpy.where(values == NONE, 0, values).astype(int)
    bits = sum(1 << bit for bit in mask["bits"])
    return (values == NONE) | numpy.isin(values, mask["values"]) | ((flags & bits) != 0)


code = int(finest.GetSpatialRef().GetAuthorityCode(None))
print(json.dumps({
    "grid": {"width": width, "height": height, "affine": affine, "epsg": code},
    "bands": [stacked(band) for band in job["bands"]],
    "masked": encoded(excluded(job["mask"]), "u1"),
}))
