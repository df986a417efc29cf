import { readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import type { BuildFailure, Loader, Location, Plugin } from 'esbuild'

const ERROR = /^Cannot assign to ".*" because it is a constant$/
/** Throws as the assignment itself does, where it is reached. */
const THROWS = `(() => { throw new TypeError('Assignment to constant variable.') })().`

/**
 * The esbuild plugin for sources that assign to a constant: an error where they are bundled, but one at the run, where the assignment
 * is reached, for runtimes. Null for a build that has failed for another reason.
 *
 * @param root folder that the places of errors are relative to
 * @param read the code of a source as the other plugins change it; null: as it is
 */
export function constantAssignments(
  error: unknown,
  root: string,
  read: (path: string, code: string) => Promise<string | null>,
): Plugin | null {
  const { errors = [] } = error as Partial<BuildFailure>
  const places = new Map<string, Location[]>()
  for (const { text, location } of errors) {
    if (!ERROR.test(text) || !location || !/^(?:file)?$/.test(location.namespace)) return null
    const path = resolve(root, location.file)
    places.set(path, [...(places.get(path) ?? []), location])
  }
  if (places.size === 0) return null
  return {
    name: 'constant assignments',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
        const found = places.get(path)
        if (!found) return null
        const code = await readFile(path, 'utf8')
        const loader = extname(path).replace(/^\.[cm]?/, '') as Loader
        return { contents: throwing((await read(path, code)) ?? code, found), loader }
      })
    },
  }
}

/** The code with an expression that throws before the names at these places. Lines stay. */
function throwing(code: string, places: readonly Location[]): string {
  const lines = code.split('\n')
  // Columns are in bytes; those at the end of a line come first, so that the others stay.
  for (const { line, column } of places.toSorted((a, b) => b.column - a.column)) {
    const bytes = Buffer.from(lines[line - 1] ?? '')
    lines[line - 1] = bytes.subarray(0, column).toString() + THROWS + bytes.subarray(column).toString()
  }
  return lines.join('\n')
}
