import type { Style } from './compile.ts'
import { CONDITIONS, type MapDocument } from './document.ts'
import { mapInvalid } from './errors.ts'

/** Maximum number of layers of a map; all are drawn at once. */
const MOST_LAYERS = 60

/**
 * The map of a style that {@link compile} made. All members are checked, so that an untrusted style cannot inject URLs
 * or layers.
 *
 * @throws MAP_INVALID
 */
export function documentOf(style: unknown): MapDocument {
  const { metadata } = record(style, 'the style')
  const map = record(record(metadata, 'metadata')['terrane:map'], 'metadata["terrane:map"]')
  const layers = list(map['layers'], 'layers')
  if (layers.length > MOST_LAYERS) throw mapInvalid({ field: 'layers', wanted: `a list of at most ${MOST_LAYERS}` })
  text(map['title'], 'title')
  text(map['notes'], 'notes')
  for (const [i, layer] of layers.entries()) checkLayer(record(layer, `layers[${i}]`), `layers[${i}]`)
  const ids = new Set(layers.map((layer) => (layer as { id: string }).id))
  if (ids.size < layers.length) throw mapInvalid({ field: 'layers', wanted: 'a list of layers with ids of their own' })
  if (map['view'] !== null) {
    const view = record(map['view'], 'view')
    numbers(view['center'], 'view.center', 2)
    number(view['zoom'], 'view.zoom')
  }
  return map as unknown as MapDocument
}

/**
 * The style with absolute URLs: the base replaces `terrane:`, and a given publishable key is added.
 *
 * @param base address of the project, without a slash at its end
 */
export function addressed(style: Style, base: string, key: string | null = null): Style {
  const whole = (tiles: string) => {
    const address = tiles.replace(/^terrane:/, () => base)
    return key === null ? address : `${address}${address.includes('?') ? '&' : '?'}apikey=${encodeURIComponent(key)}`
  }
  const sources = Object.entries(style.sources).map(([id, source]) => [
    id,
    { ...source, tiles: (source['tiles'] as string[]).map(whole) },
  ])
  return { ...style, sources: Object.fromEntries(sources) as Style['sources'] }
}

function checkLayer(layer: Readonly<Record<string, unknown>>, at: string): void {
  text(layer['id'], `${at}.id`, /^[\w-]{1,40}$/)
  text(layer['title'], `${at}.title`)
  text(layer['attribution'], `${at}.attribution`)
  number(layer['opacity'], `${at}.opacity`)
  numbers(layer['zooms'], `${at}.zooms`, 2)
  numbers(layer['bounds'], `${at}.bounds`, 4)
  if (layer['kind'] === 'raster') {
    text(layer['url'], `${at}.url`, /^(storage|embeddings):\/\/.+$/)
    numbers(layer['bands'], `${at}.bands`, null)
    numbers(layer['tileZooms'], `${at}.tileZooms`, 2)
    for (const range of list(layer['stretch'], `${at}.stretch`)) numbers(range, `${at}.stretch`, 2)
    if (layer['colormap'] !== null) text(layer['colormap'], `${at}.colormap`)
    return
  }
  if (layer['kind'] !== 'vector') throw mapInvalid({ field: `${at}.kind`, wanted: 'vector or raster' })
  text(layer['table'], `${at}.table`, /^[^./]+\.[^/]+$/)
  number(layer['size'], `${at}.size`)
  const outline = record(layer['outline'], `${at}.outline`)
  text(outline['color'], `${at}.outline.color`)
  number(outline['width'], `${at}.outline.width`)
  const color = record(layer['color'], `${at}.color`)
  if (color['by'] === 'number') {
    const starts = numbers(color['starts'], `${at}.color.starts`, null)
    if (starts.some((start, i) => i > 0 && start <= starts[i - 1]!))
      throw mapInvalid({ field: `${at}.color.starts`, wanted: 'a list of ascending numbers' })
    numbers(color['rows'], `${at}.color.rows`, null)
  } else if (color['by'] === 'category') {
    for (const one of list(color['values'], `${at}.color.values`)) {
      const { value, rows } = record(one, `${at}.color.values`)
      plain(value, `${at}.color.values`)
      number(rows, `${at}.color.values`)
    }
  } else text(color['color'], `${at}.color.color`)
  for (const [i, filter] of list(layer['filters'], `${at}.filters`).entries()) {
    const { property, is, value } = record(filter, `${at}.filters[${i}]`)
    text(property, `${at}.filters[${i}].property`)
    if (!(CONDITIONS as readonly unknown[]).includes(is))
      throw mapInvalid({ field: `${at}.filters[${i}].is`, wanted: `one of ${CONDITIONS.join(', ')}` })
    plain(value, `${at}.filters[${i}].value`)
  }
  if (layer['label'] !== null) text(record(layer['label'], `${at}.label`)['property'], `${at}.label.property`)
}

function record(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw mapInvalid({ field, wanted: 'an object' })
}

function list(value: unknown, field: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw mapInvalid({ field, wanted: 'a list' })
}

function text(value: unknown, field: string, pattern = /^/): void {
  if (typeof value === 'string' && value.length <= 10_000 && pattern.test(value)) return
  throw mapInvalid({ field, wanted: 'such a text' })
}

function number(value: unknown, field: string): void {
  if (!Number.isFinite(value)) throw mapInvalid({ field, wanted: 'a number' })
}

function plain(value: unknown, field: string): void {
  if (typeof value === 'boolean' || Number.isFinite(value)) return
  text(value, field)
}

function numbers(value: unknown, field: string, length: number | null): readonly number[] {
  const all = list(value, field)
  if (length !== null && all.length !== length) throw mapInvalid({ field, wanted: `a list of ${length} numbers` })
  for (const one of all) number(one, field)
  return all as readonly number[]
}
