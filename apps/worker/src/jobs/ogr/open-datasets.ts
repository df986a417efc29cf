import type { Ogr2ogrImport } from '@terrane/contracts'
import { ALL_LAYERS } from './choose-layers.ts'
import type { Engine } from './engine.ts'
import { layerUnknown } from './errors.ts'
import type { LayerSchema } from './feature-stream.ts'
import { Joined } from './joined-layers.ts'
import type { Dataset } from './obtain/find-datasets.ts'
import { openDataset, type OpenedDataset } from './open-dataset.ts'
import type { ReadingPlace } from './read/reading.ts'

/**
 * Opens the data sets of an archive as one: their layers one after the other, called by their files where a file holds
 * one only, and by both where names would be the same.
 */
export async function openDatasets(
  datasets: readonly Dataset[],
  engine: Engine,
  input: Ogr2ogrImport,
  context: ReadingPlace,
): Promise<OpenedDataset> {
  if (datasets.length === 1) return openDataset(datasets[0]!, engine, input, context)
  await using opening = new AsyncDisposableStack()
  const opened: OpenedDataset[] = []
  // A layer is looked for by the name that it has among all of them.
  for (const dataset of datasets) {
    opened.push(opening.use(await openDataset(dataset, engine, { ...input, layer: ALL_LAYERS }, context)))
  }
  const places = opened.flatMap(({ reading }, set) => reading.layers.map((_, layer) => ({ set, layer })))
  const layers = named(
    opened.map(({ reading }) => reading.layers),
    datasets.map(({ stem }) => stem),
  )
  const layerNames = layers.map(({ name }) => name)
  const { layer: wanted } = input
  if (wanted !== undefined && wanted !== ALL_LAYERS && !layerNames.includes(wanted)) {
    throw layerUnknown({ layer: wanted, layers: layerNames })
  }
  const open = opening.move()
  return {
    reading: new Joined(
      opened.map(({ reading }) => reading),
      places,
      layers,
    ),
    notes: opened.flatMap(({ notes }) => notes),
    layerNames,
    lostOf: (index, limit, warnings) => {
      const { set, layer } = places[index]!
      return opened[set]!.lostOf(layer, limit, warnings)
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

function named(sets: readonly (readonly LayerSchema[])[], stems: readonly string[]): LayerSchema[] {
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
