import type { Ogr2ogrImport } from '@terrane/contracts'
import { identifierOf } from '@terrane/core'
import type { Warnings } from '@terrane/core/errors'
import { ALL_LAYERS, conversionFailed, type LayerSchema, layerUnknown, sourceSrsNeeded, sridOf } from '@terrane/files'

/** Maximum tables from one file. */
const MOST_TABLES = 200
const LONGEST_NAME = 63
/** Maximum length of the layer's part of a table name. */
const LONGEST_LAYER = 40
const WGS84 = 4326

/** Layers to import: the named one, all with rows, or the first one. @throws LAYER_UNKNOWN, CONVERSION_FAILED */
export function chooseLayers(layers: readonly LayerSchema[], wanted: string | undefined): number[] {
  if (layers.length === 0) throw conversionFailed({ reason: 'it has no layers' })
  if (wanted !== undefined && wanted !== ALL_LAYERS) {
    const index = layers.findIndex(({ name }) => name === wanted)
    if (index < 0) throw layerUnknown({ layer: wanted, layers: layers.map(({ name }) => name) })
    return [index]
  }
  const filled = layers.flatMap(({ rows }, i) => (rows > 0 ? [i] : []))
  if (filled.length > MOST_TABLES) {
    throw conversionFailed({ reason: `it has ${filled.length} layers, more than ${MOST_TABLES}: name one in layer` })
  }
  return filled.length > 0 ? filled : [0]
}

/** The requested name, or one per layer: `{tableName}_{layer}`, of 63 bytes at most. */
export function tableNamesOf({ tableName, layer }: Ogr2ogrImport, layers: readonly LayerSchema[]): string[] {
  if (layers.length === 1 && layer !== ALL_LAYERS) return [tableName]
  const taken = new Set<string>()
  return layers.map(({ name }) => {
    const base = `${tableName}_${identifierOf(name, 'layer', LONGEST_LAYER)}`.slice(0, LONGEST_NAME)
    let unique = base
    for (let i = 2; taken.has(unique); i++) unique = `${base.slice(0, LONGEST_NAME - 4)}_${i}`
    taken.add(unique)
    return unique
  })
}

/** Leaves out layers without a reference system, with a warning, unless one is requested by name or none has one. */
export function withSystems(
  layers: readonly LayerSchema[],
  chosen: readonly number[],
  { layer, sourceSrs }: Pick<Ogr2ogrImport, 'layer' | 'sourceSrs'>,
  warnings: Warnings,
): number[] {
  const placed = chosen.map((index) => layers[index]!).filter(({ geometryTypes }) => geometryTypes.length > 0)
  const bare = placed.filter(({ srid }) => srid === null).map(({ name }) => name)
  if (sourceSrs === undefined) {
    if (bare.length === 0 || bare.length === placed.length || (layer !== undefined && layer !== ALL_LAYERS)) {
      return [...chosen]
    }
    const message =
      'Layers that do not say their reference system were left out. sourceSrs names it, for these layers only.'
    warnings.add('LAYERS_WITHOUT_SYSTEM', message, bare.length, bare)
    return chosen.filter((index) => !bare.includes(layers[index]!.name))
  }
  const own = new Set(placed.map(({ srid }) => srid))
  const replaced = placed.filter(({ srid }) => srid !== sridOf(sourceSrs)).map(({ name }) => name)
  if (bare.length > 0 || own.size < 2 || replaced.length === 0) return [...chosen]
  const message =
    'Layers name different reference systems, and sourceSrs took the place of all: import them one by one to correct one of them.'
  warnings.add('SYSTEMS_REPLACED', message, replaced.length, replaced)
  return [...chosen]
}

/** The reference system of a layer: `sourceSrs`, or its own where other layers have none. @throws SOURCE_SRS_NEEDED */
export function sourceSridOf(
  { geometryTypes, srid }: LayerSchema,
  sourceSrs: string | undefined,
  all: readonly LayerSchema[],
): number {
  const isForOthers = all.some((other) => other.srid === null && other.geometryTypes.length > 0)
  if (sourceSrs !== undefined && !(isForOthers && srid !== null)) return sridOf(sourceSrs)
  if (srid !== null) return srid
  if (geometryTypes.length > 0) throw sourceSrsNeeded()
  return WGS84
}
