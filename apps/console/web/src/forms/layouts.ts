import examples from './examples.json' with { type: 'json' }

/** Layout of a task's form. Other fields are shown under Advanced, in the order of the schema. */
export interface FormLayout {
  /** Fields that come first, in this order. */
  readonly first: readonly string[]
  /** Alternative input sources: exactly one of these fields is filled in, and the form shows the chosen one. */
  readonly sources?: readonly { readonly name: string; readonly label: string }[]
  /** Fields of the API that a form does not need. */
  readonly hidden?: readonly string[]
}

/** Example values of fields, by field name. */
const EXAMPLES: Readonly<Record<string, string>> = examples

const AREA_IMPORT: FormLayout = { first: ['areaName', 'aoiGeoJson', 'topics', 'source'] }

const LAYOUTS: Readonly<Record<string, FormLayout>> = {
  osmImportArea: AREA_IMPORT,
  overtureImportArea: { first: ['areaName', 'aoiGeoJson', 'topics', 'types'] },
  ogr2ogrImport: {
    first: ['tableName', 'mode', 'layer'],
    sources: [
      { name: 'storagePath', label: 'A file in storage' },
      { name: 'fileUrl', label: 'A file at a URL' },
    ],
    // `url` is an alias of `fileUrl`.
    hidden: ['url'],
  },
  createGeoEmbeddings: {
    first: ['tableName', 'mode', 'modelName', 'bands'],
    sources: [
      { name: 'storagePath', label: 'A GeoTIFF in storage' },
      { name: 'geotiffPath', label: 'A GeoTIFF at a URL or path' },
      { name: 'storagePrefix', label: 'A folder in storage' },
      { name: 'assets', label: 'Bands in separate files' },
      { name: 'sources', label: 'A list' },
      { name: 'stac', label: 'STAC items' },
    ],
  },
  createSraiEmbeddings: {
    first: ['tableName', 'h3Resolution', 'osmPreset', 'embedder', 'source'],
    sources: [
      { name: 'aoiGeoJson', label: 'An area on the map' },
      { name: 'placeQuery', label: 'The name of a place' },
    ],
    // `pipeline` is the same request in another form; the other field is not available.
    hidden: ['pipeline', 'pretrainedModelRunId'],
  },
  importEmbeddings: {
    first: ['tableName', 'product', 'version'],
    sources: [
      { name: 'storagePath', label: 'A file in storage' },
      { name: 'url', label: 'A file at a URL' },
    ],
  },
  trainClassifier: {
    first: ['table', 'classifier', 'head'],
    sources: [
      { name: 'examples', label: 'A table of examples' },
      { name: 'features', label: 'GeoJSON' },
      { name: 'ids', label: 'Ids of rows' },
    ],
  },
  classifyEmbeddings: { first: ['table', 'classifier', 'tableName', 'mode'] },
  clusterEmbeddings: { first: ['table', 'clusters', 'tableName', 'mode'] },
  archiveToPmtiles: { first: ['table', 'layers', 'zooms', 'properties', 'filter'] },
  exportTable: {
    first: ['format', 'storagePath', 'columns'],
    sources: [
      { name: 'table', label: 'A table or view' },
      { name: 'query', label: 'The rows of a query' },
    ],
  },
}

/** The layout of a task's form; by default, required fields come first. */
export function layoutOf(task: string, required: readonly string[]): FormLayout {
  return LAYOUTS[task] ?? { first: required }
}

/** Pointers of the alternative input fields when the request names none of them. */
export function missingSources(task: string, body: object): readonly string[] {
  const { sources = [], hidden = [] } = LAYOUTS[task] ?? { first: [] }
  const given = Object.keys(body)
  const isThere = [...sources.map(({ name }) => name), ...hidden].some((name) => given.includes(name))
  return isThere ? [] : sources.map(({ name }) => `/${name}`)
}

/** Example value of a field; undefined for none. */
export function exampleOf(name: string): string | undefined {
  return EXAMPLES[name]
}
