import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Fetched repositories, read without a work tree: a folder with a git directory `{owner}+{name}` each. */
export class Repositories {
  readonly #root: string
  readonly #files = new Map<string, Promise<Buffer | null>>()

  constructor(root: string) {
    this.#root = root
  }

  has(name: string): boolean {
    return existsSync(this.#place(name))
  }

  /** A file as it was at a tag or commit; null where it is not. */
  async read(name: string, ref: string, path: string): Promise<Buffer | null> {
    const key = `${name} ${ref}:${path}`
    let file = this.#files.get(key)
    if (!file) {
      const shown = this.#git(name, ['cat-file', 'blob', `${ref}:${path}`])
      file = shown.catch(() => null)
      this.#files.set(key, file)
    }
    return file
  }

  /** Paths of the files in some folders at a tag or commit. */
  async list(name: string, ref: string, folders: readonly string[] = []): Promise<string[]> {
    const listed = await this.#git(name, ['ls-tree', '-r', '-z', '--name-only', ref, '--', ...folders])
    return listed.toString('utf8').split('\0').filter(Boolean)
  }

  async tags(name: string): Promise<string[]> {
    return (await this.#git(name, ['tag', '--sort=-version:refname'])).toString('utf8').split('\n').filter(Boolean)
  }

  /** Writes folders of a repository below a folder, without the files that the copy lacks. */
  async checkOut(name: string, ref: string, folders: readonly string[], into: string): Promise<void> {
    const listed = (await this.#git(name, ['ls-tree', '-r', '-z', ref, '--', ...folders])).toString('utf8')
    for (const line of listed.split('\0').filter(Boolean)) {
      const [facts = '', path = ''] = line.split('\t')
      const bytes = await this.read(name, ref, path)
      if (!bytes) continue
      const file = join(into, path)
      await mkdir(dirname(file), { recursive: true })
      if (facts.startsWith('120000')) await symlink(bytes.toString('utf8'), file)
      else await writeFile(file, bytes)
    }
  }

  async #git(name: string, args: readonly string[]): Promise<Buffer> {
    const options = { encoding: 'buffer' as const, maxBuffer: 256 * 1024 * 1024 }
    return (await run('git', ['--git-dir', this.#place(name), ...args], options)).stdout
  }

  #place(name: string): string {
    return join(this.#root, name.replace('/', '+'))
  }
}
