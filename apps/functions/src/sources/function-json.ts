import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { invalidPolicy } from '../errors.ts'

/**
 * The unchecked contents of a folder's `function.json`; an empty object when the file is missing.
 *
 * @throws FUNCTION_POLICY_INVALID for a file that is not JSON
 */
export function readFunctionJson(folder: string): unknown {
  let text: string
  try {
    text = readFileSync(join(folder, 'function.json'), 'utf8')
  } catch {
    return {}
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidPolicy({ errors: [{ path: '/', message: `is not JSON: ${(error as Error).message}` }] })
  }
}
