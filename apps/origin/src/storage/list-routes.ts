import { TerraneError } from '@terrane/core'
import type { Http } from '@terrane/service'
import type { ListedFolder, ListedObject, ObjectInfo } from '@terrane/storage'
import { Type, type Static } from 'typebox'
import { listEntry } from './views.ts'
import { readableBucket, type StorageDeps } from './access.ts'

const Params = Type.Object({ bucket: Type.String() })
const SortBy = Type.Object({
  column: Type.Optional(Type.Enum(['name', 'updated_at', 'created_at', 'last_accessed_at'])),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
})
const List = Type.Object({
  prefix: Type.Optional(Type.String({ maxLength: 1024 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  search: Type.Optional(Type.String({ maxLength: 200 })),
  sortBy: Type.Optional(SortBy),
})
const ListV2 = Type.Object({
  prefix: Type.Optional(Type.String({ maxLength: 1024 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  cursor: Type.Optional(Type.String({ maxLength: 4096 })),
  with_delimiter: Type.Optional(Type.Boolean()),
  sortBy: Type.Optional(SortBy),
})

/** An object, or a folder, whose key ends with a slash. */
interface Entry {
  readonly key: string
  readonly info: ListedObject | null
}

/** The listed entries, their order, and the start of the page. */
interface Question {
  readonly bucket: string
  readonly prefix: string
  /** True: folders replace the entries below them. */
  readonly flat: boolean
  readonly sortBy: Static<typeof SortBy> | undefined
  readonly keep?: (entry: Entry) => boolean
  readonly offset?: number
  /** Only entries after this position. */
  readonly after?: Mark | undefined
  readonly limit: number
}

/** The position of an entry in an order: its key and its time in ms. */
type Mark = readonly [key: string, time: number]

/** Prefix of unfinished uploads; see `upload`. */
const UPLOADING = '.uploading/'

/** `/object/list/{bucket}` (one folder, by offset) and `/object/list-v2/{bucket}` (by prefix, by cursor). */
export function listRoutes(app: Http, deps: StorageDeps): void {
  app.post('/object/list/:bucket', { schema: { params: Params, body: List } }, async (request) => {
    const { bucket } = request.params
    await readableBucket(deps, request, bucket)
    const { prefix = '', limit = 100, offset = 0, search = '', sortBy } = request.body
    const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
    const nameOf = ({ key, info }: Entry) => key.slice(folder.length, info ? undefined : -1)
    const wanted = search.toLowerCase()
    const page = await readPage(deps, {
      bucket,
      prefix: folder,
      flat: true,
      sortBy,
      offset,
      limit,
      ...(wanted !== '' && { keep: (entry) => nameOf(entry).toLowerCase().includes(wanted) }),
    })
    const described = await describe(deps, bucket, page)
    return page
      .map((entry) => {
        if (!entry.info) return folderEntry(nameOf(entry))
        const whole = described.get(entry.key)
        return whole ? listEntry(whole, nameOf(entry)) : null
      })
      .filter((shown) => shown !== null)
  })

  app.post('/object/list-v2/:bucket', { schema: { params: Params, body: ListV2 } }, async (request) => {
    const { bucket } = request.params
    await readableBucket(deps, request, bucket)
    const { prefix = '', limit = 1000, cursor, with_delimiter: flat = false, sortBy } = request.body
    const after = cursor === undefined ? undefined : readCursor(cursor)
    const found = await readPage(deps, { bucket, prefix, flat, sortBy, after, limit: limit + 1 })
    const page = found.slice(0, limit)
    const last = page.at(-1)
    const described = await describe(deps, bucket, page)
    return {
      hasNext: found.length > limit,
      ...(found.length > limit && last && { nextCursor: writeCursor(markOf(last, sortBy)) }),
      folders: page.filter(({ info }) => info === null).map(({ key }) => ({ key, name: key })),
      objects: [...described.values()].map((info) => ({ key: info.key, ...listEntry(info, info.key) })),
    }
  })
}

/** One page. For ascending names the storage reads only up to the end of the page; other orders need all entries. */
async function readPage(deps: StorageDeps, question: Question): Promise<Entry[]> {
  const { sortBy = {}, keep = () => true, offset = 0, limit, after } = question
  const { column = 'name', order = 'asc' } = sortBy
  const end = offset + limit
  const found: Entry[] = []
  if (column === 'name' && order === 'asc') {
    for await (const entry of entries(deps, question, {
      after: after?.[0],
      pageSize: question.keep ? undefined : end,
    })) {
      if (keep(entry) && found.push(entry) >= end) break
    }
    return found.slice(offset)
  }
  for await (const entry of entries(deps, question, {})) if (keep(entry)) found.push(entry)
  const sign = order === 'desc' ? -1 : 1
  const compare = ([a, x]: Mark, [b, y]: Mark) => (x - y || (a < b ? -1 : Number(a > b))) * sign
  const sorted = found.toSorted((a, b) => compare(markOf(a, sortBy), markOf(b, sortBy)))
  const rest = after ? sorted.filter((entry) => compare(markOf(entry, sortBy), after) > 0) : sorted
  return rest.slice(offset, end)
}

async function* entries(
  { store }: StorageDeps,
  { bucket, prefix, flat }: Question,
  { after = '', pageSize }: { after?: string | undefined; pageSize?: number | undefined },
): AsyncGenerator<Entry> {
  const options = { after, ...(pageSize !== undefined && { pageSize }) }
  const listed: AsyncIterable<ListedObject | ListedFolder> = flat
    ? store.listFolder(bucket, prefix, options)
    : store.list(bucket, prefix, options)
  for await (const one of listed) {
    const entry = 'folder' in one ? { key: one.folder, info: null } : { key: one.key, info: one }
    if (!entry.key.startsWith(UPLOADING)) yield entry
  }
}

/** Metadata of the objects of one page, by key; S3 answers for one object at a time. */
async function describe(deps: StorageDeps, bucket: string, page: readonly Entry[]): Promise<Map<string, ObjectInfo>> {
  const infos = await deps.store.describe(
    bucket,
    page.flatMap(({ info }) => (info ? [info] : [])),
  )
  return new Map(infos.map((info) => [info.key, info]))
}

/** Folders have no time: they come first in an order by time. */
function markOf({ key, info }: Entry, { column = 'name' }: Static<typeof SortBy> = {}): Mark {
  if (column === 'name') return [key, 0]
  return [key, (column === 'created_at' ? info?.createdAt : info?.updatedAt)?.getTime() ?? 0]
}

function writeCursor(mark: Mark): string {
  return Buffer.from(JSON.stringify(mark)).toString('base64url')
}

/** @throws INVALID_CURSOR */
function readCursor(text: string): Mark {
  try {
    const [key, time] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown[]
    if (typeof key === 'string' && typeof time === 'number') return [key, time]
  } catch {
    // An invalid cursor is refused below.
  }
  throw new TerraneError(
    'INVALID_CURSOR',
    'malformed',
    'cursor is not one that a list has returned: send nextCursor of the page before',
  )
}

function folderEntry(name: string) {
  return { name, id: null, updated_at: null, created_at: null, last_accessed_at: null, metadata: null }
}
