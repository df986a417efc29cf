"""Writes GeoTIFFs by random creation options and tells what GDAL reads of them, one JSON object per line.

Arguments: seed, first number, number to stop before, and "patched" to change tags of the first directory at random: `gdal` is null where GDAL then
refuses the file. File i depends on the seed and i alone. Needs GDAL's Python bindings and NumPy; files stay in memory.
Arrays are little-endian, deflated, in base64.
"""

import base64
import json
import math
import random
import struct
import sys
import zlib

import numpy as np
from osgeo import gdal, osr

gdal.UseExceptions()
osr.UseExceptions()
gdal.PushErrorHandler("CPLQuietErrorHandler")
gdal.SetConfigOption("GDAL_NUM_THREADS", "1")
gdal.SetConfigOption("GDAL_PAM_ENABLED", "NO")

INTEGERS = {"Byte": "u1", "Int8": "i1", "UInt16": "u2", "Int16": "i2", "UInt32": "u4", "Int32": "i4"}
TYPES = {
    **INTEGERS,
    "Float32": "f4",
    "Float64": "f8",
    "UInt64": "u8",
    "Int64": "i8",
    "CInt16": "c8",
    "CInt32": "c16",
    "CFloat32": "c8",
    "CFloat64": "c16",
}
COMMON_TYPES = [*INTEGERS, "Float32", "Float64"]
RARE_TYPES = [name for name in TYPES if name not in COMMON_TYPES]
LOSSLESS = ["NONE", "DEFLATE", "LZW", "ZSTD", "PACKBITS", "LERC", "LERC_DEFLATE", "LERC_ZSTD"]

# EPSG code, a coordinate inside of it, metres or degrees per pixel
PLACES = [
    (32633, 412345.5, 5612345.25, 10),
    (32660, 830000, 1000000, 30),
    (32701, 180000, 8200000, 20),
    (32756, 334000, 6252000, 0.5),
    (3857, -6853649.7, 1831431.2, 152.874),
    (3857, 20037000.0, 5000000, 611.5),
    (4326, 13.5, 50.25, 0.0001),
    (4326, 179.99, -16.5, 0.001),
    (4326, -180, 90, 2.5),
    (4326, 0, 40, 1 / 3600),
    (4269, -105.25, 40, 0.0001),
    (3031, 1200000, -800000, 500),
    (3413, -50000, 50000, 2000),
    (5041, 2000000, 2000000, 1000),
    (2154, 652000, 6862000, 0.2),
    (3035, 4500000, 3300000, 100),
    (2193, 1750000, 5920000, 15),
    (5070, -1500000, 1800000, 30),
    (3006, 674000, 6580000, 10),
    (28356, 334000, 6252000, 1),
    (2263, 980000, 190000, 3),
    (2056, 2600000, 1200000, 2),
    (27700, 530000, 180000, 5),
    (26917, 600000, 4800000, 30),
    (6340, 500000, 4000000, 1),
]
COMPOUND = ["EPSG:32633+5773", "EPSG:2193+7839", "EPSG:5972", "EPSG:4979"]
USER_DEFINED = [
    "+proj=laea +lat_0=20 +lon_0=30 +datum=WGS84 +units=m",
    "+proj=utm +zone=33 +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7 +units=m",
    "+proj=utm +zone=33 +datum=WGS84 +units=us-ft",
    "+proj=longlat +R=3396190",
    "+proj=sinu +R=6371007.181",
]
CREATION_KEYS = ("TILED", "INTERLEAVE", "BIGTIFF", "ENDIANNESS", "GEOTIFF_KEYS_FLAVOR", "GEOTIFF_VERSION")


def packed(data):
    return base64.b64encode(zlib.compress(data, 1)).decode()


def side(rng, block):
    near = [1, 2, block - 1, block, block + 1, 2 * block, 2 * block + 1]
    return max(1, rng.choice([*near, rng.randrange(1, 200), rng.randrange(1, 200)]))


