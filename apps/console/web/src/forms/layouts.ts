/** Layout of a task's form. Fields that are not named come under Advanced, in the order of the schema. */
export interface FormLayout {
  /** Fields that come first, in this order. */
  readonly first: readonly string[]
  /** Alternative input sources: one of these fields is filled in, and the form shows the chosen one. */
  readonly sources?: readonly { readonly name: string; readonly label: string }[]
  /** Fields of the API that a form does not need. */
  readonly hidden?: readonly string[]
}

/** Example values of fields, by field name. */
const EXAMPLES: Readonly<Record<string, string>> = {
  areaName: 'Porto',
  tablePrefix: 'porto',
  tableName: 'parcels_2026',
  table: 'porto_streets',
  geotiffPath: 'https://example.com/scene.tif',
  fileUrl: 'https://example.com/parcels.gpkg',
  url: 'https://example.com/porto.osm.pbf',
  path: '2026/scene.tif',
  bucket: 'uploads',
  prefix: 'porto',
  sources: '[{"storagePath": {"bucket": "uploads", "path": "a.tif"}}, {"geotiffPath": "https://example.com/b.tif"}]',
  asset: 'visual',
  assets: '{"B04": "https://example.com/B04.tif", "B08": "https://example.com/B08.tif"}',
  maskAsset: 'scl',
  maskValues: '3, 8, 9',
  bands: '0, 1, 2',
  profile: 'sentinel-2-l2a-offset',
  sourceSrs: 'EPSG:25832',
  targetSrs: 'EPSG:4326',
  datetime: '2026-06-21T10:30:00Z',
  placeQuery: 'Porto, Portugal',
  osmPreset: 'hex2vec',
  osmTags: '{"amenity": ["school", "cafe"], "shop": true}',
  ownerUuid: '7f9c24e8-3b12-4a8e-9d5b-0f2f1c9b5a10',
  encoding: 'windows-1252',
  layer: 'roads',
  layerName: 'roads',
  archiveName: 'porto',
  filter: 'kind=in.(primary,secondary)',
  property: 'population',
  fields: 'name, height',
  columns: 'name, height',
  properties: 'name, height',
  query: 'select name, geom from porto_streets',
  release: '2026-01-21.0',
  x: 'lon',
  y: 'lat',
  wkt: 'geometry',
  scale: '[0, 3000]',
}

const AREA_IMPORT: FormLayout = { first: ['areaName', 'aoiGeoJson', 'topics', 'source'] }

const LAYOUTS: Readonly<Record<string, FormLayout>> = {
  osmImportArea: AREA_IMPORT,
  overtureImportArea: { first: ['areaName', 'aoiGeoJson', 'topics', 'types'] },
  ogr2ogrImport: {
    first: ['tableName', 'mode', 'layer'],
    sources: [
      { name: 'storagePath', label: 'A file in storage' },
      { name: 'fileUrl', label: 'A file at an address' },
    ],
    // The same as fileUrl.
    hidden: ['url'],
  },
  createGeoEmbeddings: {
    first: ['tableName', 'mode', 'modelName', 'bands'],
    sources: [
      { name: 'storagePath', label: 'A GeoTIFF in storage' },
      { name: 'geotiffPath', label: 'A GeoTIFF at an address or path' },
      { name: 'storagePrefix', label: 'A folder in storage' },
      { name: 'assets', label: 'Bands in files of their own' },
      { name: 'sources', label: 'A list' },
      { name: 'stac', label: 'STAC items' },
    ],
  },
  createSraiEmbeddings: {
    first: ['tableName', 'h3Resolution', 'osmPreset', 'embedder', 'source'],
    sources: [
      { name: 'aoiGeoJson', label: 'An area on the map' },
      { name: 'placeQuery', label: 'A place by its name' },
    ],
    // `pipeline` is the same request in another form; the other field is not available.
    hidden: ['pipeline', 'pretrainedModelRunId'],
  },
  importEmbeddings: {
    first: ['tableName', 'product', 'version'],
    sources: [
      { name: 'storagePath', label: 'A file in storage' },
      { name: 'url', label: 'A file at an address' },
    ],
  },
  archiveToPmtiles: { first: ['table', 'layers', 'zooms', 'properties', 'filter', 'cluster'] },
  exportTable: {
    first: ['format', 'storagePath', 'columns'],
    sources: [
      { name: 'table', label: 'A table or view' },
      { name: 'query', label: 'The rows of a query' },
    ],
  },
}

/** The layout of a task's form; without one, required fields come first. */
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
