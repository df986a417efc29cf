import type { JobWarning } from '@terrane/contracts'
import type { EmbeddingSource } from '@terrane/database/geoembeddings'
import type { Model, ProviderChoice } from '@terrane/embeddings'
import type { InspectedRaster } from '@terrane/tiling/raster'
import type { FileSource } from '@terrane/tiling/scene'
import type { OutputState, Publication } from '../embeddings/embedding-output.ts'
import { clampedWarnings } from './clamped.ts'
import type { GeoRequest } from './request.ts'
import type { SourceFacts } from './scenes/stac-sources.ts'
import { describeSource, nameOf, type RasterSource } from './source.ts'
import type { SourceFile, SourceOptions } from './source-file.ts'
import type { StoredStretch } from './stretch.ts'

/** Inputs of a table, and how they were computed. */
export interface Provenance {
  readonly request: GeoRequest
  readonly model: Model
  readonly inspected: InspectedRaster
  readonly stretch: StoredStretch
  /** Share of clamped samples of each channel. */
  readonly clamped: readonly number[]
  /** Execution provider that computed the model, and the preferred ones that failed. */
  readonly choice: ProviderChoice
  /** Warnings about how the raster was assembled from other files. */
  readonly fileWarnings?: readonly JobWarning[]
  /** Warnings about vectors without information; absent before vectors exist. */
  readonly vectorWarnings?: readonly JobWarning[]
}

/** Description of the table for record, catalogue and STAC item. */
export function publicationOf(provenance: Provenance, skipped: number): Omit<Publication, 'sources'> {
  const { request, model, inspected, stretch, choice } = provenance
  const { manifest } = model
  const licence = manifest.licence.name
  const crs = crsOf(inspected)
  const warnings = warningsOf(provenance)
  return {
    result: {
      model: {
        id: manifest.id,
        sha256: model.sha256,
        licence,
        ...(choice.provider !== 'cpu' && { provider: choice.provider }),
      },
      skipped_nodata: skipped,
      scale: stretch,
      crs,
      ...(warnings.length > 0 && { warnings }),
    },
    entry: tableEntry(request, model, { source: describeSource(request.source), crs, bands: inspected.bands, stretch }),
    item: stacItem(provenance),
  }
}

/** Warnings about how a raster was read and computed. */
export function warningsOf({
  inspected,
  clamped,
  choice,
  fileWarnings = [],
  vectorWarnings = [],
}: Pick<Provenance, 'inspected' | 'clamped' | 'choice' | 'fileWarnings' | 'vectorWarnings'>): JobWarning[] {
  const refused = choice.refused.map(({ provider, why }) => ({
    code: 'PROVIDER_UNAVAILABLE',
    message: `The worker's setting TERRANE_INFERENCE_PROVIDERS names ${provider}, which is not there (${why}), so ${choice.provider} computed the model`,
  }))
  const notices = inspected.notices.map(({ code, message }) => ({ code, message }))
  return [...fileWarnings, ...notices, ...clampedWarnings(inspected, clamped), ...vectorWarnings, ...refused]
}

/** How the rasters of a table are read. */
interface ReadAs {
  readonly crs: string
  readonly stretch: StoredStretch
}

/** The catalogue's row of a table of one raster or of many. */
export function tableEntry(
  request: GeoRequest,
  { manifest, sha256 }: Model,
  { source, crs, bands, stretch }: ReadAs & { readonly source: string; readonly bands: readonly number[] },
): Publication['entry'] {
  return {
    kind: 'geo',
    owner: request.owner,
    isPublic: request.isPublic,
    modelName: manifest.id,
    modelSha256: sha256,
    modelLicence: manifest.licence.name,
    level: request.level,
    normalized: request.normalize,
    metric: 'cosine',
    source,
    sourceCrs: crs,
    attribution: null,
    tileSize: request.tileSize,
    stride: request.stride,
    bands,
    scale: stretch,
    featureNames: null,
  }
}

/** Metadata of the catalogue and of the GeoParquet file, for a table of one raster or of many. */
export function tableMetadata(
  request: GeoRequest,
  { manifest: { id, revision, kind }, sha256 }: Model,
  { crs, stretch }: ReadAs,
) {
  return {
    model: { id, revision, sha256, kind },
    crs,
    tiling: { tile_size: request.tileSize, stride: request.stride, edge: request.edge, align_grid: request.alignGrid },
    scale: stretch,
    level: request.level,
    normalized: request.normalize,
    min_valid_fraction: request.minValidFraction,
  }
}

