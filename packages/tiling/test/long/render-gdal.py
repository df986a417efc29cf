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


def warp(view):
    span = 2 * EDGE / 2 ** view["z"]
    left, top = -EDGE + view["x"] * span, EDGE - view["y"] * span
    source = gdal.Open(view["file"])
    color = source.GetRasterBand(1).GetColorTable()
    nodata = source.GetRasterBand(1).GetNoDataValue()
    # The exact transform, one overview, and a kernel that is not widened.
    options = ["-et", "0", "-ovr", "NONE" if view["overview"] == 0 else str(view["overview"] - 1)]
    options += ["-wo", "XSCALE=1", "-wo", "YSCALE=1", "-wm", "256", "-r", view["resampling"]]
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
