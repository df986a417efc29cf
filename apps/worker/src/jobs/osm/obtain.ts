import { createWriteStream } from 'node:fs'
import { link, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { OsmSource } from '@terrane/contracts'
import type { Aoi, Bbox } from '@terrane/core'
import { fileSource, openOsm, type OsmReader } from '@terrane/osm'
import { splitList } from '@terrane/core'
import { downloadToFile } from '@terrane/service'
import { objectTooLarge } from '@terrane/storage'
import { findUnderRoots } from '../data-roots.ts'
import type { JobContext } from '../task.ts'
import { cachedDownload, type CacheOptions } from './cached-download.ts'
import { coverageOf, statedExtent, type Coverage } from './coverage.ts'
import {
  areaTooLargeForOverpass,
  defaultFileMissing,
  fileNotReachable,
  overpassFailed,
  overpassOff,
  sourceOutsideArea,
} from './errors.ts'
import { findExtract } from './geofabrik.ts'

/** The operator's settings for sources of data. */
export interface OsmSourceSettings {
  /** Default sources, comma-separated: `geofabrik`, `overpass`, files, URLs; the first that meets the area. */
  readonly defaultSource: string
  readonly geofabrikUrl: string
  /** Empty when Overpass is disabled. */
  readonly overpassUrl: string
  readonly dataRoots: readonly string[]
  readonly cacheFolder: string
  readonly maxCacheBytes: number
  readonly maxBytes: number
}

/** An opened source and its facts for the record. */
export interface ObtainedOsm {
  readonly reader: OsmReader
  /** Path of the file until the job ends. */
  readonly path: string
  readonly coverage: Coverage
  readonly source: Readonly<Record<string, unknown>>
}

/** Overpass is run by volunteers, so requests to it stay small. */
const OVERPASS_MAX_KM2 = 25
const OVERPASS_MAX_BYTES = 512 << 20
/** Age from which on a cached extract is compared with its server's. */
const EXTRACT_MAX_AGE_MS = 3_600_000

/**
 * Refuses a source that cannot work, before a job is queued for it.
 *
 * @param aoi null when it is not known yet
 * @throws FILE_NOT_REACHABLE, OSM_SOURCE_MISSING, OVERPASS_OFF, AOI_TOO_LARGE_FOR_OVERPASS, SOURCE_OUTSIDE_AREA
 */
export async function checkOsmSource(
  source: OsmSource | undefined,
  aoi: Aoi | null,
  settings: OsmSourceSettings,
): Promise<void> {
  const asked = await chooseSource(source, aoi, settings)
  if (asked.kind !== 'overpass') return
  if (settings.overpassUrl === '') throw overpassOff()
  if (aoi && aoi.areaKm2 > OVERPASS_MAX_KM2) {
    throw areaTooLargeForOverpass({ km2: Math.ceil(aoi.areaKm2), limit: OVERPASS_MAX_KM2 })
  }
}

/**
 * Copies the data of an area into the job's folder and opens them.
 *
 * @throws what {@link checkOsmSource} throws, the errors of the catalogue, of the guarded fetch and of the reader
 */
export async function obtainOsm(
  source: OsmSource | undefined,
  aoi: Aoi,
  settings: OsmSourceSettings,
  context: Pick<JobContext, 'fetch' | 'project' | 'signal' | 'workdir' | 'progress'>,
): Promise<ObtainedOsm> {
  await checkOsmSource(source, aoi, settings)
  const opened = await download(source, aoi, settings, context)
  const extent = await statedExtent(opened.reader, Number(opened.source['bytes']), context.signal)
  const coverage = coverageOf(extent, aoi)
  if (coverage === 'outside') throw outside(extent!, aoi, settings)
  return { ...opened, coverage }
}

type Opened = Omit<ObtainedOsm, 'coverage'>

async function download(
  source: OsmSource | undefined,
  aoi: Aoi,
  settings: OsmSourceSettings,
  context: Pick<JobContext, 'fetch' | 'project' | 'signal' | 'workdir' | 'progress'>,
): Promise<Opened> {
  const { signal, workdir } = context
  const target = join(workdir, 'source.osm')
  const onBytes = (done: number, total: number | null) =>
    context.progress({ phase: 'download', done, total, unit: 'bytes' })
  const cache: CacheOptions = {
    fetch: context.fetch,
    folder: settings.cacheFolder,
    signal,
    maxBytes: settings.maxBytes,
    maxCacheBytes: settings.maxCacheBytes,
    maxAgeMs: EXTRACT_MAX_AGE_MS,
    onBytes,
  }
  const asked = await chooseSource(source, aoi, settings)
  if (asked.kind === 'url' && !source) {
    const { path, ...file } = await cachedDownload(asked.url, target, cache)
    return open(path, { kind: 'url', url: withoutQuery(asked.url), ...describe(file) }, signal)
  }
  switch (asked.kind) {
    case 'file':
    case 'url':
    case 'storage': {
      const field = source === undefined ? null : '/source/path'
      const { path, about } = await bringFile(asked, { target, field, onBytes }, settings, context)
      return open(path, about, signal)
    }
    case 'geofabrik': {
      const extract = await findExtract(settings.geofabrikUrl, aoi, workdir, cache)
      const { path, ...file } = await cachedDownload(extract.url, target, { ...cache, md5: true })
      return open(path, { kind: 'geofabrik', extract: extract.id, url: extract.url, ...describe(file) }, signal)
    }
    case 'overpass': {
      const body = new URLSearchParams({ data: overpassQuery(aoi) }).toString()
      const bytes = await downloadToFile(context.fetch, settings.overpassUrl, target, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body,
        maxBytes: OVERPASS_MAX_BYTES,
        signal,
        onBytes,
      })
      const opened = await open(target, { kind: 'overpass', url: withoutQuery(settings.overpassUrl), bytes }, signal)
      const { remark } = await opened.reader.header(signal)
      if (remark !== null) throw overpassFailed({ remark })
      return opened
    }
  }
}

