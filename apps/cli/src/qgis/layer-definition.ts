import { createHash } from 'node:crypto'
import { addressed, compile, type MapDocument, type MapLayer, type VectorLayer } from '@terrane/map-style'
import { isClustered } from '@terrane/map-style/colors'
import { qgisFeatures, qgisStyles, type QgisFeatures } from './map-styles.ts'

interface QgisLayer {
  /** Unique among layers of its type. */
  readonly key: string
  readonly name: string
  readonly type: 'vector' | 'vector-tile' | 'raster'
  readonly provider: 'OAPIF' | 'xyzvectortiles' | 'wms'
  readonly source: string
  readonly isShown: boolean
  /** XML of its style. */
  readonly style: string
}

/** QGIS determines the coordinate reference system from this text; a code alone is not enough. */
const WGS84 =
  'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]'
const MERCATOR = `PROJCS["WGS 84 / Pseudo-Mercator",${WGS84},PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],PARAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1],AXIS["X",EAST],AXIS["Y",NORTH],EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0.0 +lon_0=0.0 +x_0=0.0 +y_0=0 +k=1.0 +units=m +nadgrids=@null +wktext +no_defs"],AUTHORITY["EPSG","3857"]]`

/** Kinds of geometries as QGIS numbers them, with their symbols. */
const SYMBOLS = {
  Point: ['marker', 'SimpleMarker'],
  Line: ['line', 'SimpleLine'],
  Polygon: ['fill', 'SimpleFill'],
} as const
const GEOMETRIES = Object.keys(SYMBOLS)
const ANYWHERE = { layer: '', zooms: [-1, -1], opacity: 1 } as const
/** QGIS draws tiles only with a style in the file. */
const TILE_STYLE = `<renderer type="basic"><styles>${[
  tileStyle('Polygon', { color: '61,122,184,90', outline_color: '61,122,184,255' }),
  tileStyle('Line', { line_color: '61,122,184,255', line_width: '0.5' }),
  tileStyle('Point', { color: '61,122,184,255', outline_color: '255,255,255,255' }),
].join('')}</styles></renderer>`

/**
 * XML of a layer definition file (`.qlr`) for QGIS 3. Each table gives a layer of features, which can be edited if the
 * key allows changes, and a layer of vector tiles, which is hidden at first.
 *
 * @param url address of the project
 * @param tables names with their schemas
 */
export function layerDefinition(url: string, key: string, tables: readonly string[]): string {
  return definitionOf(
    'Terrane',
    tables.flatMap((table) => layersOf(url, key, table)),
  )
}

/**
 * XML of a layer definition file with the layers of a map, from its tiles: a style for each colour of the legend,
 * labels, opacity and zooms. A heat map becomes points, and clusters have one size. `unreadable` are the titles of layers
 * whose tiles QGIS does not find: it decodes an escaped `#`, `?` or `&` before it sends an address.
 *
 * @param url address of the project
 */
export function mapDefinition(url: string, key: string, map: MapDocument): { xml: string; unreadable: string[] } {
  const { sources } = addressed(compile(map), url)
  const tilesOf = ({ id }: MapLayer) => (sources[id]!['tiles'] as string[])[0]!
  const layers = map.layers.map((layer): QgisLayer => {
    // QGIS does not know MapLibre's word for the resolution of the screen.
    const tiles = tilesOf(layer).replace('{ratio}', '').replaceAll('&', '%26')
    const zooms = layer.kind === 'raster' ? layer.tileZooms : [0, 22]
    const source = `type=xyz&url=${tiles}&zmin=${zooms[0]}&zmax=${zooms[1]}&http-header:apikey=${encodeURIComponent(key)}`
    const shared = { key: layer.id, name: layer.title, source, isShown: layer.isShown }
    if (layer.kind === 'vector')
      return { ...shared, type: 'vector-tile', provider: 'xyzvectortiles', style: vectorStyle(layer) }
    const style = `<pipe><rasterrenderer type="singlebandcolordata" band="1" alphaBand="-1" opacity="${layer.opacity}"/></pipe>`
    return { ...shared, type: 'raster', provider: 'wms', style }
  })
  const unreadable = map.layers.filter((layer) => changesWhenDecoded(tilesOf(layer))).map(({ title }) => title)
  return { xml: definitionOf(map.title, layers), unreadable }
}

function changesWhenDecoded(tiles: string): boolean {
  const [path = '', query = ''] = tiles.split('/{z}')
  return tiles.includes('%23') || path.includes('%3F') || query.includes('%26')
}

function vectorStyle(layer: VectorLayer): string {
  const { table, opacity, zooms } = layer
  const place = { layer: table.slice(table.indexOf('.') + 1), zooms, opacity }
  const symbols = qgisStyles(layer).map(({ name, geometry, expression, color }) =>
    tileStyle(geometry, symbolOf(layer, geometry, color), { ...place, name, expression }),
  )
  return `<renderer type="basic"><styles>${symbols.join('')}</styles></renderer>${labelsOf(layer)}`
}

