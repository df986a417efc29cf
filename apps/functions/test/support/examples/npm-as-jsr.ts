import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { builtins, install, json, type ModuleHost } from './hosts.ts'

const run = promisify(execFile)

/** Packages of JSR whose name on npm is another one. */
const RENAMED: Readonly<Record<string, string>> = {
  '@hono/hono': 'hono',
  '@panva/jose': 'jose',
  '@zod/zod': 'zod',
  '@valibot/valibot': 'valibot',
  '@openai/openai': 'openai',
}

interface Published {
  readonly exports: Readonly<Record<string, string>>
  readonly files: ReadonlyMap<string, string>
}

/** JSR: packages that npm has as well, each export bundled into one module. */
export function npmAsJsr(home: string): ModuleHost {
  const versions = new Map<string, Promise<readonly string[]>>()
  const packages = new Map<string, Promise<Published>>()
  return async ({ pathname }) => {
    const [, name = '', rest = ''] = /^\/(@[\w-]+\/[\w-]+)\/(.*)$/.exec(pathname) ?? []
    if (name === '') return null
    const onNpm = RENAMED[name] ?? name
    if (rest === 'meta.json') {
      let listed = versions.get(name)
      if (!listed) versions.set(name, (listed = versionsOf(onNpm)))
      const all = await listed
      const [scope, short] = name.slice(1).split('/')
      return json({
        scope,
        name: short,
        latest: all.at(-1),
        versions: Object.fromEntries(all.map((each) => [each, {}])),
      })
    }
    const version = /^(\d[^/]*?)(?:_meta\.json|\/.*)$/.exec(rest)?.[1]
    if (version === undefined) return null
    const key = `${onNpm}@${version}`
    let published = packages.get(key)
    if (!published)
      packages.set(key, (published = install(home, onNpm, version).then((folder) => publish(folder, onNpm))))
    const { exports, files } = await published
    if (rest.endsWith('_meta.json')) {
      const manifest = Object.fromEntries(
        [...files].map(([path, text]) => [
          path,
          { size: Buffer.byteLength(text), checksum: `sha256-${createHash('sha256').update(text).digest('hex')}` },
        ]),
      )
      return json({ manifest, exports })
    }
    const text = files.get(rest.slice(version.length))
    return text === undefined ? null : { body: text, type: 'application/javascript' }
  }
}

async function versionsOf(name: string): Promise<readonly string[]> {
  const { stdout } = await run('npm', ['view', name, 'versions', '--json'], { maxBuffer: 64 * 1024 * 1024 })
  return ([JSON.parse(stdout)] as (string | string[])[]).flat()
}

async function publish(folder: string, name: string): Promise<Published> {
  const about = JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as {
    readonly exports?: Readonly<Record<string, unknown>>
  }
  const given = Object.keys(about.exports ?? {}).filter(
    (key) => /^\.(?:\/[\w./-]+)?$/.test(key) && !key.endsWith('.json'),
  )
  const exports: Record<string, string> = {}
  const files = new Map<string, string>()
  for (const key of new Set(['.', ...given])) {
    // The modules of types have no code.
    const text = key.includes('.d.') ? 'export {}' : await bundled(folder, name + key.slice(1)).catch(() => null)
    const path = `/${key === '.' ? 'mod' : key.slice(2).replaceAll('/', '-')}.js`
    if (text === null) continue
    exports[key] = `.${path}`
    files.set(path, text)
  }
  if (name === '@supabase/functions-js') {
    exports['./edge-runtime.d.ts'] = './edge-runtime.d.ts'
    files.set('/edge-runtime.d.ts', 'declare namespace EdgeRuntime {}')
  }
  return { exports, files }
}

async function bundled(folder: string, from: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(from)}`, resolveDir: folder },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['deno', 'worker'],
    plugins: [builtins],
    logLevel: 'silent',
  })
  return outputFiles[0]!.text
}
