import { h, render } from 'preact'
import type { Map as MapLibreMap, SourceSpecification, StyleSpecification } from 'maplibre-gl'
import maplibreCss from 'maplibre-gl/dist/maplibre-gl.css?url'
import maplibreWorker from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { TileType } from 'pmtiles'
import { publishedOf, type MapDocument } from '@terrane/map-style'
import { zipOf } from '../lib/one-file.ts'
import { isDark } from '../lib/theme.ts'
import { drawnSource } from '../map/draw-map.ts'
import { openArchive } from '../map/engine.ts'
import type { Box } from '../map/graticule.ts'
import { Legend } from '../pages/maps/legend.tsx'
import { collectTiles, type ReadTile } from './collect-tiles.ts'
import template from './index.html?raw'
import { packArchive, type ArchiveFacts } from './pack-archive.ts'
// oxlint-disable-next-line import/default -- The build makes the export.
import pageScript from './page.ts?worker&url'
import type { PageMap } from './page.ts'

/** Maximum number of tiles of a layer. */
const MOST_TILES = 400
/** Maximum size of the tiles of a layer, which the browser keeps in memory. */
const MOST_BYTES = 64 << 20
/** Last zoom of vector tiles; their positions are exact to 60 cm there, and the engine enlarges them beyond it. */
const LAST_VECTOR_ZOOM = 14

/** Formats of tiles in archives. */
const FORMATS: ReadonlyMap<TileType, ArchiveFacts['tiles']> = new Map([
  [TileType.Mvt, 'mvt'],
  [TileType.Png, 'png'],
  [TileType.Jpeg, 'jpeg'],
  [TileType.Webp, 'webp'],
])

/** A tiled source, and how its tiles are read. */
interface Plan {
  readonly read: ReadTile
  readonly facts: Omit<ArchiveFacts, 'bounds'>
  /** The attribution in the metadata of an archive, which licences require to be shown. */
  readonly attribution: { readonly attribution?: string }
}

/** A finished page. */
export interface StaticPage {
  readonly zip: File
  /** Last zoom of each layer that has fewer zooms than its source; null if the layer is left out. */
  readonly coarse: readonly { readonly title: string; readonly zoom: number | null }[]
}

/**
 * A zip with a page that shows the map as it is drawn now, without its hidden layers: the page, MapLibre, and the tiles
 * of its layers and basemap as PMTiles. It opens from any static host.
 *
 * @param onTile called after each tile with the title of its layer and the zoom
 */
export async function makePage(
  map: MapLibreMap,
  { document, name, signal }: { readonly document: MapDocument; readonly name: string; readonly signal: AbortSignal },
  onTile: (title: string, zoom: number) => void,
): Promise<StaticPage> {
  const shown = publishedOf(document)
  const titles = Object.fromEntries(shown.layers.map(({ id, title }) => [drawnSource(id), title]))
  const whole = boundsOf(shown.layers) ?? boundsOfView(map)
  const style = shownStyle(map, document.title)
  const files: File[] = []
  const coarse: { title: string; zoom: number | null }[] = []
  for (const [at, [id, source]] of Object.entries(style.sources).entries()) {
    const plan = await planOf(id, source, style, signal)
    if (source.type === 'geojson') style.sources[id] = { ...source, data: rounded(source.data) }
    if (!plan) continue
    const layer = shown.layers.find((one) => drawnSource(one.id) === id)
    // The basemap is kept around all layers.
    const bounds = (layer && boundsOf([layer])) ?? whole
    const { read, facts, attribution } = plan
    const title = layer?.title ?? 'Basemap'
    const isSparse = layer !== undefined && (layer.kind === 'raster' || layer.geometry === 'point')
    const extent = { bounds, zooms: facts.zooms, isSparse, most: MOST_TILES, mostBytes: MOST_BYTES }
    const { tiles, maxZoom, isWhole } = await collectTiles(read, extent, (zoom) => onTile(title, zoom))
    if (!isWhole) coarse.push({ title, zoom: maxZoom })
    if (maxZoom === null) {
      style.layers = style.layers.filter((one) => !('source' in one && one.source === id))
      delete style.sources[id]
      continue
    }
    const path = `tiles/${at}.pmtiles`
    files.push(new File(packArchive(tiles, { ...facts, zooms: [facts.zooms[0], maxZoom], bounds }), path))
    style.sources[id] = archiveOf({ ...attribution, ...source }, path)
  }
  const { fonts, css } = await fontsOf(signal)
  const about: PageMap = { style, titles }
  files.push(
    ...fonts,
    new File([JSON.stringify(about)], 'map.json'),
    new File([pageOf(shown, css)], 'index.html'),
    await assetOf(pageScript, 'page.js', signal),
    await assetOf(maplibreWorker, 'maplibre-worker.js', signal),
    await assetOf(maplibreCss, 'maplibre-gl.css', signal),
  )
  return { zip: await zipOf(files, `${name}.zip`, (file) => file.name), coarse }
}

