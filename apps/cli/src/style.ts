import { readFile } from 'node:fs/promises'
import { TerraneError } from '@terrane/core/errors'

/** A style from a file; the worker checks its content. @throws STYLE_UNREADABLE */
export async function styleOf(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    const hint = 'Give the path of a JSON file: {"tables": […]}.'
    throw new TerraneError('STYLE_UNREADABLE', 'invalid', `${path}: ${(error as Error).message}`, { hint })
  }
}