def choose_layout(rng):
    """Type, compression and block options that may go together; GDAL has the last word."""
    dtype, compress = rng.choice(COMMON_TYPES), rng.choice(LOSSLESS)
    odd = rng.random()
    # GDAL crashes now and then after an error of a codec, so what is sure to fail is not tried.
    if odd > 0.94:
        dtype, compress = rng.choice(RARE_TYPES), rng.choice(LOSSLESS[:5])
    elif odd < 0.1:
        dtype, compress = "Byte", "JPEG"
    elif odd < 0.17:
        dtype, compress = "Byte", "WEBP"
    elif odd < 0.2:
        compress = rng.choice(["LZMA", "CCITTRLE", "CCITTFAX3", "CCITTFAX4"])
        dtype = dtype if compress == "LZMA" else "Byte"
    options = {"COMPRESS": compress, "BIGTIFF": rng.choice(["YES", "NO"])}
    if rng.random() < 0.4:
        options["ENDIANNESS"] = "BIG"
    options["INTERLEAVE"] = rng.choice(["PIXEL", "BAND"])
    block = rng.choice([16, 16, 32, 48, 64, 128])
    if rng.random() < 0.6:
        options.update(TILED="YES", BLOCKXSIZE=block, BLOCKYSIZE=rng.choice([16, 32, block]))
    elif rng.random() < 0.8:
        options["BLOCKYSIZE"] = rng.choice([8, 16, block] if compress == "JPEG" else [1, 2, 7, block])
    if compress in ("DEFLATE", "LZW", "ZSTD", "LZMA"):
        options["PREDICTOR"] = rng.choice([1, 2, 3] if dtype.startswith("Float") else [1, 2])
    return dtype, compress, options, block


def choose_depth(rng, dtype, compress, options):
    """Fewer bits per sample, or the lossy settings of a codec. Returns the bits that values may fill."""
    bits = 8 * np.dtype(TYPES[dtype]).itemsize
    if compress in ("CCITTRLE", "CCITTFAX3", "CCITTFAX4"):
        options["NBITS"] = 1
        return 1
    if compress == "JPEG":
        options["JPEG_QUALITY"] = rng.choice([40, 75, 90, 100])
        options["JPEGTABLESMODE"] = rng.choice([0, 1, 2, 3])
        return 8
    if compress == "WEBP":
        options["WEBP_LOSSLESS"] = rng.choice(["YES", "NO"])
        options["WEBP_LEVEL"] = rng.choice([40, 75, 95])
        return 8
    if compress.startswith("LERC"):
        options["MAX_Z_ERROR"] = rng.choice([0, 0, 0, 0.5, 2])
        return bits
    if rng.random() < 0.3 and dtype in ("Byte", "UInt16", "UInt32"):
        low = {"Byte": 1, "UInt16": 9, "UInt32": 17}[dtype]
        bits = rng.randrange(low, bits)
        options["NBITS"] = bits
        options["PREDICTOR"] = 1
    elif rng.random() < 0.25 and dtype == "Float32":
        options["NBITS"] = rng.choice([16, 16, 16, 24])
        options["PREDICTOR"] = rng.choice([1, 2, 3]) if options["NBITS"] == 16 else 1
    return bits


def make_pixels(rng, dtype, bits, bands, height, width):
    noise = np.random.RandomState(rng.randrange(2**31))
    kind = TYPES[dtype]
    y, x, b = np.mgrid[0:height, 0:width, 0:bands].astype("f8")
    smooth = (np.sin(x / 9 + b) + np.cos(y / 13)) / 4 + 0.5
    mixed = np.clip(smooth + noise.choice([0, 0.02, 0.4]) * noise.randn(height, width, bands), 0, 1)
    if kind[0] == "u":
        return np.floor(mixed * (2.0**bits - 1)).clip(0, 2.0 ** min(bits, 53) - 1).astype(kind)
    if kind[0] == "i":
        return np.floor((mixed - 0.5) * (2.0**bits - 1)).astype(kind)
    values = (mixed - 0.4) * 10.0 ** rng.randrange(-3, 5)
    if kind[0] == "c":
        return (values + 1j * mixed).astype(kind)
    if rng.random() < 0.3:
        spoiled = noise.rand(height, width, bands)
        values[spoiled < 0.02] = np.nan
        if rng.random() < 0.5:
            values[spoiled > 0.99] = np.inf
            values[spoiled > 0.995] = -np.inf
    return values.astype(kind)


