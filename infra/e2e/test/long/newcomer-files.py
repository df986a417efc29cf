# Files as people have them, made by GDAL: prints {"name": "base64 of the file", ...}.
import base64, io, json, os, tempfile, zipfile
import numpy as np
from osgeo import gdal, ogr, osr

gdal.UseExceptions()
folder = tempfile.mkdtemp()
at = lambda name: os.path.join(folder, name)
WEST, SOUTH = -8.66, 41.14

def srs(code):
    found = osr.SpatialReference()
    found.ImportFromEPSG(code)
    found.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return found

def scene():
    """A 4-band image of 1024 x 1024 pixels of 2 m in UTM 29N: fields of different colours, tiled, with overviews."""
    side, field = 1024, 64
    random = np.random.default_rng(7)
    colors = random.integers(20, 230, (side // field, side // field, 4))
    bands = np.kron(colors, np.ones((field, field, 1))).astype(np.int16)
    bands = np.clip(bands + random.integers(-12, 12, bands.shape), 1, 255).astype(np.uint8)
    options = ['TILED=YES', 'COMPRESS=DEFLATE', 'PHOTOMETRIC=RGB']
    image = gdal.GetDriverByName('GTiff').Create(at('my scene.tif'), side, side, 4, gdal.GDT_Byte, options)
    image.SetProjection(srs(32629).ExportToWkt())
    image.SetGeoTransform((532000, 2, 0, 4558000, 0, -2))
    for i in range(4):
        image.GetRasterBand(i + 1).WriteArray(bands[:, :, i])
    image.BuildOverviews('AVERAGE', [2, 4])
    image = None

def parcels(driver, path, layer, kind=ogr.wkbMultiPolygon, **options):
    """Twenty squares, one of them of two parts, with text, whole and broken numbers and a date."""
    source = ogr.GetDriverByName(driver).CreateDataSource(path)
    into = source.CreateLayer(layer, srs(4326), kind, **options)
    for name, type_ in (('name', ogr.OFTString), ('number', ogr.OFTInteger), ('area', ogr.OFTReal), ('since', ogr.OFTDate)):
        into.CreateField(ogr.FieldDefn(name, type_))
    for i in range(20):
        feature = ogr.Feature(into.GetLayerDefn())
        feature.SetField('name', 'Rua São João %d' % i)
        feature.SetField('number', i)
        feature.SetField('area', i * 1.5)
        feature.SetField('since', 1990 + i, 1, 2, 0, 0, 0, 0)
        x, y = WEST + i * 0.002, SOUTH
        ring = lambda dx: '((%f %f,%f %f,%f %f,%f %f,%f %f))' % (x + dx, y, x + dx + .001, y, x + dx + .001, y + .001, x + dx, y + .001, x + dx, y)
        text = 'POINT(%f %f)' % (x, y) if kind == ogr.wkbPoint else 'MULTIPOLYGON(%s)' % (ring(0) if i else ring(0) + ',' + ring(.05))
        feature.SetGeometry(ogr.CreateGeometryFromWkt(text))
        into.CreateFeature(feature)
    source = None

scene()
parcels('GPKG', at('parcels.gpkg'), 'parcels')
parcels('GeoJSON', at('squares.geojson'), 'squares')
parcels('CSV', at('stops.csv'), 'stops', ogr.wkbPoint, options=['GEOMETRY=AS_XY'])
os.mkdir(at('shape'))
parcels('ESRI Shapefile', at('shape/lots.shp'), 'lots', ogr.wkbPolygon)
track = ogr.GetDriverByName('GPX').CreateDataSource(at('walk.gpx'))
points = track.CreateLayer('waypoints', srs(4326), ogr.wkbPoint)
for i in range(5):
    feature = ogr.Feature(points.GetLayerDefn())
    feature.SetField('name', 'stop %d' % i)
    feature.SetGeometry(ogr.CreateGeometryFromWkt('POINT(%f %f)' % (WEST + i * 0.001, SOUTH)))
    points.CreateFeature(feature)
track = None
with zipfile.ZipFile(at('lots.zip'), 'w') as packed:
    for name in os.listdir(at('shape')):
        packed.write(at('shape/' + name), name)
names = [name for name in sorted(os.listdir(folder)) if os.path.isfile(at(name))]
print(json.dumps({name: base64.b64encode(open(at(name), 'rb').read()).decode() for name in names}))
