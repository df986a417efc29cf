"""Warps views of rasters with GDAL, pinned so that what is compared is the picture and not GDAL's tolerance.

Reads a JSON list of views on stdin; prints one JSON line per view: the bands and the validity of each pixel, in base64.
"""
import base64
import json
import sys

import numpy
from osgeo import gdal

gdal.UseExceptions()
EDGE = 20037508.342789244


def steps(source, view, left, top, span):
    """Pixels of the overview along a pixel of the view, across and down, as GDAL 3.12 finds them: its mean on a grid.

    GDAL 3.10 takes the ratio of the window it reads to the view, which counts what lies outside of the raster.
    """
    size = view["size"]
    target = gdal.GetDriverByName("MEM").Create("", size, size, 1)
    target.SetProjection("EPSG:3857")
    target.SetGeoTransform((left, span / size, 0, top, 0, -span / size))
    transformer = gdal.Transformer(source, target, [])
    band = source.GetRasterBand(1)
    level = band if view["overview"] == 0 else band.GetOverview(view["overview"] - 1)
    factors = numpy.array([source.RasterXSize / level.XSize, source.RasterYSize / level.YSize])
    rows, columns = numpy.mgrid[0:size - 1:32j, 0:size - 1:32j].reshape(2, -1)

    def places(u, v):
        found = [transformer.TransformPoint(1, float(x) + u, float(y) + v) for x, y in zip(columns, rows)]
        return numpy.array([place if good else (numpy.nan,) * 3 for good, place in found])[:, :2]

    start = places(0, 0)
    inside = ((start >= 0) & (start < [source.RasterXSize, source.RasterYSize])).all(axis=1)
    a, b = [((places(*move) - start) / factors)[inside] for move in ((1, 0), (0, 1))]
    if len(a) == 0:
        return 1, 1
    lengths = numpy.hypot(*a.T), numpy.hypot(*b.T)
    sides = numpy.sqrt(numpy.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]))
    upright = numpy.abs(a[:, 1]) < 0.35 * a[:, 0]
    return [widening(float(numpy.nanmean(numpy.where(upright, one, sides)))) for one in lengths]


def widening(step):
    """GDAL's own rounding to whole numbers."""
    whole = max(1, round(step))
    return max(1, whole if abs(step - whole) < 0.05 else step)


def warp(view):
    span = 2 * EDGE / 2 ** view["z"]
    left, top = -EDGE + view["x"] * span, EDGE - view["y"] * span
    source = gdal.Open(view["file"])
    color = source.GetRasterBand(1).GetColorTable()
    nodata = source.GetRasterBand(1).GetNoDataValue()
    # The exact transform, one overview, and a kernel widened by the size of the view's pixels.
    options = ["-et", "0", "-ovr", "NONE" if view["overview"] == 0 else str(view["overview"] - 1)]
    across, down = steps(source, view, left, top, span)
    # Between overviews bilinear is four pixels, in favour of speed.
    if view["resampling"] == "bilinear" and max(across, down) < 1.95:
        across, down = 1, 1
    options += ["-wo", f"XSCALE={1 / across}", "-wo", f"YSCALE={1 / down}"]
    options += ["-wm", "256", "-r", view["resampling"].replace("_", "")]
    options += ["-t_srs", "EPSG:3857", "-te", str(left), str(top - span), str(left + span), str(top)]
    options += ["-ts", str(view["size"]), str(view["size"]), "-of", "MEM"]
    has_alpha = any(
        source.GetRasterBand(i + 1).GetColorInterpretation() == gdal.GCI_AlphaBand for i in range(source.RasterCount)
    )
    if not has_alpha:
        options.append("-dstalpha")
    if nodata is not None:
        # Named explicitly, GDAL drops a pixel only where all bands have no data.
        options += ["-srcnodata", repr(nodata)]
    target = gdal.Warp("", source, options=options)
    bands = [target.GetRasterBand(i + 1).ReadAsArray() for i in range(target.RasterCount)]
    alpha = bands.pop()
    return {
        "bands": [base64.b64encode(b.astype("<f8").tobytes()).decode() for b in bands],
        "valid": base64.b64encode((alpha > 0).astype("u1").tobytes()).decode(),
        "palette": color is not None,
    }


for line in sys.stdin:
    try:
        print(json.dumps(warp(json.loads(line))), flush=True)
    except RuntimeError as error:
        print(json.dumps({"error": str(error)}), flush=True)
