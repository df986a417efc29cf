import type { ImportEmbeddings, JobWarning } from '@terrane/contracts'
import type { EmbeddingSource } from '@terrane/database/geoembeddings'
import { redactUrl } from '../../projects/redact.ts'
import type { OutputState, Publication } from '../embeddings/embedding-output.ts'
import type { VectorIdentity } from './identity.ts'
import type { OwnTable } from './own-table.ts'
import type { FileHeader, ReadSummary, RowPlan } from './protocol.ts'

/** A file of vectors, and how its rows are made. */
export interface Imported {
  readonly body: ImportEmbeddings
  readonly header: FileHeader
  readonly own: OwnTable | null
  /** Null for our own tables, which say it themselves. */
  readonly identity: VectorIdentity | null
  readonly plan: RowPlan
}

/** What is known of the rows once they are loaded. */
interface LoadedRows {
  readonly summary: ReadSummary
  readonly counts: readonly JobWarning[]
  readonly skipped: number
}

const NOTHING: LoadedRows = { summary: { invalid: 0, isUnit: false, warnings: [] }, counts: [], skipped: 0 }

/** What catalogue, record and STAC item say of the table. */
export function describeImport(
  made: Imported,
  { summary, counts, skipped }: LoadedRows = NOTHING,
): { readonly metadata: Record<string, unknown>; readonly publication: Omit<Publication, 'sources'> } {
  const { body, own, identity, plan, header } = made
  const catalogue = own?.catalogue
  const product = identity?.product ?? null
  const model = catalogue?.model_name ?? identity!.model
  const licence = body.licence ?? catalogue?.model_licence ?? product?.licence ?? 'unknown'
  const attribution = body.attribution ?? catalogue?.attribution ?? product?.attribution ?? null
  const normalized = plan.normalize || (catalogue?.normalized ?? summary.isUnit)
  const warnings = [...summary.warnings, ...counts]
  const crs = catalogue?.source_crs ?? 'EPSG:4326'
  return {
    metadata: {
      model: { id: model },
      product: product?.id ?? null,
      source: addressOf(body),
      datetime: body.datetime ?? null,
      stored_type: header.storedType,
      quantization: plan.quantization,
      ground_size_meters: header.hasPoints ? plan.groundSizeMeters : null,
      facts: product?.source ?? null,
    },
    publication: {
      result: {
        model: { id: model, sha256: catalogue?.model_sha256 ?? '', licence },
        skipped_nodata: skipped,
        scale: catalogue?.scale ?? null,
        crs,
        ...(attribution !== null && { attribution }),
        ...(warnings.length > 0 && { warnings }),
      },
      entry: {
        kind: catalogue?.kind ?? 'geo',
        owner: body.ownerUuid ?? null,
        isPublic: body.isPublic ?? null,
        modelName: model,
        modelSha256: catalogue?.model_sha256 ?? null,
        modelLicence: licence,
        level: catalogue?.level ?? 'place',
        normalized,
        metric: catalogue?.metric ?? 'cosine',
        source: addressOf(body),
        sourceCrs: crs,
        attribution,
        tileSize: catalogue?.tile_size ?? null,
        stride: catalogue?.stride ?? null,
        bands: catalogue?.bands ?? null,
        scale: catalogue?.scale ?? null,
        featureNames: catalogue?.feature_names ?? null,
      },
      item: itemOf(made, { model, licence, normalized }),
    },
  }
}

function itemOf(
  { body, identity, header, plan }: Imported,
  { model, licence, normalized }: { readonly model: string; readonly licence: string; readonly normalized: boolean },
): Publication['item'] {
  return {
    datetime: body.datetime ?? new Date().toISOString(),
    licence: { title: licence, href: null },
    source: { title: 'Ready-made embeddings', href: body.url === undefined ? null : redactUrl(body.url) },
    model: { title: model, href: identity?.product?.source ?? null },
    parameters: { model, dimensions: header.dims, quantization: plan.quantization },
    preprocessing: 'vectors as they were published',
    normalized,
  }
}

/** The address of the file, without credentials. */
function addressOf({ url, storagePath }: ImportEmbeddings): string {
  return url === undefined ? `${storagePath!.bucket}/${storagePath!.path}` : redactUrl(url)
}

/** Sources of the table: the file, or the sources of one of our own tables, by the numbers in its ids. */
export function sourcesOf(
  { body, own, header }: Imported,
  output: OutputState,
  numbers: ReadonlySet<number>,
  skipped: number,
): (EmbeddingSource & { readonly source: number })[] {
  const known = new Map(own?.catalogue.sources.map((source) => [source.source, source]))
  const isOne = numbers.size <= 1
  return [...numbers]
    .toSorted((a, b) => a - b)
    .map((source) => {
      const about = known.get(source)
      return {
        source,
        name: isOne ? addressOf(body) : `${addressOf(body)}#${source}`,
        datetime: about?.datetime ?? body.datetime ?? null,
        profile: about?.profile ?? null,
        crs: about?.crs ?? 'EPSG:4326',
        dataType: about?.data_type ?? header.storedType,
        status: 'done',
        rows: isOne ? output.rows : 0,
        skipped: isOne ? skipped : 0,
        zeroVectors: isOne ? output.zeroVectors : 0,
        bbox: isOne ? output.bbox : null,
        version: null,
        error: null,
      }
    })
}
