import { createHash } from 'node:crypto'

interface MapLayer {
  readonly name: string
  readonly type: 'vector' | 'vector-tile'
  readonly provider: 'OAPIF' | 'xyzvectortiles'
  readonly source: string
}

/** QGIS determines the coordinate reference system from this text; a code alone is not enough. */
const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]'
const MERCATOR = `PROJCS["WGS 84 / Pseudo-Mercator",${WGS84},PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],PARAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1],AXIS["X",EAST],AXIS["Y",NORTH],EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0.0 +lon_0=0.0 +x_0=0.0 +y_0=0 +k=1.0 +units=m +nadgrids=@null +wktext +no_defs"],AUTHORITY["EPSG","3857"]]`

const GEOMETRIES = ['Point', 'Line', 'Polygon']
/** QGIS draws tiles only with a style in the file. */
const TILE_STYLE = `<renderer type="basic"><styles>${[
  tileStyle('Polygon', 'fill', 'SimpleFill', { color: '61,122,184,90', outline_color: '61,122,184,255' }),
  tileStyle('Line', 'line', 'SimpleLine', { line_color: '61,122,184,255', line_width: '0.5' }),
  tileStyle('Point', 'marker', 'SimpleMarker', { color: '61,122,184,255', outline_color: '255,255,255,255' }),
].join('')}</styles></renderer>`

/**
 * XML of a layer definition file (`.qlr`) for QGIS 3. Each table gives a layer of features, which can be edited if the
 * key allows changes, and a layer of vector tiles, which is hidden at first.
 *
 * @param url address of the project
 * @param tables names with their schemas
 */
export function layerDefinition(url: string, key: string, tables: readonly string[]): string {
  const layers = tables.flatMap((table) => layersOf(url, key, table))
  const all = layers.map((layer) => ({
    ...layer,
    // The id is always the same, so that opening the file again replaces its layers in a project.
    id: `terrane_${createHash('sha256').update(`${layer.type} ${layer.name}`).digest('hex').slice(0, 16)}`,
  }))
  const tree = all.map(
    ({ id, name, provider, source }) =>
      `<layer-tree-layer id="${id}" name="${escaped(name)}" providerKey="${provider}" source="${escaped(source)}" checked="Qt::${provider === 'OAPIF' ? 'Checked' : 'Unchecked'}" expanded="0"/>`,
  )
  return `<!DOCTYPE qgis-layer-definition>
<qlr>
<layer-tree-group name="" checked="Qt::Checked" expanded="1">
<layer-tree-group name="Terrane" checked="Qt::Checked" expanded="1">
${tree.join('\n')}
</layer-tree-group>
</layer-tree-group>
<maplayers>
${all.map(mapLayer).join('\n')}
</maplayers>
</qlr>
`
}

function layersOf(url: string, key: string, table: string): MapLayer[] {
  const features = {
    pagingEnabled: 'default',
    restrictToRequestBBOX: '1',
    version: 'OGC_API_FEATURES',
    srsname: 'OGC:CRS84',
    url: `${url}/ogc/v1`,
    typename: table,
    username: 'terrane',
    password: key,
  }
  // QGIS decodes percent-encoded letters and braces, but not slashes and colons.
  const place = `${url}/vector/v1/${encodeURIComponent(table)}/%7Bz%7D/%7Bx%7D/%7By%7D`
  return [
    {
      name: table,
      type: 'vector',
      provider: 'OAPIF',
      source: Object.entries(features)
        .map(([name, value]) => `${name}='${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`)
        .join(' '),
    },
    {
      name: `${table} (tiles)`,
      type: 'vector-tile',
      provider: 'xyzvectortiles',
      source: `type=xyz&url=${place}&zmin=0&zmax=24&http-header:apikey=${encodeURIComponent(key)}`,
    },
  ]
}

function mapLayer({ id, name, type, provider, source }: MapLayer & { readonly id: string }): string {
  const isTiles = type === 'vector-tile'
  const srs = `<srs><spatialrefsys nativeFormat="Wkt"><wkt>${escaped(isTiles ? MERCATOR : WGS84)}</wkt></spatialrefsys></srs>`
  return `<maplayer type="${type}"><id>${id}</id><datasource>${escaped(source)}</datasource><layername>${escaped(name)}</layername>${srs}<provider encoding="UTF-8">${provider}</provider>${isTiles ? TILE_STYLE : ''}</maplayer>`
}

function tileStyle(kind: string, symbol: string, layer: string, options: Readonly<Record<string, string>>): string {
  const list = Object.entries(options).map(
    ([name, value]) => `<Option name="${name}" value="${value}" type="QString"/>`,
  )
  return `<style geometry="${GEOMETRIES.indexOf(kind)}" enabled="1" expression="geometry_type(@geometry)='${kind}'" name="${kind}" max-zoom="-1" min-zoom="-1" layer=""><symbols><symbol type="${symbol}" name="0" alpha="1"><layer class="${layer}" enabled="1"><Option type="Map">${list.join('')}</Option></layer></symbol></symbols></style>`
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
