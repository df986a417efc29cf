import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileFacts, InspectFile } from '@terrane/contracts'
import type { Database } from '@terrane/database'
import { ShapeFacts } from '@terrane/exports'
import type { GuardedFetch } from '@terrane/service'
import type { Project } from '../jobs/task.ts'
import { nameOfType } from '../jobs/file-import/final-type.ts'
import { withSystems } from '../jobs/file-import/choose-layers.ts'
import { checkTypes } from '../jobs/file-import/column-names.ts'
import { fileMissing } from '../jobs/file-import/errors.ts'
import { writeSource } from '../jobs/file-import/file-source.ts'
import { type Engine, type FeatureBatch, type LayerSchema, openFile } from '@terrane/files'
import { ProjectPlaces } from '../projects/project-places.ts'
import { inspectBusy, inspectTooSlow } from './errors.ts'

/** Maximum size of an inspected file; imports accept larger ones. */
const MAX_BYTES = 64 << 20
const SECONDS = 30
/** Segments per side of a box, because its sides are not straight in degrees. */
const SIDE_PARTS = 20

export interface InspectorDeps {
  readonly engine: Engine
  readonly fetch: GuardedFetch
  readonly workdir: string
}

/** Location and owner of a file. */
export interface InspectProject {
  /** Different for each project. */
  readonly key: string
  readonly database: Database
  readonly store: Project['store']
}

/** Inspects files of features before an import, with the readers of ogr2ogrImport. */
export class FileInspector {
  readonly #deps: InspectorDeps
  readonly #places = new ProjectPlaces({ all: 2, ofOne: 1, waitMs: SECONDS * 1000, busy: inspectBusy })

  constructor(deps: InspectorDeps) {
    this.#deps = deps
  }

  /**
   * Reads all of a file, and keeps nothing.
   *
   * @param left aborts when the caller leaves
   * @throws FILE_REQUIRED, INSPECT_BUSY, INSPECT_TIMED_OUT, and what ogr2ogrImport refuses a file for
   */
  async inspect(project: InspectProject, input: InspectFile, left: AbortSignal): Promise<FileFacts> {
    if ((input.fileUrl === undefined) === (input.storagePath === undefined)) throw fileMissing()
    using _place = await this.#places.take(project.key, left)
    const late = AbortSignal.timeout(SECONDS * 1000)
    await mkdir(this.#deps.workdir, { recursive: true })
    const workdir = await mkdtemp(join(this.#deps.workdir, 'inspect-'))
    try {
      return await this.#read(project, input, workdir, AbortSignal.any([left, late]))
    } catch (error) {
      if (late.aborted) throw inspectTooSlow({ seconds: SECONDS }, { cause: error })
      throw error
    } finally {
      await rm(workdir, { recursive: true, force: true })
    }
  }

  async #read(
    { database, store }: InspectProject,
    input: InspectFile,
    workdir: string,
    signal: AbortSignal,
  ): Promise<FileFacts> {
    const { engine, fetch } = this.#deps
    const deps = { fetch, store: store.withSignal(signal), signal }
    const source = (path: string) => writeSource(input, MAX_BYTES, deps, path)
    await using file = await openFile(source, { ...input, workdir, signal, maxBytes: MAX_BYTES, engine })
    const { layers } = file
    checkTypes(input.types, layers)
    const filled = [...layers.keys()].filter((i) => layers[i]!.rows > 0)
    withSystems(layers, filled, input, file.notes)
    const shapes = layers.map(() => new ShapeFacts())
    for await (const { layer, batch } of file.read()) {
      signal.throwIfAborted()
      addShapes(shapes[layer]!, batch)
    }
    return {
      formats: [...file.formats],
      layers: await Promise.all(layers.map((layer, i) => factsOf(layer, shapes[i]!, database.withSignal(signal)))),
      warnings: [...file.warnings],
    }
  }
}

function addShapes(shapes: ShapeFacts, { rows, geometry, geometryEnds }: FeatureBatch): void {
  for (let row = 0, start = 0; row < rows; row++) {
    const end = geometryEnds[row]!
    shapes.add(end > start ? geometry.subarray(start, end) : null)
    start = end
  }
}

async function factsOf(
  layer: LayerSchema,
  shapes: ShapeFacts,
  database: Database,
): Promise<FileFacts['layers'][number]> {
  const { name, rows, fields, geometryTypes, srid } = layer
  return {
    name,
    rows,
    geometry_types: geometryTypes.map(nameOfType),
    srid: geometryTypes.length > 0 ? srid : null,
    bbox: await degreesOf(shapes.bounds, srid, database),
    fields: fields.map((field) => ({ name: field.name, type: field.type })),
  }
}

/** A box of a reference system in degrees; null when it cannot be transformed. */
async function degreesOf(
  bounds: readonly [number, number, number, number] | null,
  srid: number | null,
  database: Database,
): Promise<number[] | null> {
  if (bounds === null || srid === null || !bounds.every(Number.isFinite)) return null
  const [west, south, east, north] = bounds
  const side = Math.max(east - west, north - south) / SIDE_PARTS
  const { rows } = await database
    .query<{ box: number[] }>(
      `select array[st_xmin(box), st_ymin(box), st_xmax(box), st_ymax(box)] as box
       from (select st_transform(case when $6::float8 > 0 then st_segmentize(box, $6) else box end, 4326)::box3d as box
         from (select st_makeenvelope($1, $2, $3, $4, $5) as box) given) moved`,
      [west, south, east, north, srid, side],
    )
    .catch((error: unknown) => {
      // PostGIS's code for an unknown system, and for a box outside of a system's area.
      if (error instanceof Error && 'code' in error && error.code === 'XX000') return { rows: [] }
      throw error
    })
  const box = rows[0]?.box
  return box?.every(Number.isFinite) ? box : null
}