/** {@link tableMetadata} of one raster, with its time and grid. */
export function metadataOf({ request, model, inspected, stretch }: Provenance): Record<string, unknown> {
  const { plan, raster } = inspected
  const shared = tableMetadata(request, model, { crs: crsOf(inspected), stretch })
  return {
    ...shared,
    source: describeSource(request.source),
    datetime: request.datetime,
    raster: { width: raster.width, height: raster.height, affine: raster.affine },
    tiling: { ...shared.tiling, columns: plan.columns, rows: plan.rows },
  }
}

/** Catalogue entry of a loaded raster. */
export function sourceOfTable(
  request: GeoRequest,
  inspected: InspectedRaster,
  output: OutputState,
  about: {
    readonly deps: SourceOptions
    readonly file: SourceFile
    readonly skipped: number
    readonly name?: string
    readonly facts?: SourceFacts | null
  },
): EmbeddingSource {
  return {
    name: about.name ?? nameOf(request.source, about.deps.dataRoots),
    datetime: request.datetime,
    profile: inspected.profile?.profile.id ?? null,
    crs: crsOf(inspected),
    dataType: inspected.raster.sampleType,
    status: 'done',
    rows: output.rows,
    skipped: about.skipped,
    zeroVectors: output.zeroVectors,
    bbox: output.bbox,
    version: sourceVersion(about.file.version, request),
    properties: propertiesOf(request.source, about.file, about.facts ?? null, about.deps.dataRoots),
    error: null,
  }
}

/** Fields of the source's item, and the files of a VRT or scene, the latter with the settings to read them again. */
function propertiesOf(
  source: RasterSource,
  { files: named }: SourceFile,
  facts: SourceFacts | null,
  dataRoots: readonly string[],
): SourceFacts | null {
  const address = (file: FileSource): string => nameOf(file, dataRoots)
  if (source.kind !== 'scene')
    return named ? { ...facts, files: named.map((file) => ({ file: address(file) })) } : facts
  const files = source.assets.map(({ name, source: file, band, scale, offset, nodata }) => ({
    name,
    file: address(file),
    band,
    ...(scale !== null && { scale }),
    ...(offset !== null && { offset }),
    ...(nodata !== null && { nodata }),
  }))
  const mask = source.mask && {
    file: address(source.mask.source),
    band: source.mask.band,
    values: source.mask.values,
    bits: source.mask.bits,
  }
  return { ...facts, files, resampling: source.resampling, ...(mask && { mask }) }
}

/** Version of a source: changes with the file and with its own fields in the request. */
export function sourceVersion(version: string, { datetime, profile, sourceSrs }: GeoRequest): string {
  return JSON.stringify([version, datetime, profile, sourceSrs])
}

/** The code of the CRS, or the definition of one that has none. */
export function crsOf({ crs }: InspectedRaster): string {
  return crs.epsg === null ? crs.definition : `EPSG:${crs.epsg}`
}

function stacItem({ request, model, inspected, stretch }: Provenance): Publication['item'] {
  return {
    ...modelItem(request, model, inspected.bands, stretch),
    // A STAC item needs a time; without a better one it gets the time of publication.
    datetime: request.datetime ?? new Date().toISOString(),
    source: {
      title: 'Source imagery',
      href: request.source.kind === 'url' ? describeSource(request.source) : null,
    },
  }
}

/** The members of a STAC item about the model and its input, for any number of rasters. */
export function modelItem(
  request: GeoRequest,
  { manifest, sha256 }: Model,
  bands: readonly number[],
  stretch: StoredStretch,
): Omit<Publication['item'], 'datetime' | 'source'> {
  const { mean, std } = manifest.input
  return {
    licence: { title: manifest.licence.name, href: manifest.licence.url },
    model: { title: manifest.title, href: manifest.files[0]?.url ?? null },
    parameters: {
      model: manifest.id,
      model_revision: manifest.revision,
      model_sha256: sha256,
      dimensions: manifest.dims,
      bands,
      chip_size: request.tileSize,
      stride: request.stride,
      level: request.level,
    },
    preprocessing: `((value - min) / (max - min) - mean) / std with min ${stretch.min.join(' ')}, max ${stretch.max.join(' ')}, mean ${mean.join(' ')}, std ${std.join(' ')}`,
    normalized: request.normalize,
  }
}
