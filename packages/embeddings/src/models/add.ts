import { copyFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { modelThere } from '../errors.ts'
import { checkModelFile, nameBeside, type CheckedModel } from './check-file.ts'
import { parseManifest, type ModelManifest } from './manifest.ts'
import { writeManifest } from './pin.ts'
import { modelFilePath } from './acquire-files.ts'
import { findManifest, parseJson } from './store.ts'

export interface AddRequest {
  /** The model directory. */
  readonly directory: string
  /** The ONNX file; other files of its manifest are beside it. */
  readonly path: string
  /** Null: one is drafted from the graph. */
  readonly manifest: ModelManifest | null
}

/**
 * Tests a model with one tile and adds it to the model directory: its files, then its manifest. A model with the same
 * id and revision is never replaced, so that all vectors with one name are comparable.
 *
 * @throws MODEL_EXISTS, and what {@link checkModelFile} throws
 */
export async function addModel({ directory, path, manifest: given }: AddRequest): Promise<CheckedModel> {
  const checked = await checkModelFile(path, given)
  const { manifest } = checked
  const there = await findManifest(directory, manifest.id).catch((error: { code?: string }) => {
    if (error.code === 'MODEL_UNKNOWN') return null
    throw error
  })
  if (there?.revision === manifest.revision && !isDeepStrictEqual(there, manifest))
    throw modelThere({ id: manifest.id, place: join(directory, `${manifest.id}.json`) })
  for (const file of [...manifest.files, ...(manifest.text?.files ?? [])]) {
    const place = modelFilePath(directory, manifest, file)
    const temporary = `${place}.adding`
    await mkdir(dirname(place), { recursive: true })
    try {
      await copyFile(join(dirname(path), nameBeside(path, file)), temporary)
      await rename(temporary, place)
    } finally {
      await rm(temporary, { force: true })
    }
  }
  await writeManifest(directory, manifest)
  return checked
}

/** The manifest at a path; null when it does not exist. @throws MODEL_MANIFEST_INVALID */
export async function readManifest(path: string): Promise<ModelManifest | null> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return parseManifest(parseJson(text, path), path)
}