def choose_nodata(rng, dtype, pixels):
    if rng.random() < 0.55 or TYPES[dtype][0] == "c":
        return None
    if dtype.startswith("Float"):
        some = float(pixels.flat[rng.randrange(pixels.size)])
        return rng.choice([math.nan, -9999.0, some, -3.4028234663852886e38, 0.1, 1e20, math.inf])
    some = int(pixels.flat[rng.randrange(pixels.size)])
    if dtype in ("UInt64", "Int64"):
        return some
    return rng.choice([0, 0, some, some, -9999, 255, 300, 65535, 0.5])


def choose_reference(rng):
    """The CRS, and the transform; sometimes without either."""
    code, x, y, step = rng.choice(PLACES)
    crs = f"EPSG:{code}"
    other = rng.random()
    if other < 0.06:
        crs = None
    elif other < 0.12:
        crs = rng.choice(COMPOUND)
        x, y, step = (1750000, 5920000, 15) if "2193" in crs else (500000, 5600000, 10)
        if crs == "EPSG:4979":
            x, y, step = 13.5, 50.25, 0.001
    elif other < 0.17:
        crs = rng.choice(USER_DEFINED)
        x, y, step = (10, 20, 0.01) if "longlat" in crs else (500000, 4000000, 10)
    angle = rng.choice([0, 0, 0, 0, 0, 0.3, 2.5])
    down = -step * rng.choice([1, 1, 1, 1.5])
    transform = [
        x,
        step * math.cos(angle),
        -down * math.sin(angle) if angle else 0.0,
        y,
        step * math.sin(angle) if angle else 0.0,
        down * math.cos(angle) if angle else down,
    ]
    shape = rng.random()
    if shape < 0.08:
        transform = [x, step, 0.0, y, 0.0, -down]
    elif shape < 0.12:
        transform = None
    return crs, transform


def put_reference(rng, dataset, crs, transform):
    if crs is not None:
        reference = osr.SpatialReference()
        reference.SetFromUserInput(crs)
        reference.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
        dataset.SetSpatialRef(reference)
    if transform is not None:
        dataset.SetGeoTransform(transform)
    elif crs is not None and rng.random() < 0.6:
        points = [gdal.GCP(10 + 0.1 * c, 50 - 0.1 * r, 0, c, r) for c, r in ((0, 0), (9, 0), (9, 9), (0, 9))]
        dataset.SetGCPs(points, dataset.GetSpatialRef())
    if rng.random() < 0.1:
        dataset.SetMetadataItem("AREA_OR_POINT", "Point")


