/** Data sets of several files, by file name extension: the main file, required files and optional ones. */
const DATASETS: readonly {
  readonly main: string
  readonly needs: readonly string[]
  readonly parts: readonly string[]
}[] = [
  {
    main: 'shp',
    needs: ['shx', 'dbf'],
    parts: [
      'prj',
      'cpg',
      'sbn',
      'sbx',
      'qix',
      'qmd',
      'qpj',
      'cst',
      'fbn',
      'fbx',
      'ain',
      'aih',
      'atx',
      'ixs',
      'mxs',
      'shp.xml',
    ],
  },
  { main: 'tab', needs: ['dat', 'map', 'id'], parts: ['ind'] },
  { main: 'mif', needs: ['mid'], parts: [] },
]

/** Files that belong together. */
export interface DatasetFiles {
  /** Common name of the files, without an extension. */
  readonly stem: string
  readonly files: readonly string[]
  /** Extensions of the required files that are missing. */
  readonly missing: readonly string[]
}

/**
 * The files of a Shapefile or a MapInfo data set, which are imported together, as a zip.
 *
 * @param main name of the main file, e.g. `roads.shp`
 * @param names names of the files in its folder; their order is kept
 * @returns null when `main` is a data set of one file
 */
export function datasetFiles(main: string, names: readonly string[]): DatasetFiles | null {
  const [, stem = '', ending = ''] = /^(.*)\.([^.]+)$/s.exec(main) ?? []
  const dataset = DATASETS.find((one) => one.main === ending.toLowerCase())
  if (!dataset) return null
  const endings = new Set([dataset.main, ...dataset.needs, ...dataset.parts])
  const endingOf = (name: string) =>
    name.toLowerCase().startsWith(`${stem.toLowerCase()}.`) ? name.slice(stem.length + 1).toLowerCase() : ''
  const files = names.filter((name) => endings.has(endingOf(name)))
  const there = new Set(files.map(endingOf))
  return { stem, files, missing: dataset.needs.filter((need) => !there.has(need)) }
}

/** The main file of a data set among several names; null when they are not one data set. */
export function mainOfDataset(names: readonly string[]): string | null {
  const main = names.filter((name) => datasetFiles(name, names) !== null)
  return main.length === 1 && datasetFiles(main[0]!, names)!.files.length === names.length ? main[0]! : null
}
