import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { settingsFiles, type Bundle, type TypeCheck } from '@terrane/bundler'
import { version } from 'esbuild'
import { pack, sha256, unpack } from './archive.ts'

/** Maximum number of cached bundles; the least recently used ones are removed. */
const MOST_ENTRIES = 500

/** The inputs of a folder's bundle: each file with the hash of its contents, and the names of the files beside them. */
interface Recipe {
  readonly inputs: readonly (readonly [path: string, sha256: string])[]
  readonly beside: string
  readonly code: string
}

/**
 * Bundles by their inputs: every input's contents, the names of the files beside them (a new one may be resolved
 * instead), the installed packages, the bundler's version and the sources of the bundling code.
 */
export class BuildCache {
  readonly #folder: string
  readonly #tool: Promise<string>

  /** @param folder made when it is needed */
  constructor(folder: string) {
    this.#folder = folder
    this.#tool = hashOfTool()
  }

  async find(files: ReadonlyMap<string, Uint8Array>): Promise<Bundle | null> {
    const packed = await this.#read(await this.#keyOf(files))
    return packed && { ...unpack(packed), inputs: [] }
  }

  async keep(files: ReadonlyMap<string, Uint8Array>, bundle: Bundle): Promise<void> {
    await this.#write(await this.#keyOf(files), pack(bundle))
  }

  async findFolder(folder: string): Promise<Bundle | null> {
    const text = await this.#read(await this.#keyOfFolder(folder))
    if (!text) return null
    const recipe = JSON.parse(text.toString('utf8')) as Recipe
    const hashes = await Promise.all(recipe.inputs.map(([path]) => hashOfFile(path)))
    if (hashes.some((hash, i) => hash !== recipe.inputs[i]![1])) return null
    const inputs = recipe.inputs.map(([path]) => path)
    if (recipe.beside !== (await namesBeside(folder, inputs))) return null
    const packed = await this.#read(recipe.code)
    return packed && { ...unpack(packed), inputs }
  }

  /**
   * @param unchanged called after the inputs are hashed; tells whether they have not changed since they were bundled
   */
  async keepFolder(folder: string, bundle: Bundle, unchanged: () => Promise<boolean>): Promise<void> {
    const all = [...new Set([...bundle.inputs, ...settingsFiles(folder)])]
    const hashes = await Promise.all(all.map(hashOfFile))
    const packed = pack(bundle)
    const name = sha256(packed)
    const recipe: Recipe = {
      inputs: all.map((path, i) => [path, hashes[i]!]),
      beside: await namesBeside(folder, all),
      code: name,
    }
    if (!(await unchanged())) return
    await this.#write(name, packed)
    await this.#write(await this.#keyOfFolder(folder), Buffer.from(JSON.stringify(recipe)))
  }

  async findTypes(folder: string, inputs: readonly string[]): Promise<TypeCheck | null> {
    const text = await this.#read(await this.#keyOfTypes(folder, inputs))
    return text && (JSON.parse(text.toString('utf8')) as TypeCheck)
  }

  async keepTypes(folder: string, inputs: readonly string[], found: TypeCheck): Promise<void> {
    await this.#write(await this.#keyOfTypes(folder, inputs), Buffer.from(JSON.stringify(found)))
  }

  async #keyOfTypes(folder: string, inputs: readonly string[]): Promise<string> {
    const all = [...new Set([...inputs, ...settingsFiles(folder)])].toSorted(byText)
    const hashes = await Promise.all(all.map(async (path) => [path, await hashOfFile(path)]))
    return sha256(Buffer.from(JSON.stringify(['types', await this.#tool, folder, hashes])))
  }

  async #keyOf(files: ReadonlyMap<string, Uint8Array>): Promise<string> {
    const hash = createHash('sha256').update(await this.#tool)
    for (const path of [...files.keys()].toSorted()) {
      const bytes = files.get(path)!
      hash.update(JSON.stringify([path, bytes.length])).update(bytes)
    }
    return hash.digest('hex')
  }

  async #keyOfFolder(folder: string): Promise<string> {
    return sha256(Buffer.from(`${await this.#tool} ${folder}`))
  }

  async #read(name: string): Promise<Buffer | null> {
    const file = join(this.#folder, name)
    const bytes = await readFile(file).catch(() => null)
    if (!bytes) return null
    // A truncated or altered entry counts as absent.
    if (sha256(bytes.subarray(32)) !== bytes.subarray(0, 32).toString('hex')) return null
    const now = new Date()
    await utimes(file, now, now).catch(() => {})
    return bytes.subarray(32)
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const file = join(this.#folder, name)
    const draft = `${file}.${process.pid}.${performance.now()}`
    await writeFile(draft, Buffer.concat([Buffer.from(sha256(bytes), 'hex'), bytes]))
    await rename(draft, file)
    await this.#prune()
  }

  async #prune(): Promise<void> {
    const names = await readdir(this.#folder)
    if (names.length <= MOST_ENTRIES) return
    const dated = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.#folder, name)).catch(() => null))?.mtimeMs ?? 0 })),
    )
    const old = dated.toSorted((a, b) => b.at - a.at).slice(Math.floor(MOST_ENTRIES * 0.9))
    await Promise.all(old.map(({ name }) => rm(join(this.#folder, name), { force: true })))
  }
}

async function hashOfTool(): Promise<string> {
  const hash = createHash('sha256').update(version)
  for (const folder of [import.meta.dirname, dirname(fileURLToPath(import.meta.resolve('@terrane/bundler')))]) {
    const sources = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.[jt]s$/.test(name))
    for (const name of sources.toSorted()) hash.update(name).update(await readFile(join(folder, name)))
  }
  return hash.digest('hex')
}

/** SHA-256 of a file's contents; empty for a file that does not exist. */
async function hashOfFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch(() => null)
  return bytes ? sha256(bytes) : ''
}

/** The file names in the folders of a function and of its inputs, and the state of installed packages. */
async function namesBeside(folder: string, inputs: readonly string[]): Promise<string> {
  const packages = new Set<string>()
  const folders = new Set<string>()
  const configs = new Set(settingsFiles(folder))
  for (const input of inputs) {
    if (configs.has(input)) continue
    const at = input.lastIndexOf('/node_modules/')
    if (at < 0) folders.add(dirname(input))
    else packages.add(input.slice(0, at + '/node_modules'.length))
  }
  folders.add(folder)
  const hash = createHash('sha256')
  for (const place of [...folders].toSorted()) {
    const names: string[] = await readdir(place).catch(() => [])
    hash.update(JSON.stringify([place, names.toSorted(byText)]))
  }
  for (const place of [...packages].toSorted())
    for (const name of ['.package-lock.json', '.modules.yaml', '.yarn-state.yml'])
      hash.update(`${basename(place)} ${await hashOfFile(join(place, name))}`)
  return hash.digest('hex')
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
