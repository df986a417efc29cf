"""Writes, as JSON lines, what PROJ knows of every EPSG code that can be a raster's: name, PROJ string, the Helmert parameters
that come nearest to what PROJ does over the area of use, and points with their longitude and latitude in WGS 84 by PROJ.
After them come, for each geographic CRS, the areas in which PROJ takes one shift or another, the preferred one first.

    python3 crs-candidates.py /folder/with/proj.db/alone > candidates.jsonl

The folder must hold no grids, so that PROJ uses none: the table is for a program without grids. Needs GDAL's bindings, NumPy
and pyproj. CODES="4267 26711" does these codes alone. crs-table.ts makes the tables of these lines.
"""
import json
import math
import os
import re
import sqlite3
import sys

import numpy as np
import pyproj
from osgeo import gdal, osr
from pyproj.transformer import TransformerGroup

WGS84_A, WGS84_RF = 6378137.0, 298.257223563
SIDE = 5


def ecef(lon, lat, a, rf):
    e2 = 0 if rf == 0 else (2 - 1 / rf) / rf
    lam, phi = np.radians(lon), np.radians(lat)
    n = a / np.sqrt(1 - e2 * np.sin(phi) ** 2)
    return np.stack([n * np.cos(phi) * np.cos(lam), n * np.cos(phi) * np.sin(lam), n * (1 - e2) * np.sin(phi)])


def geodetic(xyz):
    e2 = (2 - 1 / WGS84_RF) / WGS84_RF
    x, y, z = xyz
    p = np.hypot(x, y)
    phi = np.arctan2(z, p * (1 - e2))
    for _ in range(8):
        n = WGS84_A / np.sqrt(1 - e2 * np.sin(phi) ** 2)
        phi = np.arctan2(z + e2 * n * np.sin(phi), p)
    return np.degrees(np.arctan2(y, x)), np.degrees(phi)


def shifted(xyz, p):
    """Position vector, rotations in arc seconds, scale in parts per million, as +towgs84 says it."""
    rx, ry, rz = np.radians(np.array(p[3:6]) / 3600)
    x, y, z = xyz
    k = 1 + p[6] * 1e-6
    return np.stack([k * (x - rz * y + ry * z) + p[0], k * (rz * x + y - rx * z) + p[1], k * (-ry * x + rx * y + z) + p[2]])


def misses(xyz, p, lon, lat):
    """East and north, in meters, from where the parameters lead to where PROJ leads."""
    got_lon, got_lat = geodetic(shifted(xyz, p))
    east = ((got_lon - lon + 180) % 360 - 180) * 111319.49 * np.cos(np.radians(lat))
    return np.concatenate([east, (got_lat - lat) * 111319.49])


def fit(xyz, lon, lat, free):
    p = np.zeros(7)
    steps = np.array([1, 1, 1, 0.01, 0.01, 0.01, 0.01])
    for _ in range(6):
        base = misses(xyz, p, lon, lat)
        columns = []
        for i in range(free):
            moved = p.copy()
            moved[i] += steps[i]
            columns.append((misses(xyz, moved, lon, lat) - base) / steps[i])
        change, *_ = np.linalg.lstsq(np.stack(columns, 1), -base, rcond=1e-9)
        p[:free] += change
    return p, float(np.abs(misses(xyz, p, lon, lat)).max())


def definition(srs):
    """The PROJ string without its datum, with the ellipsoid spelled out."""
    text = srs.ExportToProj4()
    if not text:
        return None
    parts = [t for t in text.split() if not t.startswith(("+datum", "+towgs84", "+nadgrids", "+no_defs", "+type", "+ellps", "+a=", "+b=", "+rf=", "+R="))]
    return " ".join(parts)


def extents(db, table, code):
    return db.execute(
        "select e.west_lon, e.south_lat, e.east_lon, e.north_lat from usage u join extent e on e.auth_name = u.extent_auth_name "
        "and e.code = u.extent_code where u.object_table_name = ? and u.object_auth_name = 'EPSG' and u.object_code = ?",
        (table, str(code)),
    ).fetchone()


