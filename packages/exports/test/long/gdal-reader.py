# Reads files with GDAL: a line of JSON each on stdin (name, base64), a line each on stdout.
import base64, json, sys, tempfile
from osgeo import gdal, ogr
try: from osgeo_utils.samples import validate_gpkg
except ImportError: validate_gpkg = None

gdal.UseExceptions()
told = []
gdal.SetErrorHandler(lambda level, number, text: told.append(text) if level >= gdal.CE_Warning else None)

def stamp(feature, i):
    year, month, day, hour, minute, second, zone = feature.GetFieldAsDateTime(i)
    kind = feature.GetFieldDefnRef(i).GetType()
    date = '%04d-%02d-%02d' % (year, month, day)
    clock = '%02d:%02d:%06.3f' % (hour, minute, second)
    if kind == ogr.OFTDate: return date
    if kind == ogr.OFTTime: return clock
    return date + 'T' + clock + ('' if zone == 0 else 'Z' if zone == 100 else '?' if zone == 1 else '%+d' % ((zone - 100) * 15))

def value(feature, i):
    if not feature.IsFieldSetAndNotNull(i): return None
    kind = feature.GetFieldDefnRef(i).GetType()
    if kind in (ogr.OFTDate, ogr.OFTTime, ogr.OFTDateTime): return stamp(feature, i)
    if kind == ogr.OFTBinary: return '\\x' + bytes(feature.GetFieldAsBinary(i)).hex()
    if kind == ogr.OFTString: return feature.GetFieldAsString(i)
    found = feature.GetField(i)
    return repr(found) if isinstance(found, float) else json.dumps(found)

def read(path):
    options = ['DATE_AS_STRING=YES'] if '.geojson' in path else ['KEEP_GEOM_COLUMNS=NO'] if path.endswith('.csv') else []
    source = gdal.OpenEx(path, gdal.OF_VECTOR, open_options=options)
    layer = source.GetLayer(0)
    definition = layer.GetLayerDefn()
    fields = [definition.GetFieldDefn(i) for i in range(definition.GetFieldCount())]
    rows = []
    for feature in layer:
        shape = feature.GetGeometryRef()
        wkb = bytes(shape.ExportToIsoWkb(ogr.wkbNDR)).hex() if shape is not None else None
        rows.append({'values': [value(feature, i) for i in range(len(fields))], 'geometry': wkb})
    system = layer.GetSpatialRef()
    code = None if system is None else '%s:%s' % (system.GetAuthorityName(None), system.GetAuthorityCode(None))
    return {'fields': [[f.GetName(), f.GetTypeName()] for f in fields], 'rows': rows, 'system': code}

def check(data):
    with tempfile.NamedTemporaryFile(suffix='.gpkg') as file:
        file.write(data)
        file.flush()
        try: validate_gpkg.check(file.name)
        except Exception as error: told.append(str(error))

for line in sys.stdin:
    asked = json.loads(line)
    path = '/vsimem/' + asked['name']
    gdal.FileFromMemBuffer(path, base64.b64decode(asked['bytes']))
    told.clear()
    if validate_gpkg and path.endswith('.gpkg'): check(base64.b64decode(asked['bytes']))
    try: found = read(path)
    except Exception as error: found = {'error': str(error)}
    print(json.dumps({'name': asked['name'], **found, 'told': list(told)}), flush=True)
    gdal.Unlink(path)