function symbolOf(layer: VectorLayer, geometry: QgisFeatures['geometry'], color: string): Record<string, string> {
  const { size, outline } = layer
  if (geometry === 'Line') return { line_color: color, line_width: String(size), line_width_unit: 'Pixel' }
  const edge = {
    outline_color: outline.color,
    outline_width: String(outline.width),
    outline_width_unit: 'Pixel',
    outline_style: outline.width > 0 ? 'solid' : 'no',
  }
  if (geometry === 'Polygon') return { color, ...edge }
  const width = isClustered(layer) ? Math.max(22, size * 2) : size * 2
  return { color, ...edge, size: String(width), size_unit: 'Pixel' }
}

function labelsOf(layer: VectorLayer): string {
  const { label, table, zooms } = layer
  if (!label) return ''
  const buffer = 'bufferDraw="1" bufferSize="1.4" bufferSizeUnits="Pixel" bufferColor="255,255,255,230"'
  const text = `fieldName="${escaped(label.property)}" isExpression="0" fontSize="${escaped(String(label.size))}" fontSizeUnit="Pixel" textColor="29,37,41,255"`
  const settings = `<settings calloutType="simple"><text-style ${text}><text-buffer ${buffer}/></text-style></settings>`
  const styles = qgisFeatures(layer).map(({ geometry, expression }) => {
    const of = `geometry="${GEOMETRIES.indexOf(geometry)}" layer="${escaped(table.slice(table.indexOf('.') + 1))}" ${zoomsOf(zooms)} expression="${escaped(expression)}"`
    return `<style name="labels" enabled="1" ${of}>${settings}</style>`
  })
  return `<labeling type="basic"><styles>${styles.join('')}</styles></labeling>`
}

function definitionOf(title: string, layers: readonly QgisLayer[]): string {
  const all = layers.map((layer) => ({
    ...layer,
    // The id is always the same, so that opening the file again replaces its layers in a project.
    id: `terrane_${createHash('sha256').update(`${layer.type} ${layer.key}`).digest('hex').slice(0, 16)}`,
  }))
  const tree = all.map(
    ({ id, name, provider, source, isShown }) =>
      `<layer-tree-layer id="${id}" name="${escaped(name)}" providerKey="${provider}" source="${escaped(source)}" checked="Qt::${isShown ? 'Checked' : 'Unchecked'}" expanded="0"/>`,
  )
  return `<!DOCTYPE qgis-layer-definition>
<qlr>
<layer-tree-group name="" checked="Qt::Checked" expanded="1">
<layer-tree-group name="${escaped(title)}" checked="Qt::Checked" expanded="1">
${tree.join('\n')}
</layer-tree-group>
</layer-tree-group>
<maplayers>
${all.map(mapLayer).join('\n')}
</maplayers>
</qlr>
`
}

function layersOf(url: string, key: string, table: string): QgisLayer[] {
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
      key: table,
      name: table,
      type: 'vector',
      provider: 'OAPIF',
      isShown: true,
      style: '',
      source: Object.entries(features)
        .map(([name, value]) => `${name}='${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`)
        .join(' '),
    },
    {
      key: `${table} (tiles)`,
      name: `${table} (tiles)`,
      type: 'vector-tile',
      provider: 'xyzvectortiles',
      isShown: false,
      style: TILE_STYLE,
      source: `type=xyz&url=${place}&zmin=0&zmax=24&http-header:apikey=${encodeURIComponent(key)}`,
    },
  ]
}

function mapLayer({ id, name, type, provider, source, style }: QgisLayer & { readonly id: string }): string {
  const isTiles = type !== 'vector'
  const srs = `<srs><spatialrefsys nativeFormat="Wkt"><wkt>${escaped(isTiles ? MERCATOR : WGS84)}</wkt></spatialrefsys></srs>`
  return `<maplayer type="${type}"><id>${id}</id><datasource>${escaped(source)}</datasource><layername>${escaped(name)}</layername>${srs}<provider encoding="UTF-8">${provider}</provider>${style}</maplayer>`
}

interface StylePlace {
  readonly name: string
  readonly layer: string
  readonly expression: string
  readonly zooms: readonly [number, number]
  readonly opacity: number
}

function tileStyle(
  kind: keyof typeof SYMBOLS,
  options: Readonly<Record<string, string>>,
  of: StylePlace = { ...ANYWHERE, name: kind, expression: `geometry_type(@geometry)='${kind}'` },
): string {
  const list = Object.entries(options).map(
    ([name, value]) => `<Option name="${name}" value="${escaped(value)}" type="QString"/>`,
  )
  const [symbol, layer] = SYMBOLS[kind]
  const about = `expression="${escaped(of.expression)}" name="${escaped(of.name)}" ${zoomsOf(of.zooms)} layer="${escaped(of.layer)}"`
  return `<style geometry="${GEOMETRIES.indexOf(kind)}" enabled="1" ${about}><symbols><symbol type="${symbol}" name="0" alpha="${of.opacity}"><layer class="${layer}" enabled="1"><Option type="Map">${list.join('')}</Option></layer></symbol></symbols></style>`
}

function zoomsOf([from, to]: readonly [number, number]): string {
  return `max-zoom="${Math.ceil(to)}" min-zoom="${Math.floor(from)}"`
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
