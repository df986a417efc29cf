import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const NAME = /export (?:async )?(?:function|const|class)\*? (\w+)/

/** An `@example` of a package's source. */
export interface Example {
  /** Name of the documented export. */
  readonly name: string
  readonly code: string
}

/** The examples in the sources of a package; each is a module of its own, in a fence of `ts`. */
export function examplesOf(folder: string): Example[] {
  const files = globSync('src/**/*.ts', { cwd: folder, exclude: (path) => path.endsWith('.test.ts') })
  return files.toSorted().flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    return [...text.matchAll(/@example\n/g)].map(({ index }) => {
      const end = text.indexOf('*/', index)
      const comment = text.slice(index, end).replaceAll(/^ \* ?/gm, '')
      const code = /```ts\n([^]*?)```/.exec(comment)?.[1]
      const name = NAME.exec(text.slice(end))?.[1]
      if (code === undefined || name === undefined) throw new Error(`${file}: an example without code or export`)
      return { name, code }
    })
  })
}

/** Runs an example as a module within the package, where its imports are found. */
export async function runExample(folder: string, { name, code }: Example): Promise<void> {
  const place = join(folder, '.cache/examples')
  const path = join(place, `${name}-${process.pid}.ts`)
  mkdirSync(place, { recursive: true })
  writeFileSync(path, code)
  try {
    await import(pathToFileURL(path).href)
  } finally {
    rmSync(path)
  }
}
