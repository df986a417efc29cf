import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { seededRandom } from '@terrane/core'

const POLICIES = [
  { auth: 'none', methods: ['GET'] },
  { auth: 'none', methods: ['GET', 'POST'] },
  { auth: 'anon', methods: ['GET'] },
  { auth: 'service', methods: ['GET'] },
] as const
type Policy = (typeof POLICIES)[number]

interface ModelFunction {
  /** The answer that the code gives; null without code. */
  code: string | null
  policy: Policy | null
}

/** A folder of functions and a simulated person who edits it at random. Knows what must be served. */
export class FolderModel {
  readonly functions = new Map<string, ModelFunction>()
  /** Names that the last acts were about. */
  readonly touched = new Set<string>()
  readonly #root: string
  readonly #random: () => number
  #count = 0

  constructor(root: string, seed: number) {
    this.#root = root
    this.#random = seededRandom(seed)
  }

  async add(name: string): Promise<void> {
    this.functions.set(name, { code: null, policy: null })
    this.touched.add(name)
    // In either order: a half-written function must not be served.
    const acts = [() => this.#writeCode(name), () => this.#writePolicy(name)]
    if (this.#chance(0.5)) acts.reverse()
    for (const act of acts) {
      await act()
      await this.#pause()
    }
  }

  /** One act of create, save, rename or delete; waits at random, less long than files must be still. */
  async act(): Promise<void> {
    const name = this.#pick([...this.functions.keys()])
    const kind = this.#random()
    if (name !== undefined) this.touched.add(name)
    if (name === undefined || kind < 0.15) await this.add(`f${++this.#count}`)
    else if (kind < 0.45) await this.#writeCode(name)
    else if (kind < 0.65) await this.#writePolicy(name)
    else if (kind < 0.75) await this.#rename(name)
    else if (kind < 0.85) await this.#remove(name)
    else if (kind < 0.92) await this.#removeFile(name, 'index.ts')
    else await this.#removeFile(name, 'function.json')
    await this.#pause()
  }

  /** The expected result of a GET without a key: the answer of the code, or the status of the refusal. */
  expected(name: string): string {
    const { code, policy } = this.functions.get(name) ?? { code: null, policy: null }
    if (code === null) return '404'
    const { auth, methods } = policy ?? { auth: 'anon', methods: ['POST'] }
    if (!(methods as readonly string[]).includes('GET')) return '405'
    return auth === 'none' ? code : '401'
  }

  async #writeCode(name: string): Promise<void> {
    const text = `v${++this.#count}`
    this.functions.get(name)!.code = text
    await this.#write(`${name}/index.ts`, `export default () => new Response(${JSON.stringify(text)})`)
  }

  async #writePolicy(name: string): Promise<void> {
    const policy = this.#pick(POLICIES)!
    this.functions.get(name)!.policy = policy
    await this.#write(`${name}/function.json`, JSON.stringify(policy))
  }

  /** In place, in two parts, or by replacing the file, as editors do. */
  async #write(path: string, text: string): Promise<void> {
    const file = join(this.#root, path)
    await mkdir(dirname(file), { recursive: true })
    const way = this.#random()
    if (way < 0.4) return writeFile(file, text)
    if (way < 0.7) {
      await writeFile(file, text.slice(0, text.length >> 1))
      await this.#pause()
      return writeFile(file, text)
    }
    await writeFile(`${file}~`, text)
    await rename(`${file}~`, file)
  }

  async #rename(name: string): Promise<void> {
    const wanted = this.#chance(0.3) ? this.#pick([...this.functions.keys()].filter((other) => other !== name)) : null
    const to = wanted ?? `f${++this.#count}`
    this.touched.add(to)
    await rm(join(this.#root, to), { recursive: true, force: true })
    await rename(join(this.#root, name), join(this.#root, to))
    this.functions.set(to, this.functions.get(name)!)
    this.functions.delete(name)
  }

  async #remove(name: string): Promise<void> {
    await rm(join(this.#root, name), { recursive: true })
    this.functions.delete(name)
  }

  async #removeFile(name: string, file: 'index.ts' | 'function.json'): Promise<void> {
    await rm(join(this.#root, name, file), { force: true })
    this.functions.get(name)![file === 'index.ts' ? 'code' : 'policy'] = null
  }

  #pause(): Promise<void> {
    const ms = this.#chance(0.5) ? 0 : this.#random() * 100
    return new Promise((resolve) => setTimeout(resolve, ms))
  }

  #chance(share: number): boolean {
    return this.#random() < share
  }

  #pick<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.#random() * values.length)]
  }
}

/** The actual result of a GET without a key: the answer, or the status of a refusal. */
export async function meets(url: string): Promise<string> {
  const response = await fetch(url)
  const text = await response.text()
  return response.status === 200 ? text : String(response.status)
}
