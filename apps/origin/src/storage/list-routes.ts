import type { Http } from '@terrane/service'
import type { ListedObject, ObjectInfo } from '@terrane/storage'
import { Type } from 'typebox'
import { listEntry } from './views.ts'
import { readableBucket, type StorageDeps } from './access.ts'

const Params = Type.Object({ bucket: Type.String() })
const List = Type.Object({
  prefix: Type.Optional(Type.String({ maxLength: 1024 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  search: Type.Optional(Type.String({ maxLength: 200 })),
  sortBy: Type.Optional(
    Type.Object({
      column: Type.Optional(Type.String({ maxLength: 63 })),
      order: Type.Optional(Type.String({ maxLength: 10 })),
    }),
  ),
})
const ListV2 = Type.Object({
  prefix: Type.Optional(Type.String({ maxLength: 1024 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  cursor: Type.Optional(Type.String({ maxLength: 4096 })),
  with_delimiter: Type.Optional(Type.Boolean()),
  sortBy: Type.Optional(
    Type.Object({
      column: Type.Optional(Type.String({ maxLength: 63 })),
      order: Type.Optional(Type.String({ maxLength: 10 })),
    }),
  ),
})

/** A folder or an object directly under the listed folder. */
interface Entry {
  readonly name: string
  readonly info: ListedObject | null
}

/** Objects on their way to their place; see `publish`. */
const UPLOADING = '.uploading/'

/** `/object/list/{bucket}` (one folder, by offset) and `/object/list-v2/{bucket}` (by prefix, by cursor). */
export function listRoutes(app: Http, deps: StorageDeps): void {
  app.post('/object/list/:bucket', { schema: { params: Params, body: List } }, async (request) => {
    const { bucket } = request.params
    await readableBucket(deps, request, bucket)
    const { prefix = '', limit = 100, offset = 0, search = '', sortBy = {} } = request.body
    const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
    const entries = (await readFolder(deps, bucket, folder)).filter((entry) =>
      entry.name.toLowerCase().includes(search.toLowerCase()),
    )
    sortEntries(entries, sortBy.column ?? 'name', sortBy.order === 'desc')
    const page = entries.slice(offset, offset + limit)
    const described = await describe(deps, bucket, page)
    const shown = page.map(({ name, info }) => {
      if (!info) return folderEntry(name)
      const whole = described.get(info.key)
      return whole ? listEntry(whole, name) : null
    })
    return shown.filter((entry) => entry !== null)
  })

  app.post('/object/list-v2/:bucket', { schema: { params: Params, body: ListV2 } }, async (request) => {
    const { bucket } = request.params
    await readableBucket(deps, request, bucket)
    const { prefix = '', limit = 1000, cursor, with_delimiter: delimited = false } = request.body
    const after = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString('utf8')
    const all = delimited
      ? (await readFolder(deps, bucket, prefix)).map(({ name, info }) => ({
          key: `${prefix}${name}${info ? '' : '/'}`,
          name,
          info,
        }))
      : (await readObjects(deps, bucket, prefix)).map((info) => ({ key: info.key, name: info.key, info }))
    const rest = all.toSorted((a, b) => (a.key < b.key ? -1 : 1)).filter(({ key }) => key > after)
    const page = rest.slice(0, limit)
    const hasNext = rest.length > limit
    const described = await describe(deps, bucket, page)
    return {
      hasNext,
      ...(hasNext && { nextCursor: Buffer.from(page.at(-1)?.key ?? '').toString('base64url') }),
      folders: page.filter(({ info }) => info === null).map(({ key }) => ({ key, name: key })),
      objects: [...described.values()].map((info) => ({ key: info.key, ...listEntry(info, info.key) })),
    }
  })
}

/** What is known of the objects of a page, by key: of these alone, because S3 tells of one at a time. */
async function describe(
  deps: StorageDeps,
  bucket: string,
  page: readonly { readonly info: ListedObject | null }[],
): Promise<Map<string, ObjectInfo>> {
  const infos = await deps.store.describe(
    bucket,
    page.flatMap(({ info }) => (info ? [info] : [])),
  )
  return new Map(infos.map((info) => [info.key, info]))
}

async function readObjects(deps: StorageDeps, bucket: string, prefix: string): Promise<ListedObject[]> {
  const infos = await Array.fromAsync(deps.store.list(bucket, prefix))
  return infos.filter((info) => !info.key.startsWith(UPLOADING))
}

async function readFolder(deps: StorageDeps, bucket: string, folder: string): Promise<Entry[]> {
  const entries = new Map<string, Entry>()
  for (const info of await readObjects(deps, bucket, folder)) {
    const rest = info.key.slice(folder.length)
    const slash = rest.indexOf('/')
    const name = slash < 0 ? rest : rest.slice(0, slash)
    if (slash < 0) entries.set(`o${name}`, { name, info })
    else entries.set(`f${name}`, { name, info: null })
  }
  return [...entries.values()]
}

function sortEntries(entries: Entry[], column: string, descending: boolean): void {
  const key = (entry: Entry): string | number => {
    if (column === 'updated_at' || column === 'last_accessed_at') return entry.info?.updatedAt.getTime() ?? 0
    if (column === 'created_at') return entry.info?.createdAt.getTime() ?? 0
    return entry.name
  }
  const sign = descending ? -1 : 1
  entries.sort((a, b) => {
    const [x, y] = [key(a), key(b)]
    return x === y ? (a.name < b.name ? -1 : 1) : (x < y ? -1 : 1) * sign
  })
}

function folderEntry(name: string) {
  return { name, id: null, updated_at: null, created_at: null, last_accessed_at: null, metadata: null }
}
