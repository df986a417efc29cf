import { zarrUnusable } from './errors.ts'
import { fieldsOf, readNode, type Fields, type ZarrArray, type ZarrStore } from './metadata.ts'

/** Dimensions of a grid of pixels: positions in the shape. */
export interface ZarrAxes {
  readonly x: number
  readonly y: number
  /** Null for an array with one sample per pixel. */
  readonly band: number | null
}

/** An array with the meaning of its dimensions. Other dimensions have the length 1. */
export interface ZarrGrid {
  readonly array: ZarrArray
  readonly axes: ZarrAxes
  /** Dimension of several dates, and the position of the one that is read; null without. */
  readonly moment: { readonly axis: number; readonly index: number } | null
}

/** The arrays of a store that make a raster of vectors. Plain data: it can be posted to a worker thread. */
export interface ZarrRaster {
  readonly vectors: ZarrGrid
  /** Factor of each pixel's whole numbers; null without. */
  readonly scales: ZarrGrid | null
  /** Coordinates of the centres of columns and rows; null without. */
  readonly x: ZarrArray | null
  readonly y: ZarrArray | null
  /** Coordinates of several dates; null without. */
  readonly time: ZarrArray | null
  /** Attributes of the array and of its groups; those of the array count most. */
  readonly attributes: Fields
  /** Attributes of the grid mapping of CF, or none. */
  readonly mapping: Fields
}

/** Place of vectors in a store. */
export interface ZarrPlace {
  /** Path of the array or its group in the store; empty for the root. */
  readonly path: string
  /** Name of the array in its group; null when it has to be found. */
  readonly array: string | null
}

const X = /^(?:x|lon|longitude|easting)$/i
const Y = /^(?:y|lat|latitude|northing)$/i
const TIME = /^(?:t|time|date|datetime|years?)$/i
/** Names of arrays of vectors, where a store does not list its arrays. */
const USUAL = ['embeddings', 'embedding', 'vectors']
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/

/**
 * Finds the array of vectors in a store, its coordinates and its georeference; reads only metadata.
 *
 * @throws ZARR_UNUSABLE
 */
export async function findZarr(store: ZarrStore, place: ZarrPlace): Promise<ZarrRaster> {
  const { array, group, attributes: inherited } = await findArray(store, place)
  const attributes = { ...inherited, ...array.attributes }
  const { axes, moment } = axesOf(array, attributes)
  const vectors = { array, axes, moment }
  const sibling = (name: string | undefined) => siblingOf(store, group, name)
  const coordinateOf = async (axis: number) => {
    const found = (await sibling(array.names[axis]))?.array ?? null
    return found?.shape.length === 1 && found.shape[0] === array.shape[axis] ? found : null
  }
  const mapping = attributes['grid_mapping']
  const named = typeof mapping === 'string' ? /^[^\s:]+/.exec(mapping)?.[0] : 'spatial_ref'
  return {
    vectors,
    scales: array.dataType.includes('int') ? scalesOf(vectors, (await sibling('scales'))?.array ?? null) : null,
    x: await coordinateOf(axes.x),
    y: await coordinateOf(axes.y),
    time: moment && (await coordinateOf(moment.axis)),
    attributes,
    mapping: (await sibling(named))?.attributes ?? {},
  }
}

/** The array, the path of its group, and the attributes of all groups above. */
async function findArray(store: ZarrStore, { path, array: name }: ZarrPlace) {
  const parts = path.split('/').filter((part) => part !== '')
  for (const part of name === null ? parts : [...parts, name]) checkName(part)
  const attributes: Record<string, unknown> = {}
  for (let depth = 0; depth <= parts.length; depth++) {
    const at = parts.slice(0, depth).join('/')
    const node = await readNode(store, at)
    if (node?.kind === 'array') {
      return { array: node.array, group: parts.slice(0, Math.max(0, depth - 1)).join('/'), attributes }
    }
    Object.assign(attributes, node?.attributes)
    if (depth < parts.length) continue
    if (node === null) throw zarrUnusable({ why: `there is no group or array at "${at}"` })
    for (const candidate of name === null ? candidatesOf(node.arrays) : [name]) {
      const below = await readNode(store, at === '' ? candidate : `${at}/${candidate}`)
      if (below?.kind === 'array') return { array: below.array, group: at, attributes }
    }
    throw zarrUnusable({ why: notFound(name, node.arrays) })
  }
  throw zarrUnusable({ why: 'its path is not usable' })
}