def make(rng, path):
    dtype, compress, options, block = choose_layout(rng)
    bits = choose_depth(rng, dtype, compress, options)
    width, height = side(rng, block), side(rng, block)
    bands = rng.choice([1, 1, 1, 2, 3, 3, 4, 5, 13])
    if compress == "WEBP":
        bands = rng.choice([3, 4])
        options["INTERLEAVE"] = "PIXEL"
    if compress.startswith("CCITT"):
        bands = 1
    if width * height * bands > 60000:
        height = max(1, 60000 // (width * bands))
    if rng.random() < 0.25:
        options["ALPHA"] = rng.choice(["YES", "NON-PREMULTIPLIED", "PREMULTIPLIED", "NO"])
    photometric = rng.random()
    if bands >= 3 and photometric < 0.5:
        options["PHOTOMETRIC"] = "YCBCR" if compress == "JPEG" and bands == 3 and dtype == "Byte" else "RGB"
    elif photometric < 0.56:
        options["PHOTOMETRIC"] = rng.choice(["MINISWHITE", "MINISBLACK", "CMYK", "CIELAB"])
    if rng.random() < 0.3:
        options["GEOTIFF_VERSION"] = rng.choice(["1.0", "1.1"])
    if rng.random() < 0.2:
        options["GEOTIFF_KEYS_FLAVOR"] = "ESRI_PE"
    sparse = rng.random() < 0.12
    if sparse:
        options["SPARSE_OK"] = "TRUE"
    pixels = make_pixels(rng, dtype, bits, bands, height, width)
    if options.get("ALPHA", "NO") != "NO" and bands in (2, 4) and dtype in INTEGERS:
        top = min(2**bits - 1, np.iinfo(TYPES[dtype]).max)
        pixels[:, :, -1] = np.where(pixels[:, :, -1] > top // 3, top, 0)
    nodata = choose_nodata(rng, dtype, pixels)
    cog = compress not in ("PACKBITS", "CCITTRLE", "CCITTFAX3", "CCITTFAX4") and rng.random() < 0.12
    creation = [f"{key}={value}" for key, value in options.items()]
    driver = gdal.GetDriverByName("MEM" if cog else "GTiff")
    target = "" if cog else path
    dataset = driver.Create(target, width, height, bands, gdal.GetDataTypeByName(dtype), [] if cog else creation)
    crs, transform = choose_reference(rng)
    put_reference(rng, dataset, crs, transform)
    if nodata is not None:
        for band in range(1, bands + 1):
            dataset.GetRasterBand(band).SetNoDataValue(nodata)
    palette = bands == 1 and dtype in ("Byte", "UInt16") and rng.random() < 0.15 and "PHOTOMETRIC" not in options
    if palette and compress in ("NONE", "DEFLATE", "LZW", "ZSTD", "PACKBITS"):
        table = gdal.ColorTable()
        for index in range(min(2**bits, 256)):
            table.SetColorEntry(index, (index * 7 % 256, 255 - index % 256, index * 31 % 256, 255))
        dataset.GetRasterBand(1).SetRasterColorTable(table)
    if rng.random() < 0.15:
        dataset.GetRasterBand(rng.randrange(bands) + 1).SetScale(0.01)
        dataset.GetRasterBand(rng.randrange(bands) + 1).SetOffset(-100)
    write_pixels(rng, dataset, pixels, sparse)
    if rng.random() < 0.15:
        dataset.CreateMaskBand(gdal.GMF_PER_DATASET)
        shade = np.where(pixels[:, :, 0].real > np.nanmedian(pixels[:, :, 0].real), 255, 0).astype("u1")
        dataset.GetRasterBand(1).GetMaskBand().WriteArray(shade)
    if not cog and rng.random() < 0.2 and min(width, height) > 3:
        dataset.BuildOverviews(rng.choice(["NEAREST", "AVERAGE"]), [2])
    if cog:
        copy = {key: options[key] for key in ("COMPRESS", "BIGTIFF") if key in options}
        copy.update(BLOCKSIZE=rng.choice([128, 256]), PREDICTOR=rng.choice(["YES", "NO"]), QUALITY=75)
        gdal.GetDriverByName("COG").CreateCopy(path, dataset, options=[f"{k}={v}" for k, v in copy.items()])
        options["COG"] = "YES"
    dataset = None
    return {**options, "dtype": dtype}


def write_pixels(rng, dataset, pixels, sparse):
    """All of them, or, in sparse files, some squares."""
    height, width, bands = pixels.shape
    squares = [(0, 0, width, height)]
    if sparse:
        squares = [(x, y, 30, 30) for y in range(0, height, 30) for x in range(0, width, 30) if rng.random() < 0.4]
    for x, y, across, down in squares:
        part = pixels[y : y + down, x : x + across]
        for band in range(bands):
            dataset.GetRasterBand(band + 1).WriteArray(np.ascontiguousarray(part[:, :, band]), x, y)


def valid_pixels(dataset, index, array):
    """The rule of the reader: neither nodata, nor masked, nor transparent, nor not finite."""
    band = dataset.GetRasterBand(index)
    valid = np.isfinite(array)
    nodata = band.GetNoDataValue()
    # For floating point GDAL compares with a tolerance, which is without bounds near the largest numbers.
    by_nodata = band.GetMaskFlags() == gdal.GMF_NODATA
    if not by_nodata or array.dtype.kind != "f":
        valid &= band.GetMaskBand().ReadAsArray() != 0
    if (not by_nodata or array.dtype.kind == "f") and nodata is not None and not math.isnan(nodata):
        in_range = array.dtype.kind == "f" or np.iinfo(array.dtype).min <= nodata <= np.iinfo(array.dtype).max
        if in_range:
            valid &= array != array.dtype.type(nodata)
    for number in range(1, dataset.RasterCount + 1):
        if dataset.GetRasterBand(number).GetColorInterpretation() == gdal.GCI_AlphaBand:
            valid &= dataset.GetRasterBand(number).ReadAsArray() != 0
            break
    return valid


def horizontal_code(reference):
    """The EPSG code of a CRS without its heights."""
    if reference is None:
        return None
    code = reference.GetAuthorityCode("PROJCS" if reference.IsProjected() else "GEOGCS")
    return "4326" if code == "4979" else code


def corners(dataset):
    """Longitude and latitude of the four corners, left top first, then on to the right."""
    reference = dataset.GetSpatialRef()
    transform = dataset.GetGeoTransform(can_return_null=True)
    if horizontal_code(reference) is None or transform is None:
        return None
    plane = osr.SpatialReference()
    plane.ImportFromEPSG(int(horizontal_code(reference)))
    plane.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    earth = osr.SpatialReference()
    earth.ImportFromEPSG(4326)
    earth.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    ring = []
    for c, r in ((0, 0), (1, 0), (1, 1), (0, 1)):
        column, row = c * dataset.RasterXSize, r * dataset.RasterYSize
        x, y = gdal.ApplyGeoTransform(list(transform), column, row)
        try:
            lng, lat, _ = osr.CoordinateTransformation(plane, earth).TransformPoint(x, y)
        except RuntimeError:
            return None
        ring.append([lng, lat] if math.isfinite(lng) and abs(lat) <= 90 else None)
    return ring


def plain(value):
    if value is None or not isinstance(value, float) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def observe(path):
    dataset = gdal.Open(path)
    if dataset.RasterXSize * dataset.RasterYSize * dataset.RasterCount > 4_000_000:
        raise RuntimeError("too large to compare")
    reference = dataset.GetSpatialRef()
    bands = []
    for index in range(1, dataset.RasterCount + 1):
        band = dataset.GetRasterBand(index)
        array = band.ReadAsArray()
        complex_samples = array.dtype.kind == "c"
        bands.append(
            {
                "type": gdal.GetDataTypeName(band.DataType),
                "color": gdal.GetColorInterpretationName(band.GetColorInterpretation()).lower(),
                "scale": band.GetScale(),
                "offset": band.GetOffset(),
                "nodata": plain(band.GetNoDataValue()),
                "samples": None if complex_samples else packed(np.ascontiguousarray(array).tobytes()),
                "valid": None if complex_samples else packed(valid_pixels(dataset, index, array).astype("u1").tobytes()),
            }
        )
    first = dataset.GetRasterBand(1)
    table = first.GetColorTable()
    overviews = [first.GetOverview(i) for i in range(first.GetOverviewCount())]
    return {
        "width": dataset.RasterXSize,
        "height": dataset.RasterYSize,
        "compression": dataset.GetMetadataItem("COMPRESSION", "IMAGE_STRUCTURE"),
        "bands": bands,
        "palette": None if table is None else [table.GetColorEntry(i)[:3] for i in range(table.GetCount())],
        "transform": dataset.GetGeoTransform(can_return_null=True),
        "epsg": horizontal_code(reference),
        "corners": corners(dataset),
        "points": dataset.GetGCPCount(),
        "overviews": [
            {
                "width": view.XSize,
                "height": view.YSize,
                "samples": None if view.ReadAsArray().dtype.kind == "c" else packed(view.ReadAsArray().tobytes()),
            }
            for view in overviews
        ],
    }


def content(path):
    file = gdal.VSIFOpenL(path, "rb")
    data = gdal.VSIFReadL(1, gdal.VSIStatL(path).size, file)
    gdal.VSIFCloseL(file)
    return bytes(data)


# Tags that GDAL writes, and values that other writers give them.
TAG_VALUES = {
    254: [0, 1, 2, 4],
    256: [1, 3, 16, 50, 200],
    257: [1, 3, 16, 50, 200],
    258: [1, 2, 4, 8, 12, 16, 24, 32, 64],
    259: [1, 5, 7, 8, 32773, 32946, 34887, 50000, 50001],
    262: [0, 1, 2, 3, 4, 5, 6, 8],
    266: [1, 2],
    274: [1, 2, 3, 4, 6],
    277: [1, 2, 3, 4, 5],
    278: [1, 2, 16, 65535],
    284: [1, 2],
    317: [1, 2, 3],
    322: [16, 32, 64, 128],
    323: [16, 32, 64, 128],
    338: [0, 1, 2],
    339: [1, 2, 3, 4, 5, 6],
    530: [1, 2, 4],
}


def patch(rng, data):
    """Gives one or two fields of the first directory another value, tag, type or count."""
    data = bytearray(data)
    order = "<" if data[:2] == b"II" else ">"
    big = struct.unpack(order + "H", data[2:4])[0] == 43
    start = struct.unpack(order + ("Q" if big else "L"), data[8:16] if big else data[4:8])[0]
    count = struct.unpack_from(order + ("Q" if big else "H"), data, start)[0]
    first, length = (start + 8, 20) if big else (start + 2, 12)
    changes = []
    for _ in range(rng.choice([1, 1, 2])):
        at = first + length * rng.randrange(count)
        tag, kind = struct.unpack_from(order + "HH", data, at)
        values = TAG_VALUES.get(tag)
        value_at = at + (12 if big else 8)
        how = rng.random()
        if values is not None and how < 0.7:
            value = rng.choice(values)
            struct.pack_into(order + ("H" if kind == 3 else "L"), data, value_at, value)
        elif how < 0.8:
            value = rng.choice(list(TAG_VALUES))
            struct.pack_into(order + "H", data, at, value)
        elif how < 0.9:
            value = rng.choice([0, 1, 2, 3, 4, 5, 100])
            struct.pack_into(order + ("Q" if big else "L"), data, at + 4, value)
        else:
            value = rng.randrange(1, 19)
            struct.pack_into(order + "H", data, at + 2, value)
        changes.append(f"{tag} {how:.2f} {value}")
    return bytes(data), changes


def observe_patched(rng, path, line):
    data, line["changes"] = patch(rng, content(path))
    line["file"] = packed(data)
    gdal.FileFromMemBuffer(path, data)
    # GDAL reads files that it has complaints about.
    gdal.DontUseExceptions()
    try:
        line["gdal"] = observe(path)
    except (RuntimeError, MemoryError, ValueError, AttributeError) as refused:
        line["gdal"], line["refusal"] = None, gdal.GetLastErrorMsg() or str(refused)
    finally:
        gdal.UseExceptions()


def main():
    seed, first, stop = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for number in range(first, stop):
        for attempt in range(100):
            rng = random.Random(f"{seed} {number} {attempt}")
            path = f"/vsimem/{number}_{attempt}.tif"
            try:
                spec = make(rng, path)
                line = {"number": number, "spec": spec, "file": packed(content(path)), "gdal": observe(path)}
            except RuntimeError as refused:
                print(f"{number}: {refused}", file=sys.stderr)
                continue
            if sys.argv[4:] == ["patched"]:
                observe_patched(rng, path, line)
            print(json.dumps(line), flush=True)
            break
            # What GDAL cannot write is drawn anew.


main()
