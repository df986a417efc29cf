import { execFile, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

// oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
const pythons = [process.env['GDAL_PYTHON'] ?? 'python3', '/usr/bin/python3'].map((command) => command.split(' '))
export const python = pythons.find(
  ([program = '', ...args]) => spawnSync(program, [...args, '-c', 'import numpy; from osgeo import ogr']).status === 0,
)
/** Commands of other programs. A test reports a missing one. */
// oxlint-disable-next-line node/no-process-env -- The commands of peers.
export const { OGR2OGR = 'ogr2ogr', OSMIUM = 'osmium' } = process.env
export const hasOgr2ogr = piped(`${OGR2OGR} --version`).status === 0
export const hasOsmium = piped(`${OSMIUM} --version`).status === 0
export function boxOf(west: number, south: number, east: number, north: number) {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}

/** An index of extracts that contains only Monaco. */
export function extractsAt(url: string) {
  const properties = { id: 'monaco', name: 'Monaco', urls: { pbf: `${url}/monaco.osm.pbf` } }
  return {
    type: 'FeatureCollection',
    features: [{ type: 'Feature', properties, geometry: boxOf(7.3, 43.6, 7.6, 43.9) }],
  }
}

/** Runs a shell command with the given standard input. */
export function piped(command: string, input: Uint8Array = new Uint8Array()) {
  return spawnSync('sh', ['-c', command], { input, maxBuffer: 2 ** 28 })
}

/** Serves the files of a folder at an address of this machine. */
export async function serveFolder(folder: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '/').slice(1))
    readFile(join(folder, basename(name))).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export async function makeFiles(folder: string): Promise<void> {
  const [program = '', ...args] = python ?? []
  const input = await readFile(join(import.meta.dirname, '../long/newcomer-files.py'), 'utf8')
  const { stdout, stderr, status } = spawnSync(program, [...args, '-'], { input, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error(`the files were not made: ${stderr}`)
  for (const [name, base64] of Object.entries(JSON.parse(stdout) as Record<string, string>)) {
    await writeFile(join(folder, name), Buffer.from(base64, 'base64'))
  }
}

export async function run(command: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replace(/^curl /, 'curl -sS ')], {
    env: { PATH: process.env['PATH'], ...env },
  })
  return stdout
}
