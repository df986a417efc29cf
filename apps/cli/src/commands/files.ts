import { basename } from 'node:path'
import { TerraneError } from '@terrane/core/errors'
import type { Command } from 'commander'
import { whole } from '../arguments.ts'
import { ask, connect, request, type Connection } from '../connection.ts'
import { replaceFile, upload } from '../files.ts'
import { printEach, printList, printOne, progressLine } from '../output.ts'
import { onProject, type ProjectOptions } from '../run-task.ts'

interface Options extends ProjectOptions {
  readonly minutes: number
  readonly yes?: boolean
}

interface Listed {
  readonly key: string
  readonly updated_at: string | null
  readonly metadata: { readonly size?: number } | null
}

const PAGE = 1000

/** `terrane files list|upload|download|link|delete`. */
export function fileCommands(program: Command): void {
  const files = program.command('files').description('Files in the storage of a project, as bucket/path.')
  onProject(files.command('list [bucket]').description('Files of a bucket; without one, the buckets.')).action(list)
  onProject(files.command('upload <files...>').description('Upload files; prints the path of each.')).action(bring)
  onProject(files.command('download <path> [file]').description('Save a stored file.')).action(download)
  onProject(files.command('link <path>').description('Make a link that reads a file without a key.'))
    .option('--minutes <number>', 'how long it works', whole, 60)
    .action(link)
  onProject(files.command('delete <paths...>').description('Delete stored files.'))
    .option('--yes', 'confirm the deletion, which cannot be undone')
    .action(remove)
}

async function list(bucket: string | undefined, { profile, json }: Options): Promise<void> {
  const connection = await connect(profile)
  if (bucket === undefined) {
    const buckets = (await ask(connection, '/storage/v1/bucket')) as { name: string; public: boolean }[]
    return printList(
      buckets.map(({ name, public: isPublic }) => ({ bucket: name, public: isPublic })),
      ['bucket', 'public'],
      json,
    )
  }
  const rows = (await filesOf(connection, bucket)).map(({ key, updated_at: changed, metadata }) => ({
    path: `${bucket}/${key}`,
    bytes: metadata?.size ?? null,
    changed,
  }))
  printList(rows, ['path', 'bytes', 'changed'], json)
}

async function filesOf(connection: Connection, bucket: string): Promise<Listed[]> {
  const found: Listed[] = []
  for (let cursor: string | undefined; ;) {
    const body = JSON.stringify({ prefix: '', limit: PAGE, ...(cursor !== undefined && { cursor }) })
    const path = `/storage/v1/object/list-v2/${encodeURIComponent(bucket)}`
    const page = (await ask(connection, path, { method: 'POST', body })) as {
      objects: Listed[]
      hasNext: boolean
      nextCursor?: string
    }
    found.push(...page.objects)
    if (!page.hasNext || page.nextCursor === undefined) return found
    cursor = page.nextCursor
  }
}

async function bring(files: string[], { profile, json }: Options): Promise<void> {
  const connection = await connect(profile)
  const send = async (file: string) => {
    const line = progressLine()
    try {
      const { bucket, path } = await upload(connection, file, (percent) => line.show(percent, `upload ${file}`))
      return { file, path: `${bucket}/${path}` }
    } finally {
      line.end()
    }
  }
  await printEach(files, send, ({ path }) => path, json)
}

async function download(path: string, file: string | undefined, { profile, json }: Options): Promise<void> {
  const to = file ?? basename(path)
  const { body } = await request(await connect(profile), `/storage/v1/object/${encoded(path)}`)
  await replaceFile(to, body!)
  printOne({ path, file: to }, to, json)
}

async function link(path: string, { profile, minutes, json }: Options): Promise<void> {
  const connection = await connect(profile)
  const body = JSON.stringify({ expiresIn: minutes * 60 })
  const { signedURL } = (await ask(connection, `/storage/v1/object/sign/${encoded(path)}`, {
    method: 'POST',
    body,
  })) as { signedURL: string }
  const url = new URL(`${connection.url}/storage/v1${signedURL}`).href
  printOne({ path, url }, url, json)
}

async function remove(paths: string[], { profile, yes, json }: Options): Promise<void> {
  const all = paths.map((path) => ({ path, at: encoded(path) }))
  if (!yes) {
    throw new TerraneError('NOT_CONFIRMED', 'invalid', `${paths.join(', ')} would be deleted`, {
      hint: 'Add --yes to do it.',
    })
  }
  const connection = await connect(profile)
  const drop = async ({ path, at }: { path: string; at: string }) => {
    await ask(connection, `/storage/v1/object/${at}`, { method: 'DELETE' })
    return { path }
  }
  await printEach(all, drop, ({ path }) => path, json)
}

/** `bucket/path` encoded for a URL. @throws PATH_INVALID */
function encoded(path: string): string {
  const parts = path.split('/')
  if (parts.length < 2 || parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new TerraneError('PATH_INVALID', 'invalid', `'${path}' is not bucket/path`, {
      hint: 'terrane files list <bucket> shows paths.',
    })
  }
  return parts.map(encodeURIComponent).join('/')
}