/** Names of arrays that may be vectors: the usual ones, and the only one that a group lists. */
function candidatesOf(arrays: readonly string[] | null): readonly string[] {
  if (arrays === null) return USUAL
  const usual = USUAL.filter((name) => arrays.includes(name))
  const direct = arrays.filter((name) => NAME.test(name))
  return usual.length > 0 ? usual : direct.length === 1 ? direct : []
}

function notFound(name: string | null, arrays: readonly string[] | null): string {
  const listed = arrays === null ? '' : `; it lists ${arrays.slice(0, 20).join(', ')}`
  return name === null ? `none of its arrays is known to hold vectors${listed}` : `there is no array "${name}"${listed}`
}

function axesOf({ names, shape, chunk }: ZarrArray, attributes: Fields): Pick<ZarrGrid, 'axes' | 'moment'> {
  if (names.length !== shape.length) throw zarrUnusable({ why: 'the dimensions of its array have no names' })
  const stated = attributes['spatial:dimensions']
  const [down, across]: unknown[] = Array.isArray(stated) && stated.length === 2 ? stated : []
  const find = (exact: unknown, usual: RegExp) => {
    const at = names.findIndex((name) => name === exact)
    return at === -1 ? names.findIndex((name) => usual.test(name)) : at
  }
  const [x, y] = [find(across, X), find(down, Y)]
  const rest = names.map((_, axis) => axis).filter((axis) => axis !== x && axis !== y)
  const plain = rest.filter((axis) => !TIME.test(names[axis]!))
  const long = plain.filter((axis) => shape[axis]! > 1)
  const band = long.length > 0 ? long[0] : plain[0]
  if (x === -1 || y === -1 || band === undefined || long.length > 1) {
    throw zarrUnusable({ why: `the dimensions ${names.join(', ')} are not rows, columns and bands` })
  }
  const axes = { x, y, band }
  const times = rest.filter((axis) => axis !== band && shape[axis]! > 1)
  const [axis] = times
  if (axis === undefined) return { axes, moment: null }
  if (times.length > 1 || chunk[axis] !== 1) throw zarrUnusable({ why: 'its chunks hold several dates' })
  return { axes, moment: { axis, index: 0 } }
}

/** Scales of pixels, as TESSERA has them. @throws ZARR_UNUSABLE for chunks that are not those of the vectors */
function scalesOf({ array, axes: { x, y }, moment }: ZarrGrid, found: ZarrArray | null): ZarrGrid | null {
  if (found === null) return null
  const axisOf = (axis: number) => found.names.indexOf(array.names[axis]!)
  const axes = { x: axisOf(x), y: axisOf(y), band: null }
  const own = moment && { axis: axisOf(moment.axis), index: 0 }
  const pairs = [[axes.x, x], [axes.y, y], ...(moment && own ? [[own.axis, moment.axis]] : [])] as const
  const isSame = pairs.every(([a, b]) => found.shape[a] === array.shape[b] && found.chunk[a] === array.chunk[b])
  const isPlane = found.shape.every((size, axis) => size === 1 || pairs.some(([a]) => a === axis))
  if (!isPlane || !isSame) {
    throw zarrUnusable({ why: 'its array "scales" has another shape or other chunks than its vectors' })
  }
  return { array: found, axes, moment: own }
}

async function siblingOf(store: ZarrStore, group: string, name: string | undefined) {
  if (name === undefined || !NAME.test(name)) return null
  const node = await readNode(store, group === '' ? name : `${group}/${name}`).catch(ignoreUnusable)
  return node?.kind === 'array' ? node : null
}

/** An array of texts is skipped. */
function ignoreUnusable(error: unknown): null {
  if (fieldsOf(error)['code'] === 'ZARR_UNUSABLE') return null
  throw error
}

function checkName(part: string): void {
  if (!NAME.test(part)) throw zarrUnusable({ why: `"${part}" is not a name of letters, digits, _, - and .` })
}