const isPart = (id: string) => id === 'background' || id.startsWith('base:') || id.startsWith('map:')

/** The visible layers of the map and its basemap, their sources, and the view of this moment. */
function shownStyle(map: MapLibreMap, title: string): StyleSpecification {
  const { sources, layers } = map.getStyle()
  const { lng, lat } = map.getCenter()
  const shown = layers.filter(({ id, layout }) => isPart(id) && (layout as Visible)?.visibility !== 'none')
  const used = new Set(shown.map((layer) => ('source' in layer ? layer.source : '')))
  return {
    version: 8,
    name: title,
    center: [lng, lat],
    zoom: map.getZoom(),
    sources: Object.fromEntries(Object.entries(sources).filter(([id]) => used.has(id))),
    layers: shown,
  }
}

interface Visible {
  readonly visibility?: string
}

/** How the tiles of a source are read; null for data in the style itself, and for tiles of other hosts. */
async function planOf(
  id: string,
  source: SourceSpecification,
  { layers }: StyleSpecification,
  signal: AbortSignal,
): Promise<Plan | null> {
  if (source.type !== 'vector' && source.type !== 'raster') return null
  const names = layers.flatMap((layer) =>
    'source' in layer && layer.source === id ? [(layer as { 'source-layer'?: string })['source-layer'] ?? ''] : [],
  )
  const isVector = source.type === 'vector'
  const about = { tiles: isVector ? ('mvt' as const) : ('webp' as const), layers: isVector ? [...new Set(names)] : [] }
  const last = isVector ? LAST_VECTOR_ZOOM : (source.maxzoom ?? 22)
  const archiveUrl = source.url?.replace(/^pmtiles:\/\//, '')
  if (archiveUrl !== undefined) {
    if (new URL(archiveUrl).origin !== location.origin) return null
    const archive = openArchive(archiveUrl)
    const [{ minZoom, maxZoom, tileType }, metadata] = await Promise.all([archive.getHeader(), archive.getMetadata()])
    const format = FORMATS.get(tileType)
    if (!format) return null
    const { attribution } = metadata as { attribution?: unknown }
    const read: ReadTile = async (zoom, x, y) => {
      const tile = await archive.getZxy(zoom, x, y, signal)
      return tile ? new Uint8Array(tile.data) : null
    }
    return {
      read,
      facts: { ...about, tiles: format, zooms: [minZoom, Math.min(last, maxZoom)] },
      attribution: typeof attribution === 'string' ? { attribution } : {},
    }
  }
  const [tiles = ''] = source.tiles ?? []
  if (!tiles.startsWith(`${location.origin}/`)) return null
  const read: ReadTile = async (zoom, x, y) => {
    const url = tiles.replace('{z}', String(zoom)).replace('{x}', String(x)).replace('{y}', String(y))
    const response = await fetch(url.replace('{ratio}', ''), { signal })
    if (response.status === 204 || response.status === 404) return null
    if (!response.ok) throw new Error(`Tile ${zoom}/${x}/${y} was answered with ${response.status}.`)
    return new Uint8Array(await response.arrayBuffer())
  }
  return { read, facts: { ...about, zooms: [source.minzoom ?? 0, last] }, attribution: {} }
}

const short = (_: string, value: unknown) => (typeof value === 'number' ? Math.round(value * 1e4) / 1e4 : value)

/** Data of the world basemap, whose scale of 1:50 million needs no more than four decimal digits (11 m). */
function rounded<T>(data: T): T {
  return JSON.parse(JSON.stringify(data, short)) as T
}

/** The source whose tiles lie in an archive beside the page. */
function archiveOf(source: SourceSpecification, path: string): SourceSpecification {
  const { tiles: _tiles, maxzoom: _maxzoom, ...rest } = source as { tiles?: unknown; maxzoom?: unknown }
  return { ...rest, url: `pmtiles://${path}` } as SourceSpecification
}

/** The extent of the view, for a map without layers. */
function boundsOfView(map: MapLibreMap): Box {
  const view = map.getBounds()
  return [Math.max(-180, view.getWest()), view.getSouth(), Math.min(180, view.getEast()), view.getNorth()]
}

/** The extent of layers; null when there are none. */
function boundsOf(layers: MapDocument['layers']): Box | null {
  if (layers.length === 0) return null
  const all = layers.map(({ bounds }) => bounds)
  const edge = (at: number, pick: (...values: number[]) => number) => pick(...all.map((box) => box[at] ?? 0))
  // A layer over the date line makes the page's tiles those of the whole world.
  if (all.some(([west, , east]) => west > east)) return [-180, edge(1, Math.min), 180, edge(3, Math.max)]
  return [edge(0, Math.min), edge(1, Math.min), edge(2, Math.max), edge(3, Math.max)]
}

function pageOf({ title, layers }: MapDocument, fonts: string): string {
  const box = document.createElement('div')
  render(h(Legend, { layers }), box)
  const parts = { THEME: isDark.get() ? 'dark' : 'light', TITLE: escaped(title), FONTS: fonts, LEGEND: box.innerHTML }
  render(null, box)
  return template.replaceAll(/THEME|TITLE|FONTS|LEGEND/g, (part) => parts[part as keyof typeof parts])
}

function escaped(text: string): string {
  const box = document.createElement('div')
  box.textContent = text
  return box.innerHTML
}

/** The page's own fonts: the files of the alphabets that were loaded, and the rules that use them. */
async function fontsOf(signal: AbortSignal): Promise<{ fonts: File[]; css: string }> {
  const loaded = new Set([...document.fonts].flatMap((face) => (face.status === 'loaded' ? [face.unicodeRange] : [])))
  const rules = [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSFontFaceRule)
    .filter(({ style }) => loaded.has(style.getPropertyValue('unicode-range')))
  const found = await Promise.all(
    rules.map(async ({ cssText, parentStyleSheet }, at) => {
      const start = cssText.indexOf('url(')
      const whole = cssText.slice(start, cssText.indexOf(')', start) + 1)
      const address = whole.slice(4, -1).replaceAll('"', '')
      const file = `fonts/${at}.woff2`
      const url = new URL(address, parentStyleSheet?.href ?? location.href).href
      return { font: await assetOf(url, file, signal), rule: cssText.replace(whole, `url(${file})`) }
    }),
  )
  return { fonts: found.map(({ font }) => font), css: found.map(({ rule }) => rule).join('\n') }
}

async function assetOf(url: string, name: string, signal: AbortSignal): Promise<File> {
  const response = await fetch(url, { signal })
  if (!response.ok) throw new Error(`${name} was answered with ${response.status}.`)
  return new File([await response.blob()], name)
}
