import type { Job, TaskName, TaskResults } from '@terrane/contracts'

/** A table that a job made. */
export interface TableLink {
  readonly schema: string
  readonly name: string
  readonly rows: number
  /** Null for a table without a geometry. */
  readonly geometryType: string | null
}

/** A file that a job wrote into storage. */
export interface FileLink {
  readonly bucket: string
  readonly path: string
  readonly bytes: number
}

/** Links on the page of a job. */
export interface JobLinks {
  readonly tables: readonly TableLink[]
  /** Name of a table in schema geoembeddings. */
  readonly embeddings: string | null
  /** Path of an archive in bucket pmtiles. */
  readonly archive: string | null
  readonly files: readonly FileLink[]
}

type AreaTable = TaskResults['osmImportArea' | 'overtureImportArea' | 'osmUpdateArea']['tables'][number]

const NONE: JobLinks = { tables: [], embeddings: null, archive: null, files: [] }

/** The links of each task's result. A task that is missing here does not compile. */
const LINKS: { readonly [Name in TaskName]: (result: TaskResults[Name]) => Partial<JobLinks> } = {
  osmImportArea: ({ tables }) => ({ tables: tables.map(areaTable) }),
  overtureImportArea: ({ tables }) => ({ tables: tables.map(areaTable) }),
  osmUpdateArea: ({ tables }) => ({ tables: tables.map(areaTable) }),
  ogr2ogrImport: ({ tables }) => ({
    tables: tables.map(({ table, rows, geometry_type: geometryType }) => ({ ...split(table), rows, geometryType })),
  }),
  createGeoEmbeddings: embeddingLinks,
  createSraiEmbeddings: embeddingLinks,
  importEmbeddings: embeddingLinks,
  trainClassifier: () => ({}),
  classifyEmbeddings: classLinks,
  clusterEmbeddings: classLinks,
  archiveToPmtiles: ({ bucket, path, bytes }) => ({ archive: path, files: [{ bucket, path, bytes }] }),
  exportTable: ({ bucket, path, bytes }) => ({ files: [{ bucket, path, bytes }] }),
}

/** Links of a job's result; empty for an unknown task. */
export function jobLinks({ taskName, result }: Pick<Job, 'taskName' | 'result'>): JobLinks {
  if (result === null || !Object.hasOwn(LINKS, taskName)) return NONE
  const of = LINKS[taskName as TaskName] as (result: unknown) => Partial<JobLinks>
  return { ...NONE, ...of(result) }
}

/** The page that joins a table without a geometry to one that has it. */
export function joinOf(ref: string, { schema, name }: Pick<TableLink, 'schema' | 'name'>): string {
  return `/p/${ref}/sql?join=${encodeURIComponent(`${schema}.${name}`)}`
}

function areaTable({ schema, name, rows, geometry_type: geometryType }: AreaTable): TableLink {
  return { schema, name, rows, geometryType }
}

function embeddingLinks({ table, artifacts = [] }: TaskResults['createGeoEmbeddings']): Partial<JobLinks> {
  return { embeddings: split(table).name, files: artifacts }
}

function classLinks({ table, rows }: TaskResults['classifyEmbeddings' | 'clusterEmbeddings']): Partial<JobLinks> {
  return { tables: [{ ...split(table), rows, geometryType: 'MultiPolygon' }] }
}

/** Parts of `schema.table`. */
function split(table: string): { schema: string; name: string } {
  const dot = table.indexOf('.')
  return dot < 0 ? { schema: 'public', name: table } : { schema: table.slice(0, dot), name: table.slice(dot + 1) }
}
