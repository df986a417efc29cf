import { stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute } from 'node:path'
import fastifyStatic from '@fastify/static'
import { Type, type Static } from 'typebox'
import type { Http } from '@terrane/service'
import { basemapInvalid } from '../errors.ts'

/** The operator's basemap. */
export interface OwnBasemap {
  readonly kind: 'none' | 'raster' | 'pmtiles'
  /** Address under which the page reads it: a tile template or an archive. */
  readonly url: string
  /** Attribution that its licence requires, as HTML. */
  readonly attribution: string
  /** The file served at the page's address; null where it is on another server. */
  readonly file: string | null
  /** Origin of the other server, which the page's policy must allow; null when there is no other server. */
  readonly origin: string | null
}

const NONE: OwnBasemap = { kind: 'none', url: '', attribution: '', file: null, origin: null }
/** Address of a served file. */
const FILE_URL = '/api/basemap.pmtiles'

const Shown = Type.Object({
  kind: Type.Enum(['none', 'raster', 'pmtiles']),
  url: Type.String(),
  attribution: Type.String(),
})

/**
 * Reads the setting: `https://…/{z}/{x}/{y}.png`, `https://….pmtiles`, or the path of a PMTiles file.
 *
 * @throws BASEMAP_INVALID
 */
export async function readBasemap(setting: string | undefined, attribution = ''): Promise<OwnBasemap> {
  if (setting === undefined || setting === '') return NONE
  if (/^https?:\/\//.test(setting)) {
    const template = ['{z}', '{x}', '{y}'].every((part) => setting.includes(part))
    if (!URL.canParse(setting)) throw basemapInvalid({ setting, reason: 'it is not an address' })
    const { origin, pathname } = new URL(setting)
    if (!template && !pathname.endsWith('.pmtiles')) {
      throw basemapInvalid({ setting, reason: 'an address has {z}, {x} and {y} in it, or ends in .pmtiles' })
    }
    return { kind: template ? 'raster' : 'pmtiles', url: setting, attribution, file: null, origin }
  }
  if (!isAbsolute(setting)) throw basemapInvalid({ setting, reason: 'it is neither an address nor an absolute path' })
  const found = await stat(setting).catch(() => null)
  if (!found?.isFile()) throw basemapInvalid({ setting, reason: 'there is no such file' })
  return { kind: 'pmtiles', url: FILE_URL, attribution, file: setting, origin: null }
}

/**
 * `GET /api/basemap`: the basemap that the page may draw beneath the data; `GET /api/basemap.pmtiles`: the file, with
 * range requests.
 */
export async function basemapRoutes(app: Http, basemap: OwnBasemap): Promise<void> {
  const shown: Static<typeof Shown> = { kind: basemap.kind, url: basemap.url, attribution: basemap.attribution }
  app.get('/api/basemap', { schema: { tags: ['page'], response: { 200: Shown } } }, async () => shown)
  const { file } = basemap
  if (file === null) return
  await app.register(fastifyStatic, { root: dirname(file), serve: false, cacheControl: false })
  app.get(FILE_URL, { schema: { hide: true } }, async (_request, reply) => reply.sendFile(basename(file)))
}
