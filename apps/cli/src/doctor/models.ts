import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openModelStore } from '@terrane/embeddings'
import { wrong, type CheckContext, type Finding } from './finding.ts'

/** Manifests of models whose files are missing or damaged, and locks of dead processes. */
export async function models({ env }: CheckContext): Promise<Finding[]> {
  const folder = env['TERRANE_MODEL_DIR'] || join(env['TERRANE_HOME'] || '.terrane', 'models')
  const names = await readdir(folder).catch(() => [])
  const findings: Finding[] = []
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const text = await readFile(join(folder, name), 'utf8')
    if (!isJson(text))
      findings.push(wrong('models', `${join(folder, name)} is not JSON`, 'Correct or remove the manifest.'))
  }
  if (findings.length > 0 || names.length === 0) return findings
  for (const { id, availability, problem } of await openModelStore({ directory: folder }).list()) {
    if (problem !== null)
      findings.push(
        wrong(
          'models',
          `${id} is ${availability}: ${problem}`,
          `Fetch it with \`terrane models fetch ${id}\`, or take its manifest away.`,
        ),
      )
  }
  return findings
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