/** A file that a caller may name. */
export type FileSource = Extract<OsmSource, { kind: 'file' | 'url' | 'storage' }>

/** Path for a copy of a file. */
interface Destination {
  readonly target: string
  /** Field of the request that names the file's path; null for a file of the operator. */
  readonly field: string | null
  readonly onBytes?: (done: number, total: number | null) => void
}

/**
 * Copies or links a file into the job's folder, and describes its origin.
 *
 * @throws FILE_NOT_REACHABLE, OSM_SOURCE_MISSING, OBJECT_TOO_LARGE, and what the guarded fetch and the storage throw
 */
export async function bringFile(
  source: FileSource,
  { target, field, onBytes }: Destination,
  settings: OsmSourceSettings,
  { fetch, project, signal }: Pick<JobContext, 'fetch' | 'project' | 'signal'>,
): Promise<{ readonly path: string; readonly about: Readonly<Record<string, unknown>> }> {
  const { maxBytes } = settings
  switch (source.kind) {
    case 'file': {
      const found = await findFile(source.path, field, settings)
      // A link keeps the file unchanged for both passes when its owner replaces it.
      const path = await link(found, target).then(
        () => target,
        () => found,
      )
      return { path, about: { kind: 'file', name: basename(found), bytes: (await stat(found)).size } }
    }
    case 'url': {
      const limits = { maxBytes, timeoutMs: 6 * 3_600_000, signal, ...(onBytes && { onBytes }) }
      const bytes = await downloadToFile(fetch, source.url, target, limits)
      return { path: target, about: { kind: 'url', url: withoutQuery(source.url), bytes } }
    }
    case 'storage': {
      const { bucket, path } = source
      const { info, body } = await project.store.get(bucket, path, { signal })
      if (info.size > maxBytes) throw objectTooLarge({ limit: maxBytes })
      await pipeline(body, createWriteStream(target, { flags: 'wx' }), { signal })
      return { path: target, about: { kind: 'storage', bucket, path, bytes: info.size } }
    }
  }
}

async function open(path: string, source: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Opened> {
  return { reader: await openOsm(await fileSource(path), signal), path, source }
}

/** A path from a caller must lie under the data roots; the operator's own may be anywhere. */
async function findFile(path: string, field: string | null, settings: OsmSourceSettings): Promise<string> {
  if (field !== null) {
    const found = await findUnderRoots(settings.dataRoots, path)
    if (found === null) throw fileNotReachable({ field })
    return found
  }
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
  if (!isFile) throw defaultFileMissing()
  return path
}

/** The requested source, or the first default that meets the area; only the extents of files are known beforehand. */
async function chooseSource(
  source: OsmSource | undefined,
  aoi: Aoi | null,
  settings: OsmSourceSettings,
): Promise<OsmSource> {
  const candidates = source ? [source] : splitList(settings.defaultSource).map(defaultSource)
  let missed: Bbox | null = null
  for (const candidate of candidates) {
    if (candidate.kind !== 'file') return candidate
    const path = await findFile(candidate.path, source === undefined ? null : '/source/path', settings)
    const extent = aoi && (await extentOf(path))
    if (!aoi || coverageOf(extent, aoi) !== 'outside') return candidate
    missed ??= extent
  }
  throw outside(missed!, aoi!, settings)
}

/** The extent in the header of a file. Problems of the file are reported by the job. */
async function extentOf(path: string): Promise<Bbox | null> {
  try {
    const { size } = await stat(path)
    return await statedExtent(await openOsm(await fileSource(path)), size)
  } catch {
    return null
  }
}

function outside(extent: Bbox, aoi: Aoi, settings: OsmSourceSettings): Error {
  const others = ['{"kind":"geofabrik"}']
  if (settings.overpassUrl !== '' && aoi.areaKm2 <= OVERPASS_MAX_KM2) others.push('{"kind":"overpass"}')
  return sourceOutsideArea({ extent, area: aoi.boxes, others })
}

function defaultSource(text: string): OsmSource {
  if (text === 'geofabrik' || text === 'overpass') return { kind: text }
  if (/^https?:\/\//.test(text)) return { kind: 'url', url: text }
  return { kind: 'file', path: text }
}

function describe(file: { bytes: number; lastModified: string | null; fresh: boolean }) {
  return { bytes: file.bytes, last_modified: file.lastModified, up_to_date: file.fresh }
}

/** A URL without possible credentials. */
function withoutQuery(text: string): string {
  const url = new URL(text)
  return `${url.origin}${url.pathname}`
}

/** Everything that touches the polygons, with the ways of relations and the nodes of ways. */
function overpassQuery(aoi: Aoi): string {
  const selections = aoi.polygons.map(([outer]) => {
    const points = Array.from({ length: outer!.length / 2 - 1 }, (_, i) => `${outer![2 * i + 1]} ${outer![2 * i]}`)
    return `nwr(poly:"${points.join(' ')}");`
  })
  return `[out:xml][timeout:180][maxsize:${OVERPASS_MAX_BYTES}];(${selections.join('')});(._;>;);out body;`
}
