"""Values of tiles as GDAL and NumPy compute them; a job with its file per line of the input, an answer per line of the output."""
import base64
import json
import math
import sys

import numpy
from osgeo import gdal

gdal.UseExceptions()
EDGE = math.pi * 6378137


def warp(path, job, margin, kernel):
    span = 2 * EDGE / 2 ** job["z"]
    pixel = span / 256
    left, top = -EDGE + job["x"] * span - margin * pixel, EDGE - job["y"] * span + margin * pixel
    side = 256 + 2 * margin
    return gdal.Warp(
        "", path, format="MEM", dstSRS="EPSG:3857", outputBounds=(left, top - side * pixel, left + side * pixel, top),
        width=side, height=side, resampleAlg=kernel, errorThreshold=0, overviewLevel="NONE",
        warpOptions=["XSCALE=1", "YSCALE=1"], outputType=gdal.GDT_Float64, dstNodata=-9999)


def dem(job, mode, **options):
    row = job["y"] + 0.5
    latitude = math.atan(math.sinh(math.pi * (1 - 2 * row / 2 ** job["z"])))
    done = gdal.DEMProcessing("", warp(job["file"], job, 1, "bilinear"), mode, format="MEM", scale=math.cos(latitude), **options)
    return done.ReadAsArray()[1:-1, 1:-1].astype(float)


def picture(job):
    name = job["name"]
    if name == "hillshade":
        return [dem(job, "hillshade", azimuth=315, altitude=45)]
    if name == "slope":
        return [dem(job, "slope")]
    bands = warp(job["file"], job, 0, "near").ReadAsArray().astype(float)
    if name == "index":
        return [(bands[3] - bands[0]) / (bands[3] + bands[0])]
    if name == "terrarium":
        code = numpy.floor((bands + 32768) * 256)
        return [code // 65536, code // 256 % 256, code % 256]
    if name == "terrainrgb":
        code = numpy.floor((bands + 10000) / 0.1)
        return [code // 65536, code // 256 % 256, code % 256]
    return [bands] if bands.ndim == 2 else list(bands)


def statistics(job):
    data = gdal.Open(job["file"])
    values = data.GetRasterBand(1).ReadAsArray().astype(float).ravel()
    counts, edges = numpy.histogram(values, bins=10)
    return {
        "min": values.min(), "max": values.max(), "mean": values.mean(), "std": values.std(), "median": numpy.median(values),
        "percentile_2": numpy.percentile(values, 2), "percentile_98": numpy.percentile(values, 98),
        "unique": len(numpy.unique(values)), "histogram": [counts.tolist(), edges.tolist()],
    }


def read(job):
    data = gdal.Open(job["file"])
    mask = data.GetRasterBand(1).GetMaskBand().ReadAsArray()
    return {"bands": encoded(list(data.ReadAsArray().reshape(data.RasterCount, data.RasterYSize, data.RasterXSize).astype(float))),
            "mask": encoded([(mask > 0).astype(float)])[0], "epsg": int(data.GetSpatialRef().GetAuthorityCode(None)),
            "transform": data.GetGeoTransform(), "names": [data.GetRasterBand(i + 1).GetDescription() for i in range(data.RasterCount)]}


def encoded(bands):
    return [base64.b64encode(numpy.ascontiguousarray(band, dtype="<f8").tobytes()).decode() for band in bands]


for line in sys.stdin:
    job = json.loads(line)
    # GDAL may run beside another root, where the files of the test are not.
    job["file"] = "/vsimem/file.tif"
    gdal.FileFromMemBuffer(job["file"], base64.b64decode(job.pop("data")))
    if job["kind"] == "statistics":
        print(json.dumps(statistics(job)))
    elif job["kind"] == "read":
        print(json.dumps(read(job)))
    else:
        print(json.dumps({"bands": encoded(picture(job))}))