def candidate(db, table, code, name):
    area = extents(db, table, code)
    if area is None:
        return None
    west, south, east, north = area
    if east < west:
        east += 360
    srs, wgs84 = osr.SpatialReference(), osr.SpatialReference()
    srs.ImportFromEPSG(code)
    wgs84.ImportFromEPSG(4326)
    base = srs.CloneGeogCS()
    for one in (srs, wgs84, base):
        one.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    text = definition(srs)
    if text is None:
        return None
    a, rf = srs.GetSemiMajor(), srs.GetInvFlattening()
    inset = 0.02
    lons = west + (east - west) * np.linspace(inset, 1 - inset, SIDE)
    lats = south + (north - south) * np.linspace(inset, 1 - inset, SIDE)
    grid = [(float((lon + 180) % 360 - 180), float(lat)) for lat in np.clip(lats, -89, 89) for lon in lons]
    to_crs = osr.CoordinateTransformation(wgs84, srs)
    to_wgs84 = osr.CoordinateTransformation(srs, wgs84)
    to_base = osr.CoordinateTransformation(srs, base)
    points, source = [], []
    for lon, lat in grid:
        try:
            x, y, _ = to_crs.TransformPoint(lon, lat)
            back_lon, back_lat, _ = to_wgs84.TransformPoint(x, y)
            base_lon, base_lat, _ = to_base.TransformPoint(x, y)
        except Exception:
            continue
        if not all(map(math.isfinite, (x, y, back_lon, back_lat, base_lon, base_lat))):
            continue
        if abs(back_lat - lat) > 0.1 or abs((back_lon - lon + 180) % 360 - 180) > 0.1:
            continue
        points.append([x, y, back_lon, back_lat])
        source.append((base_lon, base_lat))
    if len(points) < 4:
        return None
    points = np.array(points)
    source = np.array(source)
    # Longitudes of a datum count from its own prime meridian.
    meridian = base.GetAttrValue("PRIMEM", 1)
    pm = float(meridian) * base.GetAngularUnits() * 180 / math.pi if meridian else 0.0
    xyz = ecef(source[:, 0] * base.GetAngularUnits() * 180 / math.pi + pm, source[:, 1] * base.GetAngularUnits() * 180 / math.pi, a, rf)
    lon, lat = points[:, 2], points[:, 3]
    same_ellipsoid = abs(a - WGS84_A) < 1e-6 and abs(rf - WGS84_RF) < 1e-2
    zero = float(np.abs(misses(xyz, np.zeros(7), lon, lat)).max())
    if zero <= 1e-3 or (same_ellipsoid and zero <= 1e-3):
        shift, miss = [], zero
    else:
        p, miss = fit(xyz, lon, lat, 3)
        shift = [round(float(v), 4) for v in p[:3]]
        if miss > 0.01:
            p7, miss7 = fit(xyz, lon, lat, 7)
            # Seven parameters are no better than three where a handful of points cannot tell them apart.
            if miss7 < miss / 2 and np.abs(p7).max() < 5000:
                shift, miss = [round(float(v), 6) for v in p7], miss7
    return {
        "code": code,
        "base": int(base.GetAuthorityCode(None) or 0),
        "name": name,
        "definition": text,
        "a": a,
        "rf": rf,
        "shift": shift,
        "points": [[float(v) for v in point] for point in points],
    }


def parameters(pipeline):
    """The seven parameters of a transformation, as +towgs84 has them; None for one of another kind, as over a grid."""
    if "grids=" in pipeline or pipeline.count("proj=helmert") > 1 or "molobadekas" in pipeline:
        return None
    step = re.search(r"proj=helmert([^|]*?)(?= step|$)", pipeline)
    if step is None:
        return [0, 0, 0] if "geogoffset" not in pipeline else None
    values = dict(re.findall(r"(\w+)=(\S+)", step.group(1)))
    if "dx" in values or "t_epoch" in values:
        return None
    sign = -1 if values.get("convention") == "coordinate_frame" else 1
    shift = [float(values.get(k, 0)) for k in "xyz"]
    turn = [sign * float(values.get(k, 0)) for k in ("rx", "ry", "rz")] + [float(values.get("s", 0))]
    return shift + turn if any(turn) else shift


def areas(code):
    """West, south, east, north and parameters of each way to WGS 84, in the order in which PROJ prefers them at a point.
    Empty if all ways need a grid or have no area; None if no way is published.
    """
    ways = []
    group = TransformerGroup(code, 4326, always_xy=True, allow_ballpark=False)
    if not group.transformers and not group.unavailable_operations:
        return None
    for way in group.transformers:
        area = way.area_of_use
        if area is None:
            return []
        width = (area.east - area.west) % 360
        offshore = "- offshore" in (area.name or "").lower()
        size = width * (math.sin(math.radians(area.north)) - math.sin(math.radians(area.south)))
        ways.append((offshore, way.accuracy if way.accuracy >= 0 else math.inf, size, [*area.bounds, parameters(way.definition)]))
    return [way[-1] for way in sorted(ways, key=lambda way: way[:3])]


def main():
    folder = sys.argv[1]
    pyproj.datadir.set_data_dir(folder)
    osr.SetPROJSearchPaths([folder])
    osr.UseExceptions()
    gdal.SetConfigOption("OSR_USE_NON_DEPRECATED", "NO")
    db = sqlite3.connect(os.path.join(folder, "proj.db"))
    rows = [("projected_crs", int(code), name) for code, name in db.execute("select code, name from projected_crs where auth_name = 'EPSG'")]
    rows += [("geodetic_crs", int(code), name) for code, name in db.execute("select code, name from geodetic_crs where auth_name = 'EPSG' and type in ('geographic 2D', 'geographic 3D')")]
    wanted = {int(code) for code in os.environ.get("CODES", "").split()}
    bases = set()
    part = [int(v) for v in os.environ.get("PART", "0/1").split("/")]
    for index, (table, code, name) in enumerate(sorted(rows, key=lambda r: r[1])):
        if code > 32767 or index % part[1] != part[0] or (wanted and code not in wanted):
            continue
        try:
            found = candidate(db, table, code, name)
        except Exception as error:
            print(code, error, file=sys.stderr)
            continue
        if found is not None:
            bases.add(found["base"])
            print(json.dumps(found))
    for code in sorted(bases - {0}):
        ways = areas(code)
        if ways is not None:
            print(json.dumps({"areasOf": code, "ways": ways}))


main()
