import type { Engine } from './engine.ts'
import { layerUnknown } from './errors.ts'
import type { LayerSchema } from './feature-stream.ts'
import { Joined } from './joined-layers.ts'
import type { Dataset } from './unpack/find-datasets.ts'
import { openDataset } from './open-dataset.ts'
import type { OpenedDataset } from './open-reading.ts'
import { ALL_LAYERS, type ReadOptions } from './read-options.ts'
import type { ReadingPlace } from './read/reading.ts'

/**
 * Opens the data sets of an archive as one, with their layers one after the other. A layer that is the only one of its
 * file has the name of the file. Equal names become file, layer and number of the data set.
 */
export async function openDatasets(
  datasets: readonly Dataset[],
  engine: Engine,
  options: ReadOptions,
  context: ReadingPlace,
): Promise<OpenedDataset> {
  if (datasets.length === 1) return openDataset(datasets[0]!, engine, options, context)
  const opened: OpenedDataset[] = []
  const close = async () => void (await Promise.all(opened.map((one) => one[Symbol.asyncDispose]())))
  try {
    // All layers are opened, because the names that a caller can request depend on all data sets.
    for (const dataset of datasets) {
      opened.push(await openDataset(dataset, engine, { ...options, layer: ALL_LAYERS }, context))
    }
    return joined(opened, named(opened, datasets), options.layer, close)
  } catch (error) {
    await close()
    throw error
  }
}

/** @throws LAYER_UNKNOWN */
function joined(
  opened: readonly OpenedDataset[],
  layers: readonly LayerSchema[],
  wanted: string | undefined,
  close: () => Promise<void>,
): OpenedDataset {
  const layerNames = layers.map(({ name }) => name)
  if (wanted !== undefined && wanted !== ALL_LAYERS && !layerNames.includes(wanted)) {
    throw layerUnknown({ layer: wanted, layers: layerNames })
  }
  const readings = opened.map(({ reading }) => reading)
  const places = readings.flatMap((reading, set) => reading.layers.map((_, layer) => ({ set, layer })))
  return {
    reading: new Joined(readings, places, layers),
    notes: opened.flatMap(({ notes }) => notes),
    layerNames,
    lostOf: (index, limit, warnings) => {
      const { set, layer } = places[index]!
      return opened[set]!.lostOf(layer, limit, warnings)
    },
    [Symbol.asyncDispose]: close,
  }
}

/** The layers of all data sets under names of their own. */
function named(opened: readonly OpenedDataset[], datasets: readonly Dataset[]): LayerSchema[] {
  const sets = opened.map(({ reading }) => reading.layers)
  const stems = datasets.map(({ stem }) => stem)
  const plain = sets.map((set, i) => set.map((layer) => (set.length === 1 ? stems[i]! : layer.name)))
  const counts = new Map<string, number>()
  for (const name of plain.flat()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return sets.flatMap((set, i) =>
    set.map((layer, j) => {
      const name = plain[i]![j]!
      return { ...layer, name: counts.get(name) === 1 ? name : `${stems[i]}_${layer.name}_${i + 1}` }
    }),
  )
}
